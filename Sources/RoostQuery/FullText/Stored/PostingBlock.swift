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
