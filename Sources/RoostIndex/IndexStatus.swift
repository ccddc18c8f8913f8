/// How an index stands.
package struct IndexStatus: Sendable, Hashable {
    /// Its kind and name.
    package let name: String
    /// How many rows it has; 0 while it is built.
    package let rows: UInt64
    /// The sequence of the collection up to which it was kept.
    package let sequence: UInt64
    /// Whether it was built.
    package let isComplete: Bool
}

/// What upkeep may take.
package struct IndexSettings: Sendable {
    /// How many documents may have changed for a reader to look at them himself.
    package var overlayLimit = 200
    /// About how many bytes of rows a build sorts in memory.
    package var buildMemory = 64 << 20

    /// How many seconds after a change indexes are brought up in the background.
    package var quiet = 0.5

    package init() {}
}
