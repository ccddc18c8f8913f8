/// Faults planted in the engine, by which the simulation proves that it would notice real ones.
///
/// They exist in debug builds of Roost's own development alone; everywhere else ``isPlanted`` is `false` before the
/// compiler's optimizer looks, and nothing of them is left.
package enum Canary: CaseIterable, Sendable {
    /// A commit is acknowledged without a sync.
    case skippedSync
    /// Recovery trusts a commit record without looking at the bytes of its commit.
    case unverifiedContent
    /// Recovery, stepping back from the end of the file, starts one block too early.
    case offByOneBlock
    /// Opening replays all commits after the checkpoint but the first.
    case skippedCommit
    /// Opening takes what a killed process left in the system's cache for synced.
    case trustedCache

    #if ROOST_CANARY
        /// The fault that is planted for the current task.
        @TaskLocal package static var planted: Canary?

        @inline(__always)
        var isPlanted: Bool { Canary.planted == self }
    #else
        @inline(__always)
        var isPlanted: Bool { false }
    #endif
}
