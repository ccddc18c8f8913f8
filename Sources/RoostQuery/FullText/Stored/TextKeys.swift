import RoostBytes
import RoostStorage
import RoostText

/// The keys of a full-text index in its tree `rows`. The tree `documents` has, by document ID, the document's number and
/// length (``TextDocument``).
///
///     00                                  ``TextState``
///     01 segment(4) term 00 number(5)     a ``PostingBlock``: documents with the term, from that number on
///     02 number(5)                        the ID of a document
///     03 number(5)                        a map of dead documents, one bit each for 4,096 numbers from that one on
///     04 number(5)                        the lengths of 1,024 documents from that number on, a varint each
///
/// Numbers are big-endian. Documents are numbered as they come; one that changes gets a new number, and its old one is dead:
/// postings are never edited.
enum TextKeys {
    static let state: [UInt8] = [0]
    /// Documents in a map of dead ones.
    static let mapSize = 4_096
    /// Documents whose lengths stand together.
    static let lengthsSize = 1_024
    private static let (postings, ids, dead, lengths): (UInt8, UInt8, UInt8, UInt8) = (1, 2, 3, 4)
    /// Where a term begins in the key of a block.
    private static let termStart = 5
    /// How many bytes follow a term there.
    private static let afterTerm = 6

    /// The IDs of documents with those numbers.
    static func ids(_ numbers: Range<Int>) -> KeyRange {
        KeyRange(lower: id(numbers.lowerBound), upper: id(numbers.upperBound))
    }

    static func id(_ number: Int) -> Key { Key([ids] + bytes(number)) }
    static func dead(_ number: Int) -> Key { Key([dead] + bytes(number / mapSize * mapSize)) }
    static func lengths(_ number: Int) -> Key { Key([lengths] + bytes(number / lengthsSize * lengthsSize)) }

    /// All postings of a segment.
    static func segment(_ segment: UInt32) -> KeyRange { KeyRange(prefix: Key(prefix(segment))) }

    /// The beginning of the keys of a segment.
    static func prefix(_ segment: UInt32) -> [UInt8] {
        [postings] + (0..<4).map { UInt8(truncatingIfNeeded: segment >> (24 - 8 * $0)) }
    }

    /// The beginning of the keys of a term.
    static func prefix(_ segment: UInt32, _ term: some Collection<UInt8>) -> [UInt8] {
        prefix(segment) + term + [0]
    }

    static func bytes(_ number: Int) -> [UInt8] {
        (0..<5).map { UInt8(truncatingIfNeeded: number >> (32 - 8 * $0)) }
    }

    /// The term in the key of a block.
    static func term(_ key: ByteView) throws(StoreError) -> ByteView {
        let length = key.count - termStart - afterTerm
        // Without its end, the next term might lie before this one.
        guard length >= 0, key[termStart + length] == 0 else { throw TextDamage.error }
        return key.slice(termStart, length)
    }

    /// The number at the end of a key.
    static func number(_ key: ByteView) -> Int {
        (max(key.count - 5, 0)..<key.count).reduce(0) { $0 << 8 | Int(key[$1]) }
    }
}

/// Terms as an index keeps them.
enum TextTerm {
    /// What comes before the exact form of a word whose root is another one.
    static let exact: UInt8 = 1

    /// A word as a term: cut where it is long, and without 00, which marks the end of a term in keys.
    static func term(_ word: String) -> [UInt8] { word.utf8.prefix(WordList.longestWord).filter { $0 != 0 } }

    /// A term of exact forms.
    static func exact(_ word: String) -> [UInt8] { [exact] + term(word) }
}

/// What is kept of a document: an entry of the tree `documents`.
struct TextDocument: Equatable {
    let number: Int
    /// How many words it has.
    let length: Int

    var encoded: [UInt8] {
        let buffer = ByteBuffer(capacity: 16)
        buffer.append(varint: UInt64(number))
        buffer.append(varint: UInt64(length))
        return buffer.view.array
    }

    init(number: Int, length: Int) {
        self.number = number
        self.length = length
    }

    init(_ bytes: [UInt8]) throws(StoreError) {
        (number, length) = try TextDamage.guarding { () throws(MalformedBytes) in
            try bytes.withView { (view) throws(MalformedBytes) in
                var reader = ByteReader(view)
                return (
                    try reader.length(limit: TextState.mostDocuments),
                    try reader.length(limit: Int(clamping: UInt32.max))
                )
            }
        }
    }
}

/// What bytes are called that no index has written.
enum TextDamage {
    static let error = StoreError(.damaged, "A full-text index has malformed bytes. It is made anew.")

    static func guarding<R>(_ body: () throws(MalformedBytes) -> R) throws(StoreError) -> R {
        do throws(MalformedBytes) { return try body() } catch { throw Self.error }
    }
}
