/// Faults planted in the upkeep of indexes, by which the simulation proves that it would notice real ones.
///
/// They exist in debug builds of Roost's own development alone, as those of the engine (`Failpoint`).
package enum IndexFailpoint: CaseIterable, Sendable {
    /// An index is updated to commits that a power failure may take back.
    case unsyncedDocuments
    /// Purges are passed over.
    case forgottenPurges
    /// What has changed since an index was kept is not looked at.
    case forgottenChanges
    /// An index that has seen more than the requested snapshot shows all of it.
    case laterRows

    #if ROOST_FAILPOINTS
        /// The fault that is planted for the current task.
        @TaskLocal package static var active: IndexFailpoint?

        @inline(__always)
        var isActive: Bool { IndexFailpoint.active == self }
    #else
        @inline(__always)
        var isActive: Bool { false }
    #endif
}
