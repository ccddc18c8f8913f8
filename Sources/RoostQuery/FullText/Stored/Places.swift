import RoostBytes

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
