/// How long things took: how many of them up to each of a few bounds, and all of them together.
final class DurationHistogram: Sendable {
    /// What was counted so far. Counts of one snapshot agree with each other.
    struct Snapshot {
        /// How many took up to each of ``DurationHistogram/bounds``, and not up to the one before; those beyond all of them
        /// last.
        let counts: [UInt64]
        /// All of them together, in seconds.
        let sum: Double

        var count: UInt64 { counts.reduce(0, +) }

        /// How long at most the quickest `share` of them took, in seconds, as far as the bounds tell: spread evenly between
        /// two of them. 0 where nothing was counted.
        func quantile(_ share: Double) -> Double {
            let wanted = share * Double(count)
            var below = 0.0
            var lower = 0.0
            for (bound, count) in zip(DurationHistogram.bounds, counts) {
                if count > 0, below + Double(count) >= wanted {
                    return lower + (bound - lower) * max(0, wanted - below) / Double(count)
                }
                below += Double(count)
                lower = bound
            }
            return count > 0 ? lower : 0
        }
    }

    /// Seconds, ascending.
    static let bounds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
        60,
    ]

    private let counters = (0...DurationHistogram.bounds.count).map { _ in Counter() }
    private let nanoseconds = Counter()

    /// Counts something that took so long.
    func add(_ duration: Duration) {
        let parts = duration.components
        let seconds = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        counters[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count].add()
        nanoseconds.add(UInt64(max(0, seconds) * 1e9))
    }

    var snapshot: Snapshot { Snapshot(counts: counters.map(\.value), sum: Double(nanoseconds.value) / 1e9) }
}
