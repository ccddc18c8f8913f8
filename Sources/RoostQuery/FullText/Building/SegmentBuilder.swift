import RoostBytes
import RoostIndex
import RoostStorage
import RoostText

/// Collects the words of documents in memory, and writes them as a segment.
struct SegmentBuilder {
    private let tokenizer: any Tokenizer
    private let coder: PlaceCoder
    private var words = ByteTable()
    /// By word: the terms of its root and of its exact form, where that is another one.
    private var terms: [(root: UInt32, exact: UInt32)] = []
    private var termTable = ByteTable()
    private var found = FoundWords()
    /// How many words each document has.
    private(set) var lengths: [Int] = []
    private var list = WordList()

    private static let none = UInt32.max
    /// The free places between two texts of a column, which no phrase reaches over.
    static let gap = 10
    /// How many places are sorted at once: the terms are written in so many rounds.
    private static let roundSize = 1 << 21

    init(_ tokenizer: any Tokenizer, _ coder: PlaceCoder) {
        self.tokenizer = tokenizer
        self.coder = coder
    }

    /// About how many bytes are in use.
    var size: Int { found.size + words.count * 96 + lengths.count * 8 }
    var isFull: Bool { lengths.count >= PackedPlace.mostDocuments - 1 }

    /// Adds a document: the texts of each column.
    mutating func add(_ columns: [[String]]) {
        var length = 0
        for (column, texts) in columns.enumerated() {
            list.removeAll()
            for text in texts {
                tokenizer.words(of: text, into: &list)
                for _ in 0..<Self.gap { list.skip() }
            }
            found.begin(column)
            list.bytes.withView { bytes in
                for word in list.words {
                    found.append(number(of: bytes.slice(word.start, word.length)), at: word.position)
                }
            }
            length += list.count
        }
        found.endDocument()
        lengths.append(length)
    }

    private mutating func number(of word: ByteView) -> Int {
        let (number, isNew) = words.insert(word)
        if isNew { addTerms(of: String(decoding: word.array, as: UTF8.self)) }
        return number
    }

    private mutating func addTerms(of word: String) {
        let made = tokenizer.terms(of: word)
        let root = insert(TextTerm.term(made.root))
        let exact = coder.hasRoots && made.exact != made.root ? insert(TextTerm.exact(made.exact)) : Self.none
        terms.append((root, exact))
    }

    private mutating func insert(_ term: [UInt8]) -> UInt32 {
        UInt32(term.withView { termTable.insert($0).number })
    }

    // MARK: Writing

    /// Writes the segment's blocks.
    ///
    /// - Parameter first: the number of the first document.
    func write(to writer: inout PostingWriter, first: Int) throws {
        let counts = placeCounts()
        var places: [UInt64] = []
        var rest = termTable.sorted()[...]
        while !rest.isEmpty {
            var size = 0
            let round = rest.prefix { term in
                defer { size += counts[term] }
                return size == 0 || size + counts[term] <= Self.roundSize
            }
            rest = rest[round.endIndex...]
            let ranges = sort(round, counts, into: &places)
            for (term, range) in zip(round, ranges) {
                try write(term, places[range], to: &writer, first: first)
            }
        }
        try writer.flush()
    }

    /// How many places each term has at most.
    private func placeCounts() -> [Int] {
        var wordCounts = [Int](repeating: 0, count: words.count)
        for (word, _) in found { wordCounts[word] += 1 }
        var counts = [Int](repeating: 0, count: termTable.count)
        for (word, count) in wordCounts.enumerated() {
            counts[Int(terms[word].root)] += count
            if terms[word].exact != Self.none { counts[Int(terms[word].exact)] += count }
        }
        return counts
    }

    /// Puts the places of some terms in order: by term, and within a term as they came.
    ///
    /// - Returns: where the places of each of `round` are.
    private func sort(
        _ round: ArraySlice<Int>, _ counts: [Int], into places: inout [UInt64]
    ) -> [Range<Int>] {
        var ends = [Int](repeating: -1, count: counts.count)
        var starts: [Int] = []
        var total = 0
        for term in round {
            ends[term] = total
            starts.append(total)
            total += counts[term]
        }
        if places.count < total { places = [UInt64](repeating: 0, count: total) }
        var sorted = places.mutableSpan
        var next = ends.mutableSpan
        for (word, place) in found {
            let (root, exact) = (Int(terms[word].root), terms[word].exact)
            let isInflected = exact != Self.none
            if next[root] >= 0 {
                sorted[next[root]] = isInflected ? place | 1 : place
                next[root] += 1
            }
            if isInflected, next[Int(exact)] >= 0 {
                sorted[next[Int(exact)]] = place
                next[Int(exact)] += 1
            }
        }
        return zip(round, starts).map { term, start in start..<ends[term] }
    }

    private func write(
        _ term: Int, _ places: ArraySlice<UInt64>, to writer: inout PostingWriter, first: Int
    ) throws {
        try writer.begin(termTable[term])
        var start = places.startIndex
        while start < places.endIndex {
            let document = PackedPlace.document(places[start])
            var stop = start + 1
            while stop < places.endIndex, PackedPlace.document(places[stop]) == document { stop += 1 }
            // Where no places are kept, a term is in a document once.
            let count = coder.hasPlaces ? stop - start : 1
            try writer.add(first + document, count: count, length: lengths[document]) {
                coder.append(places[start..<stop], to: $0)
            }
            start = stop
        }
    }
}

/// The words that were found in documents, in the order in which they came, four bytes each.
///
/// Each is the number of a word, whose place is the one after the word before; other places, columns and the ends of documents
/// stand between them.
private struct FoundWords: Sequence {
    private var entries: [UInt32] = []
    private var next: UInt32 = 0

    private static let place: UInt32 = 1 << 31
    private static let column: UInt32 = 1 << 30
    private static let end = place - 1

    var size: Int { entries.count * 4 }

    mutating func begin(_ column: Int) {
        entries.append(Self.column | UInt32(column))
        next = 0
    }

    mutating func append(_ word: Int, at position: UInt32) {
        let position = position & ~Self.place
        if position != next { entries.append(Self.place | position) }
        entries.append(UInt32(word))
        next = (position + 1) & ~Self.place
    }

    mutating func endDocument() { entries.append(Self.end) }

    /// Each word with its ``PackedPlace``, as one that is no inflected form.
    func makeIterator() -> Iterator { Iterator(entries: entries) }

    struct Iterator: IteratorProtocol {
        fileprivate let entries: [UInt32]
        private var index = 0
        private var (document, column, position) = (0, 0, UInt32(0))

        fileprivate init(entries: [UInt32]) { self.entries = entries }

        mutating func next() -> (word: Int, place: UInt64)? {
            while index < entries.count {
                let entry = entries[index]
                index += 1
                if entry < FoundWords.column {
                    defer { position += 1 }
                    return (Int(entry), PackedPlace.pack(document, column, position))
                }
                if entry >= FoundWords.place {
                    position = entry & ~FoundWords.place
                } else if entry == FoundWords.end {
                    document += 1
                } else {
                    (column, position) = (Int(entry & ~FoundWords.column), 0)
                }
            }
            return nil
        }
    }
}

// MARK: - Segment merge

/// Makes one segment of neighbouring ones, without what is dead, for as long as there is something to merge.
///
/// What is written becomes part of the index in one commit at the end. A merge that is cut off leaves postings of a segment
/// that nothing refers to, and the next one of that number begins by removing them.
struct SegmentMerge {
    let index: CompiledTextIndex
    let upkeep: IndexUpkeep

    /// About how many bytes are written in one commit.
    private static let commitSize = 8 << 20

    /// So many segments are put up with while a reader waits.
    private static let mostWhileAwaited = 32

    func run() throws {
        while true {
            let state = try state()
            guard !upkeep.isAwaited || state.segments.count > Self.mostWhileAwaited, let range = state.merge
            else { return }
            try merge(range)
        }
    }

    private func state() throws -> TextState { try TextState(upkeep.store.snapshot()[upkeep.rows]) }

    private func merge(_ range: Range<Int>) throws {
        let view = try upkeep.store.snapshot()[upkeep.rows]
        var state = try TextState(view)
        let segments = Array(state.segments[range])
        let number = try state.takeSegment()
        let living = LivingDocuments(view)
        try upkeep.commit(reaching: upkeep.sequence) {
            try $0.delete(TextKeys.segment(number), in: upkeep.rows)
        }
        var pending: [(key: [UInt8], value: [UInt8])] = []
        var size = 0
        var writer = PostingWriter(number) { key, value in
            pending.append((key.array, value.array))
            size += key.count + value.count
        }
        func commit() throws {
            try upkeep.step(UInt64(state.documents))
            let entries = pending
            try upkeep.commit(reaching: upkeep.sequence) { transaction in
                for entry in entries { try transaction.put(Key(entry.key), entry.value, in: upkeep.rows) }
            }
            pending.removeAll(keepingCapacity: true)
            size = 0
        }
        var sources = try segments.map { try MergeSource(view, $0, index.coder) }
        while let term = sources.compactMap(\.term).min(by: { $0.lexicographicallyPrecedes($1) }) {
            try writer.begin(term)
            for index in sources.indices {
                while sources[index].term == term {
                    try sources[index].copyBlock(to: &writer, living)
                    try sources[index].next()
                }
            }
            try writer.flush()
            if size > Self.commitSize { try commit() }
        }
        let documents = segments[0].documents.lowerBound..<segments[segments.count - 1].documents.upperBound
        let count = segments.reduce(0) { $0 + $1.count - $1.dead }
        state.segments.replaceSubrange(
            range,
            with: count == 0
                ? [] : [TextState.Segment(number: number, documents: documents, count: count, dead: 0)])
        let (entries, done) = (pending, state)
        try upkeep.commit(reaching: upkeep.sequence) { transaction in
            for entry in entries { try transaction.put(Key(entry.key), entry.value, in: upkeep.rows) }
            for segment in segments {
                try transaction.delete(TextKeys.segment(segment.number), in: upkeep.rows)
            }
            try transaction.put(Key(TextKeys.state), done.encoded, in: upkeep.rows)
        }
    }
}

/// One of the segments that are merged.
private struct MergeSource {
    private let cursor: Cursor
    private let coder: PlaceCoder
    private let documents: Range<Int>
    private let hasDead: Bool
    /// The term that the cursor is at; `nil` after the last.
    private(set) var term: [UInt8]?
    private var first = 0
    /// The first document that the term's next block may have.
    private var least = 0
    private var numbers: [Int] = []
    private var counts: [Int] = []

    /// A block with fewer bytes is put together with its neighbours.
    private static let smallBlock = PostingBlock.size / 2

    init(_ view: TreeView, _ segment: TextState.Segment, _ coder: PlaceCoder) throws(StoreError) {
        cursor = view.cursor(TextKeys.segment(segment.number))
        self.coder = coder
        documents = segment.documents
        hasDead = segment.dead > 0
        try next()
    }

    mutating func next() throws(StoreError) {
        guard try cursor.next() else {
            term = nil
            return
        }
        let key = cursor.keyView
        let view = try TextKeys.term(key)
        if term.map({ $0.withView { $0.compare(view) != 0 } }) ?? true {
            term = view.array
            least = documents.lowerBound
        }
        first = TextKeys.number(key)
    }

    /// Adds the living documents of the block that the cursor is at.
    mutating func copyBlock(to writer: inout PostingWriter, _ living: LivingDocuments) throws {
        let value = try cursor.value()
        try value.withView { block in
            do {
                let head = try PostingBlock.Head(block, first: first)
                // What is written goes upwards, whatever the bytes say.
                guard first >= least, head.last < documents.upperBound else { throw TextDamage.error }
                least = head.last + 1
                guard hasDead || block.count < Self.smallBlock else {
                    return try writer.add(block: block, first: first)
                }
                var documents = PostingBlock.Documents(block, head)
                try documents.readNumbers(first: first, &numbers)
                var reader = ByteReader(block)
                _ = try reader.view(try documents.readCounts(&counts))
                for (number, count) in zip(numbers, counts) {
                    let start = reader.position
                    try coder.skip(count, &reader)
                    guard try living.contains(number) else { continue }
                    let places = block.slice(start, reader.position - start)
                    try writer.add(number, count: count, length: try living.length(number)) {
                        $0.append(places)
                    }
                }
            } catch is MalformedBytes {
                throw TextDamage.error
            }
        }
    }
}
