/// Faults planted where blobs are stored and removed, by which the simulation proves that it would notice real ones.
///
/// They exist in debug builds of Roost's own development alone, as those of the engine (`Failpoint`).
package enum BlobFailpoint: CaseIterable, Sendable {
    /// A blob gets its name, and its document is committed, before its bytes are on the medium.
    case unsyncedBlob
    /// The name of a blob is not made durable.
    case unsyncedName
    /// Blobs are removed that were just stored and wait for their document.
    case forgottenPins
    /// The blobs of a backup are not on the medium when its documents are.
    case unsyncedCopy
    /// A backup puts blobs in the places of those that only the earlier backup's documents can read.
    case hastyReplacement

    #if ROOST_FAILPOINTS
        /// The fault that is planted for the current task.
        @TaskLocal package static var active: BlobFailpoint?

        @inline(__always)
        var isActive: Bool { BlobFailpoint.active == self }
    #else
        @inline(__always)
        var isActive: Bool { false }
    #endif
}
