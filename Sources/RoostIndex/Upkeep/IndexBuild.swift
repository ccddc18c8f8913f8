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

    /// How many documents are read and mapped by one thread at a time, and how many such parts before their rows are put together.
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
    private func map(_ record: inout IndexRecord) throws {
        // No ID has a 00, so this is the least that comes after the last one.
        var start = record.last.isEmpty ? nil : String(decoding: record.last, as: UTF8.self) + "\u{0}"
        var mapped = try store.snapshot()[tree(IndexTrees.documents(record.number))].count
        repeat {
            var batch = try rows(from: &start, &mapped)
            batch.sort()
            var next = record
            let isAll = record.runs == 0 && start == nil
            let rowTree = isAll ? IndexTrees.rows(record.number) : IndexTrees.run(record.number, record.runs)
            next.runs += isAll ? 0 : 1
            next.last = start == nil ? [] : batch.last
            if start == nil { next.phase = isAll ? .complete : .merging }
            let done = next
            try store.write { transaction in
                try batch.appendRows(to: transaction.tree(rowTree), in: transaction)
                try batch.appendDocuments(to: tree(IndexTrees.documents(done.number)), in: transaction)
                try indexes.put(done, definition.name, in: transaction)
            }
            record = done
        } while start != nil
    }

    /// The rows of the documents from `start` on, as many as the memory holds.
    ///
    /// - Parameters:
    ///   - start: the ID to begin with, and then the one to go on with; `nil` at the end.
    ///   - mapped: how many documents were mapped.
    private func rows(from start: inout String?, _ mapped: inout UInt64) throws -> RowBatch {
        var batch = RowBatch()
        repeat {
            let (parts, next) = try snapshot.parts(of: Self.partSize, from: start, limit: Self.partCount)
            for part in try IndexMapping.rows(ofParts: parts, snapshot, definition) {
                mapped += UInt64(part.documentCount)
                batch.add(part)
            }
            try step(mapped)
            start = next
        } while start != nil && batch.size <= memoryLimit
        return batch
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
