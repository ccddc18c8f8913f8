/// Some commits in a row, counted together.
public struct CommitSpan: Hashable, Sendable {
    /// The numbers of its commits.
    public internal(set) var numbers: ClosedRange<UInt64>
    /// When the first and the last of them were made, as the clock said: seconds since 1970.
    public internal(set) var firstTime: Double
    /// See ``firstTime``.
    public internal(set) var lastTime: Double
    /// How many commits they are.
    public internal(set) var count: UInt64 = 1
    /// How many of them are checkpoints.
    public internal(set) var checkpoints: UInt64
    /// Bytes that they take in the file.
    public internal(set) var bytes: UInt64
    /// Where the last of them ends in the file.
    public internal(set) var end: UInt64
    /// About how many bytes were alive after the last of them, as its record says.
    public internal(set) var liveBytes: UInt64

    init(_ record: CommitRecord) {
        numbers = record.number...record.number
        firstTime = Double(record.time) / 1_000_000
        lastTime = firstTime
        checkpoints = record.kind == .checkpoint ? 1 : 0
        bytes = record.end - record.start
        end = record.end
        liveBytes = record.liveBytes
    }

    /// Takes in the span right before this one.
    mutating func extend(with earlier: CommitSpan) {
        numbers = min(earlier.numbers.lowerBound, numbers.lowerBound)...numbers.upperBound
        firstTime = earlier.firstTime
        count += earlier.count
        checkpoints += earlier.checkpoints
        bytes &+= earlier.bytes
    }
}

/// Gathers commits, newest first, into a bounded number of spans of equally many commits.
struct CommitTimeline {
    /// Newest first.
    private var spans: [CommitSpan] = []
    private var width: UInt64 = 1
    private let limit: Int

    init(limit: Int) { self.limit = max(limit, 2) }

    mutating func add(_ record: CommitRecord) {
        let span = CommitSpan(record)
        if let last = spans.indices.last, spans[last].count < width {
            spans[last].extend(with: span)
        } else {
            if spans.count >= limit { halve() }
            spans.append(span)
        }
    }

    private mutating func halve() {
        spans = stride(from: 0, to: spans.count, by: 2).map { index in
            var span = spans[index]
            if index + 1 < spans.count { span.extend(with: spans[index + 1]) }
            return span
        }
        width *= 2
    }

    /// The spans, oldest first.
    var oldestFirst: [CommitSpan] { spans.reversed() }
}
