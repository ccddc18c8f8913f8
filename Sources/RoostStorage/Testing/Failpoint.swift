import Synchronization

/// Faults planted in the engine, by which the simulation proves that it would notice real ones.
///
/// They exist in debug builds of Roost's own development alone; everywhere else ``isActive`` is `false` before the
/// compiler's optimizer looks, and nothing of them is left.
package enum Failpoint: CaseIterable, Sendable {
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
    /// A transaction that was begun on a commit which then failed is committed nevertheless.
    case forgottenSetback
    /// Opening for writing leaves what stands after the last whole commit.
    case uncutTail
    /// The name of a store whose creator was killed is never synced.
    case unsyncedName
    /// Recovery does not look at the oldest of the commits that were not synced.
    case uncheckedCommit
    /// Readers see a commit once its deferred changes are made, though the medium may not have it yet.
    case earlyPublication
    /// A large commit is acknowledged though parts of it are still to be written.
    case forgottenParts
    /// Changes that were left to be made while the commit is on its way are never made.
    case forgottenDeferral
    /// A compaction takes whatever has the name of its new file for its own: removes it when it fails to begin, and gives it the
    /// store's name in the end.
    case trustedNames

    #if ROOST_FAILPOINTS
        /// The fault that is planted for the current task.
        @TaskLocal package static var active: Failpoint?

        @inline(__always)
        var isActive: Bool { Failpoint.active == self }
    #else
        @inline(__always)
        var isActive: Bool { false }
    #endif
}

// MARK: - TreeVisits

/// Counts how often trees of a store are looked up or gone through, by which tests show that a commit costs what it touches.
///
/// It counts in debug builds of Roost's own development alone, as ``Failpoint`` is there alone.
enum TreeVisits {
    #if ROOST_FAILPOINTS
        final class Counter: Sendable {
            let count = Atomic<Int>(0)
        }

        /// What counts the visits of the current task.
        @TaskLocal static var counter: Counter?

        @inline(__always)
        static func note(_ count: Int) { _ = counter?.count.add(count, ordering: .relaxed) }

        /// How many visits `body` makes.
        static func count(_ body: () throws -> Void) rethrows -> Int {
            let counter = Counter()
            try $counter.withValue(counter) { try body() }
            return counter.count.load(ordering: .relaxed)
        }
    #else
        @inline(__always)
        static func note(_ count: Int) {}
    #endif
}
