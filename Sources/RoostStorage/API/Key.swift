import RoostBytes

/// A key: bytes that order as unsigned numbers, a proper prefix first. At most 4096 of them.
public struct Key: Hashable, Comparable, Sendable {
    /// The bytes.
    public let bytes: [UInt8]

    /// A key of the given bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The string's UTF-8, which orders by code points.
    public init(_ string: some StringProtocol) { bytes = Array(string.utf8) }

    /// Eight bytes, most significant first, so that keys order as the numbers do.
    public init(_ number: UInt64) {
        bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
    }

    /// The key as text, `nil` when it is no UTF-8.
    public var string: String? { String(validating: bytes, as: UTF8.self) }

    /// The number that ``init(_:)-(UInt64)`` made the key of, `nil` when it has not eight bytes.
    public var number: UInt64? {
        bytes.count == 8 ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : nil
    }

    /// Byte order.
    public static func < (a: Key, b: Key) -> Bool {
        a.bytes.withView { a in b.bytes.withView { b in a.compare(b) < 0 } }
    }
}

extension Key: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// The literal's UTF-8.
    public init(stringLiteral value: String) { self.init(value) }

    /// The literal's bytes.
    public init(arrayLiteral elements: UInt8...) { self.init(elements) }
}

// MARK: - KeyRange

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

// MARK: - Tree

/// Names one of a store's ordered trees. Valid in every transaction and snapshot in which the tree exists.
public struct Tree: Hashable, Sendable {
    /// The tree's number, which is never given to another.
    package let id: UInt64
    /// The tree's name.
    public let name: String

    init(id: UInt64, name: String) {
        self.id = id
        self.name = name
    }

    static func check(name: String, reduction: String) throws(StoreError) {
        guard reduction.utf8.count <= Format.maximumNameLength else {
            throw StoreError(
                .limitExceeded,
                "A reduction's name takes up to \(Format.maximumNameLength) bytes of UTF-8; this one takes "
                    + "\(reduction.utf8.count).")
        }
        guard !name.isEmpty, name.utf8.count <= Format.maximumNameLength else {
            throw StoreError(
                .limitExceeded,
                "A tree's name takes 1 to \(Format.maximumNameLength) bytes of UTF-8; this one takes "
                    + "\(name.utf8.count).")
        }
    }

    func missing(in path: String) -> StoreError {
        StoreError(.notFound, "\(path) has no tree \"\(name)\" here: it was deleted, or is not made yet.")
    }
}

/// A value outside the trees, by which several entries can share it.
@usableFromInline package struct ValueReference: Hashable, Sendable {
    let chunk: ChunkReference

    /// Bytes that the value takes in the file.
    package var storedLength: Int { Int(chunk.length) }
}
