/// What upkeep may take.
package struct IndexSettings: Sendable {
    /// How many documents may have changed for a reader to look at them himself.
    package var overlayLimit = 200
    /// About how many bytes a reader makes of these in memory, and of all documents where an index can't be stored.
    package var overlayMemory = 256 << 20
    /// About how many bytes of rows or words a build collects in memory.
    package var buildMemory = 128 << 20
    /// How many seconds after a change indexes are brought up in the background.
    package var quiet = 0.5

    package init() {}
}
