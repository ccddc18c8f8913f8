import RoostBytes
import RoostStorage

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
