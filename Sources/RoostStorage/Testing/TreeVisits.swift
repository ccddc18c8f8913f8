import Synchronization

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
