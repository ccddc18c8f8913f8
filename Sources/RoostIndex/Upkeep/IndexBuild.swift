import Roost
import RoostBytes
import RoostStorage

/// Builds an index for the first time: maps all documents in the order of their IDs, sorts the rows, and appends them.
///
/// Rows that exceed the memory bound are put aside in sorted runs, trees of the same store, which are merged in the end. Each
/// run is committed with the ID of the last document in it, so a build that was cut off goes on from there. Documents that
/// change meanwhile are caught up with afterwards, from the sequence at which the build began.
struct IndexBuild {
    let indexes: IndexStore
    let definition: IndexDefinition
    let snapshot: CollectionSnapshot
    /// About how many bytes of rows to sort in memory.
    let memoryLimit: Int
    /// Called now and then with the number of documents that were mapped; stops the build by throwing.
    let step: (_ mapped: UInt64) throws -> Void

    /// How many documents are read and mapped by one thread at a time, and how many such parts are looked for at once.
    private static let partSize = 512
    private static let partCount = 8
    private static let mergeCommit = 50_000

    private var store: Store { indexes.store }

    func run(_ start: IndexRecord) throws -> IndexRecord {
        var record = start
        if record.phase == .mapping { try map(&record) }
        if record.phase == .merging { try merge(&record) }
        return record
    }

    private func tree(_ name: String) throws(StoreError) -> Tree {
        guard let tree = store.snapshot().tree(name) else {
            throw IndexStore.malformed("an index without its trees")
        }
        return tree
    }

    // MARK: Mapping

    /// Maps all documents and commits their rows: as a sorted run each time that the memory is full, at once where it never is.
    ///
    /// What the documents' rows are is written down while later documents are mapped.
    private func map(_ record: inout IndexRecord) throws {
        // No ID has a 00, so this is the least that comes after the last one.
        var start = record.last.isEmpty ? nil : String(decoding: record.last, as: UTF8.self) + "\u{0}"
        var mapped = try store.snapshot()[tree(IndexTrees.documents(record.number))].count
        let documentTree = try tree(IndexTrees.documents(record.number))
        repeat {
            let before = record
            record = try store.write { transaction in
                var batch = try rows(from: &start, &mapped) { part in
                    try part.appendDocuments(to: documentTree, in: transaction)
                }
                batch.sort()
                var done = before
                done.include(snapshot)
                let isAll = done.runs == 0 && start == nil
                let name = isAll ? IndexTrees.rows(done.number) : IndexTrees.run(done.number, done.runs)
                done.runs += isAll ? 0 : 1
                done.last = start == nil ? [] : batch.last
                if start == nil { done.phase = isAll ? .complete : .merging }
                try batch.appendRows(to: transaction.tree(name), in: transaction)
                try indexes.put(done, definition.name, in: transaction)
                return done
            }
        } while start != nil
    }

    /// The rows of the documents from `start` on, as many as the memory holds.
    ///
    /// - Parameters:
    ///   - start: the ID to begin with, and then the one to go on with; `nil` at the end.
    ///   - mapped: how many documents were mapped.
    ///   - take: called with the rows of some documents after the other.
    private func rows(
        from start: inout String?, _ mapped: inout UInt64, _ take: (MappedPart) throws -> Void
    ) throws -> RowBatch {
        var batch = RowBatch()
        let (snapshot, definition) = (snapshot, definition)
        let ahead = WorkAhead<DocumentSelection, Result<MappedPart, any Error>> { part in
            Result { try IndexMapping.rows(ofPart: part, snapshot, definition) }
        }
        var isAtEnd = false
        while true {
            while !isAtEnd, ahead.count < ahead.depth, batch.size <= memoryLimit {
                let (parts, next) = try snapshot.parts(of: Self.partSize, from: start, limit: Self.partCount)
                parts.forEach(ahead.add)
                start = next
                isAtEnd = next == nil
            }
            guard let part = try ahead.next()?.get() else { return batch }
            try take(part)
            batch.add(part)
            mapped += UInt64(part.documentCount)
            try step(mapped)
        }
    }

    // MARK: Merging

    private func merge(_ record: inout IndexRecord) throws {
        let rows = try tree(IndexTrees.rows(record.number))
        // A merge that was cut off begins anew.
        try store.write { try $0.delete(.all, in: rows) }
        let snapshot = store.snapshot()
        var cursors = try (0..<record.runs).map { run in
            try snapshot[tree(IndexTrees.run(record.number, run))].cursor()
        }
        cursors = try cursors.filter { try $0.next() }
        while !cursors.isEmpty {
            try step(.max)
            try store.write { transaction in
                for _ in 0..<Self.mergeCommit {
                    guard let least = cursors.indices.min(by: { cursors[$0].key < cursors[$1].key }) else {
                        return
                    }
                    try transaction.put(cursors[least].key, try cursors[least].value(), in: rows)
                    if try !cursors[least].next() { cursors.remove(at: least) }
                }
            }
        }
        var next = record
        next.phase = .complete
        next.runs = 0
        let (runs, done) = (record.runs, next)
        try store.write { transaction in
            for run in 0..<runs { try transaction.drop(tree(IndexTrees.run(done.number, run))) }
            try indexes.put(done, definition.name, in: transaction)
        }
        record = next
    }
}
