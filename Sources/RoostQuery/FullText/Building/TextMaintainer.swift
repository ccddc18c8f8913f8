import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostStorage

/// Keeps a full-text index: writes the words of what has changed as a segment, marks what was before as dead, and merges
/// segments where there are many.
struct TextMaintainer: IndexMaintainer {
    let index: CompiledTextIndex

    func update(_ upkeep: IndexUpkeep) throws {
        if upkeep.isBehind { try writeChanges(upkeep) }
        try SegmentMerge(index: index, upkeep: upkeep).run()
    }

    private func writeChanges(_ upkeep: IndexUpkeep) throws {
        var batch = Batch(index)
        var done = try TextState(upkeep.store.snapshot()[upkeep.rows]).documents
        for id in Set(upkeep.purges.map { ByteKey($0.id) }).map(\.text) {
            try batch.add(id, upkeep.snapshot.document(id), index)
        }
        let cursor = try upkeep.snapshot.changeCursor(since: upkeep.sequence)
        while let change = try cursor.next() {
            try batch.add(change.id, change.isDeleted ? nil : cursor.document(of: change), index)
            done += 1
            if done % 1_024 == 0 { try upkeep.step(UInt64(done)) }
            if batch.size > upkeep.memoryLimit || batch.builder.isFull {
                try write(batch, upkeep, reaching: change.sequence)
                batch = Batch(index)
            }
        }
        try write(batch, upkeep, reaching: upkeep.snapshot.lastSequence)
    }

    /// Documents that are written together.
    private struct Batch {
        private(set) var builder: SegmentBuilder
        /// In the order in which they came, with their places in the builder; those that are gone have none.
        private(set) var changes: [(id: Key, place: Int?)] = []
        private var idBytes = 0

        init(_ index: CompiledTextIndex) { builder = SegmentBuilder(index.tokenizer, index.coder) }

        var size: Int { builder.size + idBytes }

        mutating func add(
            _ id: String, _ document: Document?, _ index: CompiledTextIndex
        ) throws(DatabaseError) {
            changes.append((Key(id), document.map { _ in builder.lengths.count }))
            idBytes += id.utf8.count + 64
            if let document { builder.add(try index.mapper.texts(of: document)) }
        }

        /// The changes in the order of their IDs; those of one document as they came.
        var sorted: [(id: Key, place: Int?)] {
            changes.indices.sorted { a, b in
                changes[a].id == changes[b].id ? a < b : changes[a].id < changes[b].id
            }.map { changes[$0] }
        }
    }

    /// Writes each tree in the order of its keys, as far as that is possible, so that a first build only appends.
    private func write(_ batch: Batch, _ upkeep: IndexUpkeep, reaching sequence: UInt64) throws {
        try upkeep.step(UInt64(batch.changes.count))
        try upkeep.commit(reaching: sequence) { transaction in
            let tables = TextTables(transaction, upkeep)
            var state = try TextState(transaction[upkeep.rows])
            let lengths = batch.builder.lengths
            let documents = try state.add(documents: lengths.count, words: lengths.reduce(0, +))
            let first = documents.lowerBound
            let segment = documents.isEmpty ? nil : try state.takeSegment()
            if let segment {
                state.segments.append(
                    TextState.Segment(number: segment, documents: documents, count: lengths.count, dead: 0))
            }
            var dead: [Int] = []
            // Without purges each document comes once, so that nothing is known of those that come first.
            let isFirst = first == 0 && upkeep.purges.isEmpty
            for change in batch.sorted {
                if !isFirst, let old = try tables.document(change.id) {
                    dead.append(old.number)
                    try state.remove(old)
                }
                guard let place = change.place else {
                    try transaction.delete(change.id, in: upkeep.documents)
                    continue
                }
                let document = TextDocument(number: first + place, length: lengths[place])
                try transaction.put(change.id, document.encoded, in: upkeep.documents)
            }
            if let segment {
                var writer = PostingWriter(segment) { key, value in
                    try transaction.put(key, value, in: upkeep.rows)
                }
                try batch.builder.write(to: &writer, first: first)
            }
            for change in batch.changes {
                guard let place = change.place else { continue }
                try transaction.put(TextKeys.id(first + place), change.id.bytes, in: upkeep.rows)
            }
            for number in dead { try transaction.delete(TextKeys.id(number), in: upkeep.rows) }
            try tables.markDead(dead)
            try tables.appendLengths(lengths, first: first)
            try transaction.put(Key(TextKeys.state), state.encoded, in: upkeep.rows)
        }
    }
}

/// The tables beside the postings, in a transaction.
struct TextTables {
    private let transaction: StoreTransaction
    private let rows: Tree
    private let documents: Tree

    init(_ transaction: StoreTransaction, _ upkeep: IndexUpkeep) {
        self.transaction = transaction
        rows = upkeep.rows
        documents = upkeep.documents
    }

    /// What is kept of a document.
    func document(_ id: Key) throws(StoreError) -> TextDocument? {
        guard let bytes = try transaction[documents, id] else { return nil }
        return try TextDocument(bytes)
    }

    /// Notes the lengths of new documents.
    func appendLengths(_ lengths: [Int], first: Int) throws(StoreError) {
        var number = first
        while number < first + lengths.count {
            let key = TextKeys.lengths(number)
            let start = number / TextKeys.lengthsSize * TextKeys.lengthsSize
            let end = min(start + TextKeys.lengthsSize, first + lengths.count)
            let buffer = ByteBuffer()
            // The numbers before belong to documents of an earlier batch.
            if number > start { buffer.append(try transaction[rows, key] ?? []) }
            for index in number..<end { buffer.append(varint: UInt64(lengths[index - first])) }
            try transaction.put(key, buffer.view.array, in: rows)
            number = end
        }
    }

    /// Marks documents as dead, for good: their numbers are not used again.
    func markDead(_ numbers: [Int]) throws(StoreError) {
        for (_, group) in Dictionary(grouping: numbers, by: { $0 / TextKeys.mapSize }) {
            let key = TextKeys.dead(group[0])
            var map = try transaction[rows, key] ?? [UInt8](repeating: 0, count: TextKeys.mapSize / 8)
            guard map.count == TextKeys.mapSize / 8 else { throw TextDamage.error }
            for number in group { map[number % TextKeys.mapSize / 8] |= 1 << UInt8(number % 8) }
            try transaction.put(key, map, in: rows)
        }
    }
}

// MARK: - Text mapper

/// Finds the texts of documents that an index is of.
final class TextMapper: Sendable {
    /// What the texts are of, as expressions of a document are compared.
    let columns: [BoundExpression]
    private let program: Program
    private let values: [Evaluation]
    /// What threads have left over.
    private let frames = SparePool<Frame>()

    init(_ columns: [Expression]) throws(QueryError) {
        let document = DocumentProgram(Schema(NoCollections()))
        let bound = try columns.map { (column) throws(QueryError) in try document.bind(column).value }
        self.columns = bound
        values = try bound.map { (column) throws(QueryError) in try document.compile(column) }
        program = document.program
    }

    /// The texts of each column. Those within arrays and objects are texts of their own.
    ///
    /// - Throws: `limitExceeded` where a column can't be computed, as a scan does.
    func texts(of document: Document) throws(DatabaseError) -> [[String]] {
        let frame = frames.take() ?? Frame(program)
        let mark = frame.arena.mark
        let texts = document.value.withNode { root in
            let metadata = BodyMetadata(document)
            frame.setRow(0, Value(root), RowMetadata(id: frame.arena.copy(document.id), body: metadata))
            return values.map { value in
                var texts: [String] = []
                Self.collect(value(frame), depth: 0, &texts)
                return texts
            }
        }
        try frame.check()
        frame.arena.release(to: mark)
        frames.giveBack(frame)
        return texts ?? values.map { _ in [] }
    }

    private static let deepest = 32

    private static func collect(_ value: Value, depth: Int, _ texts: inout [String]) {
        if let string = value.string {
            texts.append(string)
        } else if depth < deepest, let elements = value.elements {
            for element in elements { collect(element, depth: depth + 1, &texts) }
        }
    }
}
