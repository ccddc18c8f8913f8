import Synchronization

/// Counts what requests decode and compare, by which tests show that the cost of a request grows with what it reads and sends, and
/// not with the square of that.
///
/// It counts in debug builds of Roost's own development alone, as `Failpoint` is there alone.
package enum ReadCounts {
    /// What is counted.
    package enum Kind: Int, CaseIterable, Sendable {
        /// Revisions of stored trees, and of the records of channels, that are decoded.
        case revisions
        /// Bodies that are read.
        case bodies
        /// Attachments that are decoded.
        case attachments
        /// Attachments that a stub is compared with.
        case comparisons
        /// Channels and roles in the records of users and roles that are decoded.
        case grants
    }

    #if ROOST_FAILPOINTS
        /// The counts of a task and of what it begins.
        package final class Counter: Sendable {
            fileprivate let counts = Mutex([Int](repeating: 0, count: Kind.allCases.count))

            package subscript(kind: Kind) -> Int { counts.withLock { $0[kind.rawValue] } }
        }

        @TaskLocal private static var counter: Counter?

        package static func note(_ kind: Kind, _ count: Int = 1) {
            counter?.counts.withLock { $0[kind.rawValue] += count }
        }

        /// The counter of the present task, for another thread that works for it.
        struct Carrier: Sendable {
            fileprivate let counter: Counter?

            func callAsFunction<R>(_ body: () throws -> R) rethrows -> R {
                try $counter.withValue(counter) { try body() }
            }
        }

        static func carrier() -> Carrier { Carrier(counter: counter) }

        /// What `body` does.
        package static func count(_ body: () async throws -> Void) async rethrows -> Counter {
            let counter = Counter()
            try await $counter.withValue(counter) { try await body() }
            return counter
        }
    #else
        @inline(__always)
        package static func note(_ kind: Kind, _ count: Int = 1) {}

        struct Carrier: Sendable {
            @inline(__always)
            func callAsFunction<R>(_ body: () throws -> R) rethrows -> R { try body() }
        }

        @inline(__always)
        static func carrier() -> Carrier { Carrier() }
    #endif
}
