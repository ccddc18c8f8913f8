import RoostBytes
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
