import RoostBytes
import RoostStorage

/// Some of the documents that have a term, with the places where it stands.
///
///     count      varint   how many documents, times 2, plus 1 where none has more than one place: the first is the one that
///                         the key ends with
///     span       varint   from the first to the last, of 2 documents or more
///     most       varint   the largest number of places in one document, of ``bounded`` documents or more with several places
///     shortest   varint   the length of the shortest document, of ``bounded`` documents or more
///     distances  bits     for each document but the first: the distance from the one before less 1, in Rice's code
///     counts     bits     for each document: the number of places, in the code gamma; only where there are several
///     places     for each document: see ``PlaceCoder``
///
/// Bits begin with the highest of a byte; the last byte of distances and counts is filled with zeros.
struct PostingBlock {
    /// About how many bytes a block has at most, and how many documents.
    static let size = 1_400
    /// A block of fewer documents does not say what these have at most and at least: it is read as soon as it is looked at.
    static let bounded = 16

    /// What a block says of its documents before they are read.
    struct Head: Equatable {
        let count: Int
        /// Whether each document has one place.
        let isSingle: Bool
        /// The last document's number.
        let last: Int
        /// No document has more places.
        let most: Int
        /// 0 where it is not known.
        let shortest: Int
        /// Where the documents begin.
        let start: Int

        init(_ bytes: ByteView, first: Int) throws(MalformedBytes) {
            var reader = ByteReader(bytes)
            let counted = try reader.length(limit: PostingBlock.size * 2 + 1)
            (count, isSingle) = (counted >> 1, counted & 1 == 1)
            guard count > 0 else { throw MalformedBytes(at: 0) }
            last = first + (count > 1 ? try reader.length(limit: TextState.mostDocuments) : 0)
            // Each document comes after the one before.
            guard last - first >= count - 1 else { throw MalformedBytes(at: reader.position) }
            let isBounded = count >= PostingBlock.bounded
            most =
                isSingle
                ? 1
                : isBounded ? try reader.length(limit: Int(clamping: UInt32.max)) : Int(clamping: UInt32.max)
            shortest = isBounded ? try reader.length(limit: Int(clamping: UInt32.max)) : 0
            start = reader.position
        }
    }

    /// Reads the documents of a block: first their numbers, then how many places each has.
    struct Documents {
        private let head: Head
        private var reader: BitReader

        init(_ block: ByteView, _ head: Head) {
            self.head = head
            reader = BitReader(block.dropFirst(head.start))
        }

        mutating func readNumbers(first: Int, _ numbers: inout [Int]) throws(MalformedBytes) {
            numbers.removeAll(keepingCapacity: true)
            numbers.append(contentsOf: repeatElement(first, count: head.count))
            let k = riceParameter(span: head.last - first, head.count)
            var span = numbers.mutableSpan
            var number = first
            for index in 1..<head.count {
                let step = try reader.rice(k)
                guard step < UInt64(head.last &- number) else { throw MalformedBytes(at: head.start) }
                number &+= Int(step) &+ 1
                span[index] = number
            }
            guard number == head.last else { throw MalformedBytes(at: head.start) }
        }

        /// - Returns: where in the block the places begin.
        mutating func readCounts(_ counts: inout [Int]) throws(MalformedBytes) -> Int {
            counts.removeAll(keepingCapacity: true)
            counts.append(contentsOf: repeatElement(1, count: head.count))
            if !head.isSingle {
                // Each place takes a byte at least.
                let most = UInt64(head.start + reader.size)
                var span = counts.mutableSpan
                for index in 0..<head.count {
                    let count = try reader.gamma()
                    guard count <= most else { throw MalformedBytes(at: head.start) }
                    span[index] = Int(count)
                }
            }
            return head.start + reader.bytesRead
        }
    }

    /// How many bits of distances are not in unary: about as many as ln 2 times their mean has.
    static func riceParameter(span: Int, _ count: Int) -> Int {
        let typical = count > 1 ? span * 11 / 16 / (count - 1) : 0
        return typical > 0 ? typical.bitWidth - 1 - typical.leadingZeroBitCount : 0
    }
}

/// Writes the blocks of a segment, term by term.
struct PostingWriter {
    private let emit: (_ key: ByteView, _ value: ByteView) throws -> Void
    private let segment: [UInt8]
    private let key = ByteBuffer()
    private let places = ByteBuffer()
    private let value = ByteBuffer()
    private var term: [UInt8] = []
    /// The documents of the next block, and how many places each has.
    private var (numbers, counts): ([Int], [Int]) = ([], [])
    private var shortest = Int.max

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
    mutating func add(_ number: Int, count: Int, length: Int, _ addPlaces: (ByteBuffer) -> Void) throws {
        if numbers.count + places.count >= PostingBlock.size { try flush() }
        numbers.append(number)
        counts.append(count)
        addPlaces(places)
        shortest = min(shortest, length)
    }

    /// Adds a whole block of the term.
    mutating func add(block: ByteView, first: Int) throws {
        try flush()
        try emit(first, block)
    }

    /// Writes what is left.
    mutating func flush() throws {
        guard let first = numbers.first, let last = numbers.last, let most = counts.max() else { return }
        value.reset()
        value.append(varint: UInt64(numbers.count) << 1 | (most == 1 ? 1 : 0))
        if numbers.count > 1 { value.append(varint: UInt64(last - first)) }
        if numbers.count >= PostingBlock.bounded {
            if most > 1 { value.append(varint: UInt64(most)) }
            value.append(varint: UInt64(shortest))
        }
        let k = PostingBlock.riceParameter(span: last - first, numbers.count)
        var bits = BitWriter(value)
        for index in 1..<numbers.count {
            bits.append(rice: UInt64(numbers[index] - numbers[index - 1] - 1), k)
        }
        if most > 1 {
            for count in counts { bits.append(gamma: UInt64(count)) }
        }
        bits.finish()
        value.append(places.view)
        numbers.removeAll(keepingCapacity: true)
        counts.removeAll(keepingCapacity: true)
        places.reset()
        shortest = .max
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

// MARK: - Places

/// A place where a term stands in a document.
struct TextPlace: Equatable, Comparable {
    private let packed: UInt64

    /// The greatest position that can be read.
    static let lastPosition = Int(clamping: UInt32.max)

    init(column: Int, position: Int, isInflected: Bool) {
        packed = UInt64(column) << 40 | UInt64(position) << 1 | (isInflected ? 1 : 0)
    }

    /// The number of the column, and of the word in it.
    var column: Int { Int(packed >> 40) }
    var position: Int { Int(clamping: packed >> 1 & 0x7F_FFFF_FFFF) }
    /// Whether the word there is another form than the term.
    var isInflected: Bool { packed & 1 == 1 }
    /// Sorts by column and position; that of a place some words further on in the column is so much greater.
    var order: Int64 { Int64(packed >> 1) }

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
