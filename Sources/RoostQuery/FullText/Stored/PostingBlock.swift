import RoostBytes
import RoostStorage

/// Some of the documents that have a term, with the places where it stands.
///
///     count      varint   how many documents: the first is the one that the key ends with
///     span       varint   from the first to the last
///     most       varint   the largest number of places in one document
///     shortest   varint   the length of the shortest document
///     size       varint   how many bytes the documents take
///     documents  for each: the distance from the one before, times 2, plus 1 for a single place; else the number of places
///     places     for each document: see ``PlaceCoder``
///
/// A block of one document is `1`, the number of places, and these.
struct PostingBlock {
    /// About how many bytes a block has at most.
    static let size = 1_400

    /// What a block says of its documents before they are read.
    struct Head: Equatable {
        let count: Int
        /// The last document's number.
        let last: Int
        let most: Int
        /// 0 where it is not known.
        let shortest: Int
        /// Where the documents begin, and how many bytes they take.
        let start: Int
        let size: Int

        init(_ bytes: ByteView, first: Int) throws(MalformedBytes) {
            var reader = ByteReader(bytes)
            count = try reader.length(limit: bytes.count)
            guard count > 0 else { throw MalformedBytes(at: 0) }
            guard count > 1 else {
                most = try reader.length(limit: bytes.count)
                (last, shortest, size, start) = (first, 0, 0, reader.position)
                return
            }
            last = first + (try reader.length(limit: TextState.mostDocuments))
            most = try reader.length(limit: Int(UInt32.max))
            shortest = try reader.length(limit: Int(UInt32.max))
            size = try reader.length(limit: reader.remaining)
            start = reader.position
            guard size <= reader.remaining - 1 || size == reader.remaining else {
                throw MalformedBytes(at: start)
            }
        }
    }

    /// Reads the documents and how many places each has.
    static func read(
        _ bytes: ByteView, _ head: Head, first: Int, _ numbers: inout [Int], _ counts: inout [Int]
    ) throws(MalformedBytes) {
        numbers.removeAll(keepingCapacity: true)
        counts.removeAll(keepingCapacity: true)
        guard head.count > 1 else {
            numbers.append(first)
            counts.append(head.most)
            return
        }
        var reader = ByteReader(bytes.slice(head.start, head.size))
        // Each takes a byte at least.
        guard head.count <= reader.remaining else { throw MalformedBytes(at: head.start) }
        numbers.append(contentsOf: repeatElement(0, count: head.count))
        counts.append(contentsOf: repeatElement(1, count: head.count))
        var numberSpan = numbers.mutableSpan
        var countSpan = counts.mutableSpan
        var number = first
        for index in 0..<head.count {
            let step = try reader.varint()
            guard step >> 1 <= UInt64(head.last - number) else { throw MalformedBytes(at: head.start) }
            number += Int(step >> 1)
            numberSpan[index] = number
            if step & 1 == 0 { countSpan[index] = try reader.length(limit: bytes.count) }
        }
        guard number == head.last, reader.isAtEnd else { throw MalformedBytes(at: head.start) }
    }
}

/// A place where a term stands in a document.
struct TextPlace: Equatable, Comparable {
    private let packed: UInt64

    /// The greatest position that can be read.
    static let lastPosition = Int(UInt32.max)

    init(column: Int, position: Int, isInflected: Bool) {
        packed = UInt64(column) << 40 | UInt64(position) << 1 | (isInflected ? 1 : 0)
    }

    /// The number of the column, and of the word in it.
    var column: Int { Int(packed >> 40) }
    var position: Int { Int(packed >> 1 & 0x7F_FFFF_FFFF) }
    /// Whether the word there is another form than the term.
    var isInflected: Bool { packed & 1 == 1 }
    /// Sorts by column and position; that of a place some words further on in the column is so much greater.
    var order: Int { Int(packed >> 1) }

    static func < (a: Self, b: Self) -> Bool { a.order < b.order }
}

/// Places of a term in one document, as bytes: the distances of positions from -1 on, at least 1, in the first column; 0 and
/// the number of another column begin its positions. Where words have roots, distances are doubled, plus 1 for an inflected form.
struct PlaceCoder: Sendable {
    /// Whether places tell inflected forms.
    let hasRoots: Bool
    /// How many columns there are.
    let columns: Int
    /// Whether places are kept; without them a term is in a document once.
    var hasPlaces = true

    /// Appends the places, which are sorted.
    func append(_ places: ArraySlice<UInt64>, to buffer: ByteBuffer) {
        guard hasPlaces else { return }
        var column: UInt64 = 0
        var last: Int64 = -1
        for place in places {
            let next = PackedPlace.column(place)
            if next != column {
                buffer.append(0)
                buffer.append(varint: next)
                column = next
                last = -1
            }
            let position = PackedPlace.position(place)
            // A tokenizer may put two words at one place; one of them is enough.
            let step = UInt64(max(position - last, 1))
            last = max(position, last + 1)
            buffer.append(varint: hasRoots ? step << 1 | place & 1 : step)
        }
    }

    /// Passes over `count` places.
    func skip(_ count: Int, _ reader: inout ByteReader) throws(MalformedBytes) {
        guard hasPlaces else { return }
        var left = count
        while left > 0 {
            // Where no number of a column stands among eight bytes, as many places end there as bytes have no high bit.
            while left >= 8, let ends = reader.varintEnds {
                left -= ends
                _ = try reader.view(8)
            }
            guard left > 0 else { return }
            if try reader.varint() == 0 {
                _ = try reader.varint()
                _ = try reader.varint()
            }
            left -= 1
        }
    }

    /// Reads `count` places of one document, with which `bytes` begin.
    @inline(__always)
    func places(_ count: Int, in bytes: ByteView) -> PlaceReader {
        PlaceReader(ByteReader(bytes), count: hasPlaces ? count : 0, self)
    }
}

/// Reads the places of one document, one after the other.
struct PlaceReader {
    private var reader: ByteReader
    private var left: Int
    private let coder: PlaceCoder
    private var column = 0
    private var last = -1

    @inline(__always)
    init(_ reader: ByteReader, count: Int, _ coder: PlaceCoder) {
        self.reader = reader
        left = count
        self.coder = coder
    }

    /// The next place; `nil` after the last.
    @inline(__always)
    mutating func next() throws(MalformedBytes) -> TextPlace? {
        guard left > 0 else { return nil }
        left &-= 1
        var step = try reader.varint()
        if step == 0 { step = try beginColumn() }
        let distance = coder.hasRoots ? step >> 1 : step
        guard 1...UInt64(UInt32.max) ~= distance else { throw MalformedBytes(at: reader.position) }
        last &+= Int(distance)
        guard last <= TextPlace.lastPosition else { throw MalformedBytes(at: reader.position) }
        return TextPlace(column: column, position: last, isInflected: coder.hasRoots && step & 1 == 1)
    }

    /// Goes to another column, and answers the first step in it.
    private mutating func beginColumn() throws(MalformedBytes) -> UInt64 {
        let next = try reader.length(limit: coder.columns - 1)
        // Places are in order, whatever the bytes say: searches for phrases rely on it.
        guard next > column else { throw MalformedBytes(at: reader.position) }
        column = next
        last = -1
        return try reader.varint()
    }
}

extension ByteReader {
    /// How many varints end among the next eight bytes; `nil` where there are fewer, or one of them is 0.
    fileprivate var varintEnds: Int? {
        guard remaining >= 8 else { return nil }
        var copy = self
        guard let word = try? copy.integer(UInt64.self) else { return nil }
        let high: UInt64 = 0x8080_8080_8080_8080
        guard (word &- 0x0101_0101_0101_0101) & ~word & high == 0 else { return nil }
        return (~word & high).nonzeroBitCount
    }
}

/// A place and its document in one number that sorts: the document in 24 bits, the column in 8, the position in 31, and 1 for
/// an inflected form.
enum PackedPlace {
    static let mostDocuments = 1 << 24

    /// A place of a word that is no inflected form.
    @inline(__always) static func pack(_ document: Int, _ column: Int, _ position: UInt32) -> UInt64 {
        UInt64(document) << 40 | UInt64(column) << 32 | UInt64(position & 0x7FFF_FFFF) << 1
    }

    @inline(__always) static func document(_ place: UInt64) -> Int { Int(place >> 40) }
    @inline(__always) static func column(_ place: UInt64) -> UInt64 { place >> 32 & 0xFF }
    @inline(__always) static func position(_ place: UInt64) -> Int64 { Int64(place >> 1 & 0x7FFF_FFFF) }
}

/// Writes the blocks of a segment, term by term.
struct PostingWriter {
    private let emit: (_ key: ByteView, _ value: ByteView) throws -> Void
    private let segment: [UInt8]
    private let key = ByteBuffer()
    private let documents = ByteBuffer()
    private let places = ByteBuffer()
    private let value = ByteBuffer()
    private var term: [UInt8] = []
    private var (count, first, last, most, shortest) = (0, 0, 0, 0, Int.max)

    /// - Parameter emit: called with the blocks in the order of their keys.
    init(_ segment: UInt32, emit: @escaping (_ key: ByteView, _ value: ByteView) throws -> Void) {
        self.segment = TextKeys.prefix(segment)
        self.emit = emit
    }

    /// Begins a term, which comes after those before.
    mutating func begin(_ term: some Collection<UInt8>) throws {
        try flush()
        self.term.replaceSubrange(0..., with: term)
    }

    /// Adds a document, whose number is greater than those before.
    mutating func add(_ number: Int, count placeCount: Int, length: Int, _ addPlaces: (ByteBuffer) -> Void)
        throws
    {
        if documents.count + places.count >= PostingBlock.size { try flush() }
        if count == 0 { (first, last) = (number, number) }
        documents.append(varint: UInt64(number - last) << 1 | (placeCount == 1 ? 1 : 0))
        if placeCount != 1 { documents.append(varint: UInt64(placeCount)) }
        addPlaces(places)
        count += 1
        last = number
        most = max(most, placeCount)
        shortest = min(shortest, length)
    }

    /// Adds a whole block of the term.
    mutating func add(block: ByteView, first: Int) throws {
        try flush()
        try emit(first, block)
    }

    /// Writes what is left.
    mutating func flush() throws {
        guard count > 0 else { return }
        value.reset()
        value.append(varint: UInt64(count))
        if count == 1 {
            value.append(varint: UInt64(most))
        } else {
            for number in [last - first, most, shortest, documents.count] {
                value.append(varint: UInt64(number))
            }
            value.append(documents.view)
        }
        value.append(places.view)
        documents.reset()
        places.reset()
        (count, most, shortest) = (0, 0, Int.max)
        try emit(first, value.view)
    }

    private func emit(_ number: Int, _ block: ByteView) throws {
        key.reset()
        key.append(segment)
        key.append(term)
        key.append(0)
        key.append(TextKeys.bytes(number))
        try emit(key.view, block)
    }
}
