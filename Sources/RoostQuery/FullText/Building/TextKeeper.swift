import Roost
import RoostBytes
import RoostIndex
import RoostStorage

/// Keeps a full-text index: writes the words of what has changed as a segment, marks what was before as dead, and merges
/// segments where there are many.
struct TextKeeper: IndexKeeper {
    let index: CompiledTextIndex

    /// About how many bytes of words are collected before they are written.
    private static let memory = 64 << 20

    func bringUp(_ upkeep: IndexUpkeep) throws {
        var batch = Batch(index)
        var done = try TextState(upkeep.store.snapshot()[upkeep.rows]).documents
        for id in Set(upkeep.purges.map(\.id)) {
            batch.add(id, try upkeep.snapshot.get(id), index)
        }
        let cursor = try upkeep.snapshot.changeCursor(since: upkeep.sequence)
        while let change = try cursor.next() {
            batch.add(change.id, change.isDeleted ? nil : try cursor.document(of: change), index)
            done += 1
            if done % 1_024 == 0 { try upkeep.step(UInt64(done)) }
            if batch.size > Self.memory || batch.builder.isFull {
                try write(batch, upkeep, reaching: change.sequence)
                batch = Batch(index)
            }
        }
        try write(batch, upkeep, reaching: upkeep.snapshot.lastSequence)
        try SegmentMerge(index: index, upkeep: upkeep).run()
    }

    /// Documents that are written together.
    private struct Batch {
        let builder: SegmentBuilder
        /// In the order in which they came; those that are gone without a place in the builder.
        var changes: [(id: String, isThere: Bool)] = []
        private var idBytes = 0

        init(_ index: CompiledTextIndex) { builder = SegmentBuilder(index.tokenizer, index.coder) }

        var size: Int { builder.size + idBytes }

        mutating func add(_ id: String, _ document: Document?, _ index: CompiledTextIndex) {
            changes.append((id, document != nil))
            idBytes += id.utf8.count + 32
            if let document { builder.add(index.mapper.texts(of: document)) }
        }
    }

    private func write(_ batch: Batch, _ upkeep: IndexUpkeep, reaching sequence: UInt64) throws {
        try upkeep.step(UInt64(batch.changes.count))
        try upkeep.commit(reaching: sequence) { transaction in
            let tables = TextTables(transaction, upkeep)
            var state = try TextState(transaction[upkeep.rows])
            let lengths = batch.builder.lengths
            let documents = try state.add(documents: lengths.count, words: lengths.reduce(0, +))
            let first = documents.lowerBound
            if !documents.isEmpty {
                let segment = try state.takeSegment()
                state.segments.append(
                    TextState.Segment(number: segment, documents: documents, count: lengths.count, dead: 0))
                let writer = PostingWriter(segment) { key, value in
                    try transaction.put(key, value, in: upkeep.rows)
                }
                try batch.builder.write(to: writer, first: first)
                try tables.appendLengths(lengths, first: first)
            }
            var number = first
            var dead: [Int] = []
            for change in batch.changes {
                if let old = try tables.document(change.id) {
                    dead.append(old.number)
                    try state.remove(old)
                    try transaction.delete(TextKeys.id(old.number), in: upkeep.rows)
                }
                guard change.isThere else {
                    try transaction.delete(Key(change.id), in: upkeep.documents)
                    continue
                }
                let length = lengths[number - first]
                try transaction.put(
                    Key(change.id), TextDocument(number: number, length: length).encoded, in: upkeep.documents
                )
                try transaction.put(TextKeys.id(number), change.id, in: upkeep.rows)
                number += 1
            }
            try tables.markDead(dead)
            try transaction.put(Key(TextKeys.state), state.encoded, in: upkeep.rows)
        }
    }
}

/// The tables beside the postings, in a transaction.
struct TextTables {
    private let transaction: WriteTransaction
    private let rows: Tree
    private let documents: Tree

    init(_ transaction: WriteTransaction, _ upkeep: IndexUpkeep) {
        self.transaction = transaction
        rows = upkeep.rows
        documents = upkeep.documents
    }

    /// What is kept of a document.
    func document(_ id: String) throws(StoreError) -> TextDocument? {
        guard let bytes = try transaction[documents, Key(id)] else { return nil }
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
