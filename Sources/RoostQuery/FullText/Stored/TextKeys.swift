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

// MARK: - Text state

/// What a full-text index consists of.
///
///     version    1 byte   01
///     next       varint   the number of the next document
///     documents  varint   how many there are
///     words      varint   how many words these have
///     segment    varint   the number of the next segment
///     segments   rest     number, first document, the one after the last, how many there were, how many are dead: varints
struct TextState: Equatable {
    /// Postings that were written together, of documents whose numbers lie in a range of their own.
    struct Segment: Equatable {
        let number: UInt32
        let documents: Range<Int>
        /// How many documents it was written with.
        let count: Int
        /// How many of these have died.
        var dead: Int
    }

    static let version: UInt8 = 1
    /// Numbers take five bytes. Where `Int` is shorter, it is the limit.
    static let mostDocuments = Int(clamping: UInt64(1) << 40 - 1)
    private static let mostWords = Int(clamping: UInt64(1) << 60)

    var next = 0
    var documents = 0
    var words = 0
    var nextSegment: UInt32 = 0
    /// In the order of their documents.
    var segments: [Segment] = []

    init() {}

    /// What a tree has; nothing for an empty one.
    init(_ rows: TreeView) throws(StoreError) {
        guard let bytes = try rows.value(Key(TextKeys.state)) else { return }
        self = try TextDamage.guarding { () throws(MalformedBytes) in
            try bytes.withView { (view) throws(MalformedBytes) in try TextState(view) }
        }
    }

    init(_ bytes: ByteView) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.version else { throw MalformedBytes(at: 0) }
        next = try reader.length(limit: Self.mostDocuments)
        documents = try reader.length(limit: next)
        words = try reader.length(limit: Self.mostWords)
        nextSegment = UInt32(try reader.length(limit: Int(clamping: UInt32.max)))
        var end = 0
        while !reader.isAtEnd {
            let number = UInt32(try reader.length(limit: Int(clamping: UInt32.max)))
            let first = try reader.length(limit: next)
            let last = try reader.length(limit: next)
            let count = try reader.length(limit: next)
            let dead = try reader.length(limit: count)
            guard first >= end, last >= first, number < nextSegment else {
                throw MalformedBytes(at: reader.position)
            }
            segments.append(Segment(number: number, documents: first..<last, count: count, dead: dead))
            end = last
        }
    }

    var encoded: [UInt8] {
        let buffer = ByteBuffer(capacity: 256)
        buffer.append(Self.version)
        for number in [next, documents, words, Int(nextSegment)] { buffer.append(varint: UInt64(number)) }
        for segment in segments {
            buffer.append(varint: UInt64(segment.number))
            buffer.append(varint: UInt64(segment.documents.lowerBound))
            buffer.append(varint: UInt64(segment.documents.upperBound))
            buffer.append(varint: UInt64(segment.count))
            buffer.append(varint: UInt64(segment.dead))
        }
        return buffer.view.array
    }

    /// Takes the number of a segment that is to be written.
    mutating func takeSegment() throws(StoreError) -> UInt32 {
        guard nextSegment < .max else { throw Self.usedUp }
        defer { nextSegment += 1 }
        return nextSegment
    }

    /// Takes the numbers of documents that are to be written, and their words.
    mutating func add(documents count: Int, words: Int) throws(StoreError) -> Range<Int> {
        guard count <= Self.mostDocuments - next, words <= Self.mostWords - self.words else {
            throw Self.usedUp
        }
        defer { next += count }
        documents += count
        self.words += words
        return next..<next + count
    }

    /// Notes that a document has died.
    mutating func remove(_ document: TextDocument) throws(StoreError) {
        guard documents > 0, words >= document.length, document.number < next else { throw TextDamage.error }
        documents -= 1
        words -= document.length
        if let index = segment(of: document.number) {
            guard segments[index].dead < segments[index].count else { throw TextDamage.error }
            segments[index].dead += 1
        }
    }

    private static let usedUp = StoreError(
        .damaged, "A full-text index has used up its numbers. It is made anew.")

    // MARK: Merging

    /// How many segments of a size are merged.
    private static let width = 8

    /// The segments that should become one, so that there are few of them and little is dead; `nil` when all is well.
    ///
    /// Segments grow by a factor of eight from level to level, so that each posting is written once a level: only as many of one level
    /// as make one of the next are merged, with the smaller ones behind them.
    var merge: Range<Int>? {
        if let index = segments.firstIndex(where: { $0.dead * 5 >= $0.count && $0.dead > 0 }) {
            return index..<index + 1
        }
        var start = segments.count
        while start > 0 {
            let level = Self.level(segments[start - 1])
            var full = 0
            while start > 0, Self.level(segments[start - 1]) <= level {
                start -= 1
                if Self.level(segments[start]) == level { full += 1 }
            }
            if full >= Self.width { return start..<segments.count }
        }
        return nil
    }

    private static func level(_ segment: Segment) -> Int {
        var (level, rest) = (0, segment.count)
        while rest >= width {
            rest /= width
            level += 1
        }
        return level
    }

    /// The place of the segment that a document belongs to.
    func segment(of document: Int) -> Int? {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].documents.upperBound <= document { low = middle + 1 } else { high = middle }
        }
        return low < segments.count && segments[low].documents.contains(document) ? low : nil
    }
}
