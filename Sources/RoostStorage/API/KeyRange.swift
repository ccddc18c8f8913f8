/// A range of keys, open or bounded at either end.
public struct KeyRange: Hashable, Sendable {
    /// The first key that belongs to the range; `nil` for the beginning of the tree.
    public let lower: Key?
    /// The first key after the range; `nil` for the end of the tree.
    public let upper: Key?

    /// The keys from `lower` up to, not including, `upper`.
    public init(lower: Key? = nil, upper: Key? = nil) {
        self.lower = lower
        self.upper = upper
    }

    /// All keys.
    public static let all = KeyRange()

    /// `a ..< b`
    public init(_ range: Range<Key>) { self.init(lower: range.lowerBound, upper: range.upperBound) }

    /// `a ... b`
    public init(_ range: ClosedRange<Key>) {
        self.init(lower: range.lowerBound, upper: range.upperBound.successor)
    }

    /// `a...`
    public init(_ range: PartialRangeFrom<Key>) { self.init(lower: range.lowerBound) }

    /// `..<b`
    public init(_ range: PartialRangeUpTo<Key>) { self.init(upper: range.upperBound) }

    /// `...b`
    public init(_ range: PartialRangeThrough<Key>) { self.init(upper: range.upperBound.successor) }

    /// The keys that begin with `prefix`.
    public init(prefix: Key) {
        var end = prefix.bytes
        while let last = end.indices.last {
            if end[last] < 255 {
                end[last] += 1
                self.init(lower: prefix, upper: Key(end))
                return
            }
            end.removeLast()
        }
        self.init(lower: prefix)
    }

    var isEmpty: Bool {
        guard let upper else { return false }
        return upper <= (lower ?? [])
    }
}

extension Key {
    /// The least key that is greater.
    var successor: Key { Key(bytes + [0]) }
}
