/// The second half of a revision ID, held without an allocation: 16 bytes, or a text.
///
/// Roost's own digests, and CouchDB's, are 16 bytes, written as 32 hexadecimal digits. Whatever else a peer sends, such as
/// Couchbase Lite's 40 digits or the `a` of an old test, stays the text that it is, up to 64 bytes of UTF-8.
///
/// Ordered as CouchDB orders them: by their bytes, those of 32 digits by the 16 bytes that the digits stand for, with a
/// prefix before what it is a prefix of. So all peers agree on which revision wins.
package struct RevisionDigest: Hashable, Sendable {
    /// The length of the digests that are not text, in bytes.
    package static let binaryLength = 16

    /// The lengths of a text, in bytes of UTF-8.
    package static let textLengths = 0...64

    /// Bytes, eight to a word, the first byte highest and zeros after the last: words compare as bytes do.
    private struct Words: Hashable, Comparable {
        private var word0: UInt64 = 0
        private var word1: UInt64 = 0
        private var word2: UInt64 = 0
        private var word3: UInt64 = 0

        init() {}

        /// Takes up to 32 bytes at `start`.
        init(_ bytes: Span<UInt8>, from start: Int) {
            word0 = Self.word(bytes, from: start)
            word1 = Self.word(bytes, from: start + 8)
            word2 = Self.word(bytes, from: start + 16)
            word3 = Self.word(bytes, from: start + 24)
        }

        private static func word(_ bytes: Span<UInt8>, from start: Int) -> UInt64 {
            guard start < bytes.count else { return 0 }
            if start + 8 <= bytes.count {
                return unsafe bytes.withUnsafeBytes {
                    UInt64(bigEndian: unsafe $0.loadUnaligned(fromByteOffset: start, as: UInt64.self))
                }
            }
            let end = bytes.count
            var word: UInt64 = 0
            for index in start..<end { word = word << 8 | UInt64(bytes[index]) }
            return word << UInt64((start + 8 - end) * 8)
        }

        func word(_ index: Int) -> UInt64 {
            switch index {
            case 0: word0
            case 1: word1
            case 2: word2
            default: word3
            }
        }

        /// Appends the first `count` bytes, at most 32.
        func append(_ count: Int, to bytes: inout [UInt8]) {
            let words = (word0.bigEndian, word1.bigEndian, word2.bigEndian, word3.bigEndian)
            unsafe withUnsafeBytes(of: words) {
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
        }

        subscript(index: Int) -> UInt8 {
            let word = word(index >> 3)
            return UInt8(truncatingIfNeeded: word >> UInt64(56 - (index & 7) * 8))
        }

        static func < (left: Self, right: Self) -> Bool {
            if left.word0 != right.word0 { return left.word0 < right.word0 }
            if left.word1 != right.word1 { return left.word1 < right.word1 }
            if left.word2 != right.word2 { return left.word2 < right.word2 }
            return left.word3 < right.word3
        }
    }

    private let first: Words
    private let second: Words
    private let length: UInt8
    /// Whether the bytes are UTF-8 rather than a number.
    package let isText: Bool

    /// Bytes that were checked before.
    private init(_ bytes: Span<UInt8>, isText: Bool) {
        first = Words(bytes, from: 0)
        second = bytes.count > 32 ? Words(bytes, from: 32) : Words()
        length = UInt8(bytes.count)
        self.isText = isText
    }

    /// A digest that is not text; `nil` unless there are 16 bytes.
    package init?(binary bytes: Span<UInt8>) {
        guard bytes.count == Self.binaryLength else { return nil }
        self.init(bytes, isText: false)
    }

    /// A digest that is not text; `nil` unless there are 16 bytes.
    package init?(_ bytes: [UInt8]) { self.init(binary: bytes.span) }

    /// What `text` stands for: 32 hexadecimal digits for the number that they are, be they large or small, anything else
    /// for itself.
    ///
    /// - Returns: `nil` unless there are 0 to 64 bytes of UTF-8 without control characters.
    package init?(text: Span<UInt8>) {
        guard Self.textLengths.contains(text.count) else { return nil }
        if let number = Self.number(text) {
            self.init(number.span, isText: false)
        } else {
            guard Self.isPrintable(text) else { return nil }
            self.init(text, isText: true)
        }
    }

    /// The bytes that 32 hexadecimal digits stand for; `nil` for anything else.
    private static func number(_ digits: Span<UInt8>) -> [UInt8]? {
        guard digits.count == 2 * binaryLength else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(binaryLength)
        for index in digits.indices {
            guard let value = hexValue(digits[index]) else { return nil }
            if index.isMultiple(of: 2) {
                bytes.append(value << 4)
            } else {
                bytes[bytes.count - 1] |= value
            }
        }
        return bytes
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func isPrintable(_ text: Span<UInt8>) -> Bool {
        let bytes = text.indices.map { text[$0] }
        guard let string = String(validating: bytes, as: UTF8.self) else { return false }
        return string.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    /// The number of bytes.
    package var count: Int { Int(length) }

    /// The byte at `index`, which must be less than ``count``.
    package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count)
        return index < 32 ? first[index] : second[index - 32]
    }

    /// Appends the bytes to `bytes`.
    func append(to bytes: inout [UInt8]) {
        first.append(min(count, 32), to: &bytes)
        if count > 32 { second.append(count - 32, to: &bytes) }
    }
}

extension RevisionDigest: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        if left.first != right.first { return left.first < right.first }
        if left.second != right.second { return left.second < right.second }
        if left.length != right.length { return left.length < right.length }
        return !left.isText && right.isText
    }
}

extension RevisionDigest: CustomStringConvertible {
    /// The text, or 32 lowercase hexadecimal digits.
    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * count)
        appendText(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the UTF-8 of ``description``.
    func appendText(to text: inout [UInt8]) {
        guard !isText else { return append(to: &text) }
        for index in 0..<count {
            text.append(Self.hexDigit(self[index] >> 4))
            text.append(Self.hexDigit(self[index] & 15))
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
