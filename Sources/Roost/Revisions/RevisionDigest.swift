/// The second half of a revision ID: 1 to 32 bytes, held without an allocation.
///
/// Roost's own digests are 16 bytes. Other systems send other lengths (Couchbase Lite 20, CouchDB 16), and 32
/// leaves room for a SHA-256. Ordered by bytes, where a prefix comes before what it is a prefix of.
package struct RevisionDigest: Hashable, Sendable {
    /// The lengths that exist, in bytes.
    package static let lengths = 1...32

    /// The length of the digests that Roost itself makes, in bytes.
    package static let ownLength = 16

    // The bytes, eight to a word, the first byte highest and zeros after the last: words compare as bytes do.
    private let word0: UInt64
    private let word1: UInt64
    private let word2: UInt64
    private let word3: UInt64
    private let length: UInt8

    /// Reads `count` bytes at `start`. Both must lie within `bytes`, and `count` within ``lengths``.
    init(_ bytes: Span<UInt8>, at start: Int, count: Int) {
        precondition(Self.lengths.contains(count))
        word0 = Self.word(0, of: bytes, at: start, count: count)
        word1 = Self.word(1, of: bytes, at: start, count: count)
        word2 = Self.word(2, of: bytes, at: start, count: count)
        word3 = Self.word(3, of: bytes, at: start, count: count)
        length = UInt8(count)
    }

    /// A digest of these bytes, or `nil` when their number is not within ``lengths``.
    package init?(_ bytes: some Collection<UInt8>) {
        guard Self.lengths.contains(bytes.count) else { return nil }
        let array = Array(bytes)
        self.init(array.span, at: 0, count: array.count)
    }

    private static func word(_ number: Int, of bytes: Span<UInt8>, at start: Int, count: Int) -> UInt64 {
        var word: UInt64 = 0
        let first = number * 8
        guard first < count else { return 0 }
        let end = min(first + 8, count)
        for index in first..<end { word = word << 8 | UInt64(bytes[start + index]) }
        return word << UInt64((first + 8 - end) * 8)
    }

    /// The number of bytes.
    package var count: Int { Int(length) }

    /// The byte at `index`, which must be less than ``count``.
    package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count)
        let word =
            switch index >> 3 {
            case 0: word0
            case 1: word1
            case 2: word2
            default: word3
            }
        return UInt8(truncatingIfNeeded: word >> UInt64(56 - (index & 7) * 8))
    }

    /// Appends the bytes to `bytes`.
    func append(to bytes: inout [UInt8]) {
        Self.append(word0, count, to: &bytes)
        if count > 8 { Self.append(word1, count - 8, to: &bytes) }
        if count > 16 { Self.append(word2, count - 16, to: &bytes) }
        if count > 24 { Self.append(word3, count - 24, to: &bytes) }
    }

    private static func append(_ word: UInt64, _ count: Int, to bytes: inout [UInt8]) {
        var rest = word
        for _ in 0..<min(count, 8) {
            bytes.append(UInt8(truncatingIfNeeded: rest >> 56))
            rest <<= 8
        }
    }
}

extension RevisionDigest: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        if left.word0 != right.word0 { return left.word0 < right.word0 }
        if left.word1 != right.word1 { return left.word1 < right.word1 }
        if left.word2 != right.word2 { return left.word2 < right.word2 }
        if left.word3 != right.word3 { return left.word3 < right.word3 }
        return left.length < right.length
    }
}
