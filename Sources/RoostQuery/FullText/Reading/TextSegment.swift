import Roost
import RoostBytes
import RoostIndex
import RoostStorage

/// A segment that is read: one of the index's, or that of documents that have changed since it was kept.
protocol TextSegment {
    /// The numbers of its documents.
    var documents: Range<Int> { get }
    /// Goes through all of its documents that are alive as far as it knows.
    func everyDocument() -> any MatchCursor
    /// The blocks of a term.
    func blocks(_ term: [UInt8]) -> any TermBlocks
    /// Visits the terms that begin with `prefix`, in their order, and lets `body` say where to go on: with the next term or with the
    /// first one that is not less than a text; `false` ends.
    func forEachTerm(_ prefix: [UInt8], _ body: ([UInt8]) throws -> TermStep) throws
    /// Visits the blocks of all terms that begin with `prefix`, with the number of each one's first document.
    func forEachBlock(_ prefix: [UInt8], _ body: (_ first: Int, ByteView) throws -> Void) throws
}

/// Where to go on among terms.
enum TermStep {
    case next
    case seek([UInt8])
    case stop
}

/// A segment in the index's tree.
struct StoredSegment: TextSegment {
    let rows: TreeView
    let segment: TextState.Segment

    var documents: Range<Int> { segment.documents }

    func everyDocument() -> any MatchCursor { StoredDocuments(rows, documents) }

    func blocks(_ term: [UInt8]) -> any TermBlocks { StoredBlocks(rows, segment.number, term) }

    func forEachBlock(_ prefix: [UInt8], _ body: (_ first: Int, ByteView) throws -> Void) throws {
        let cursor = rows.cursor(KeyRange(prefix: Key(TextKeys.prefix(segment.number) + prefix)))
        while try cursor.next() {
            try body(TextKeys.number(cursor.keyView), try cursor.valueView())
            try cursor.checkMapping()
        }
    }

    func forEachTerm(_ prefix: [UInt8], _ body: ([UInt8]) throws -> TermStep) throws {
        let start = TextKeys.prefix(segment.number)
        let cursor = rows.cursor(KeyRange(prefix: Key(start + prefix)))
        var isThere = try cursor.next()
        while isThere {
            let term = try TextKeys.term(cursor.keyView).array
            switch try body(term) {
            case .next: isThere = try cursor.seek(Key(start + term + [1]))
            case .seek(let next):
                // Never back, whatever the terms are.
                let least = term + [1]
                let target = next.lexicographicallyPrecedes(least) ? least : next
                isThere = try cursor.seek(Key(start + target))
            case .stop: return
            }
        }
    }
}

/// A segment in memory.
struct MemorySegment: TextSegment {
    let documents: Range<Int>
    private var terms: [[UInt8]] = []
    private var blocks: [[UInt8]: [MemoryBlocks.Block]] = [:]

    /// Writes what was collected, with numbers from `first` on.
    init(_ builder: SegmentBuilder, first: Int) throws {
        documents = first..<first + builder.lengths.count
        var terms: [[UInt8]] = []
        var blocks: [[UInt8]: [MemoryBlocks.Block]] = [:]
        var writer = PostingWriter(0) { key, value in
            let term = try TextKeys.term(key).array
            if terms.last != term { terms.append(term) }
            blocks[term, default: []].append((TextKeys.number(key), value.array))
        }
        try builder.write(to: &writer, first: first)
        self.terms = terms
        self.blocks = blocks
    }

    func everyDocument() -> any MatchCursor { MemoryDocuments(documents) }

    func blocks(_ term: [UInt8]) -> any TermBlocks { MemoryBlocks(blocks[term] ?? []) }

    func forEachBlock(_ prefix: [UInt8], _ body: (_ first: Int, ByteView) throws -> Void) throws {
        for term in terms where term.starts(with: prefix) {
            for block in blocks[term] ?? [] { try block.bytes.withView { try body(block.first, $0) } }
        }
    }

    func forEachTerm(_ prefix: [UInt8], _ body: ([UInt8]) throws -> TermStep) throws {
        var wanted = prefix
        for term in terms where term.starts(with: prefix) && !term.lexicographicallyPrecedes(wanted) {
            switch try body(term) {
            case .next: break
            case .seek(let next): wanted = next
            case .stop: return
            }
        }
    }
}

// MARK: - Changed texts

/// The texts of documents that have changed since a full-text index was kept, as segments in memory, the oldest first.
///
/// A reader at a later moment adds those that have changed since, as a segment of their own. Smaller segments before it are put into
/// it, so that there are few: each is larger than all that come after it.
struct ChangedTexts: Sendable {
    /// The first of their numbers; those before are of documents in the index.
    private(set) var first: Int
    private(set) var segments: [MemorySegment] = []
    /// By number, counted from ``first``.
    private var texts: [Text] = []
    /// The numbers of the documents that there are.
    private var numbers: [ByteKey: Int] = [:]
    /// The documents that were looked at, of which the index may have some.
    private var known: Set<ByteKey> = []
    /// The numbers of what the index has of them, and how many words that has.
    private(set) var replaced: Set<Int> = []
    private(set) var replacedWords = 0
    /// How many words the documents have.
    private(set) var words = 0

    private struct Text {
        let id: String
        let length: Int
        var isAlive = true
    }

    /// The changes that what is kept of an index lacks for its moment. What readers at earlier moments have found out is used, and
    /// noted for those at later ones.
    ///
    /// - Parameter first: the first number that the index has not given to a document.
    init(_ kept: StoredIndex, _ index: CompiledTextIndex, first: Int) throws {
        self.first = first
        guard let changed = kept.changed else {
            let cursor = try kept.collection.cursor()
            try add(index, limit: kept.memoryLimit) { try cursor.next() }
            return
        }
        guard !changed.isEmpty else { return }
        if let (known, since) = try kept.noted(Self.self), known.first == first {
            self = known
            try change(since, kept, index)
        } else {
            try change(changed, kept, index)
        }
        kept.note(self)
    }

    /// The text of one document alone.
    init(_ document: Document, _ index: CompiledTextIndex) throws {
        first = 0
        var next: Document? = document
        try add(index) { next.take() }
    }

    /// How many documents there are.
    var count: Int { numbers.count }

    func id(_ number: Int) throws(StoreError) -> String { try text(number).id }
    func length(_ number: Int) throws(StoreError) -> Int { try text(number).length }
    func isAlive(_ number: Int) throws(StoreError) -> Bool { try text(number).isAlive }

    /// - Throws: `damaged` for a number that only a damaged index has given to a document.
    private func text(_ number: Int) throws(StoreError) -> Text {
        guard number >= first, number - first < texts.count else { throw TextDamage.error }
        return texts[number - first]
    }

    /// The number of a document; `nil` where it is not among them.
    func number(_ id: ByteKey) -> Int? { numbers[id] }

    /// How many documents of each segment have changed again.
    var deadCounts: [Int] {
        segments.map { $0.documents.count { !texts[$0 - first].isAlive } }
    }

    private mutating func change(
        _ ids: Set<ByteKey>, _ kept: StoredIndex, _ index: CompiledTextIndex
    ) throws {
        for id in ids {
            if known.insert(id).inserted, let bytes = try kept.documents?.value(Key(id.text)) {
                let old = try TextDocument(bytes)
                replaced.insert(old.number)
                replacedWords += old.length
            }
            remove(id)
        }
        var documents = try kept.collection.documents(ids: ids.sorted().map(\.text)).compactMap { $0 }
        guard !documents.isEmpty else { return }
        while let last = segments.last, last.documents.count <= documents.count {
            segments.removeLast()
            let again = last.documents.map { texts[$0 - first] }.filter(\.isAlive).map(\.id)
            again.forEach { remove(ByteKey($0)) }
            texts.removeLast(texts.count - (last.documents.lowerBound - first))
            documents = try kept.collection.documents(ids: again).compactMap { $0 } + documents
        }
        var rest = documents[...]
        try add(index, limit: kept.memoryLimit) { rest.popFirst() }
    }

    private mutating func remove(_ id: ByteKey) {
        guard let number = numbers.removeValue(forKey: id) else { return }
        texts[number - first].isAlive = false
        words -= texts[number - first].length
    }

    /// Adds documents as a segment.
    ///
    /// - Throws: `limitExceeded` where they take about more bytes than `limit`.
    private mutating func add(
        _ index: CompiledTextIndex, limit: Int = .max, _ next: () throws -> Document?
    ) throws {
        var builder = SegmentBuilder(index.tokenizer, index.coder)
        let start = first + texts.count
        while let document = try next() {
            guard !builder.isFull else {
                throw DatabaseError(.limitExceeded, "More documents than can be searched without an index.")
            }
            if builder.lengths.count % 1_024 == 1_023 { try Task.checkCancellation() }
            builder.add(try index.mapper.texts(of: document))
            try OverlayLimit.check(builder.size, limit)
            let length = builder.lengths[builder.lengths.count - 1]
            numbers[ByteKey(document.id)] = first + texts.count
            texts.append(Text(id: document.id, length: length))
            words += length
        }
        if texts.count > start - first { segments.append(try MemorySegment(builder, first: start)) }
    }
}
