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

    private static let pageSize = 4_096
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

    private func map(_ record: inout IndexRecord) throws {
        var selection = DocumentSelection()
        // No ID has a 00, so this is the least that comes after the last one.
        if !record.last.isEmpty { selection.from = String(decoding: record.last, as: UTF8.self) + "\u{0}" }
        let cursor = try snapshot.cursor(selection)
        var mapped = try store.snapshot()[tree(IndexTrees.documents(record.number))].count
        var page: [Document] = []
        var batch = RowBatch()
        repeat {
            page.removeAll(keepingCapacity: true)
            while page.count < Self.pageSize, let document = try cursor.next() {
                page.append(document)
            }
            for run in try IndexMapping.runs(of: page, snapshot, definition) { batch.add(run) }
            mapped += UInt64(page.count)
            try step(mapped)
            if batch.size > memoryLimit { try setAside(&batch, &record) }
        } while !page.isEmpty
        try finish(&batch, &record)
    }

    /// Commits the batch as a sorted run.
    private func setAside(_ batch: inout RowBatch, _ record: inout IndexRecord) throws {
        var next = record
        next.last = batch.last
        next.runs += 1
        batch.sort()
        let transaction = try store.beginWriting()
        do {
            let run = try transaction.tree(IndexTrees.run(record.number, record.runs))
            try batch.appendRows(to: run, in: transaction)
            try batch.appendDocuments(to: tree(IndexTrees.documents(record.number)), in: transaction)
            try indexes.put(next, definition.name, in: transaction)
            try transaction.commit()
        } catch {
            transaction.rollback()
            throw error
        }
        record = next
        batch = RowBatch()
    }

    /// Commits the last batch: as all rows, where there are no runs.
    private func finish(_ batch: inout RowBatch, _ record: inout IndexRecord) throws {
        if record.runs > 0, !batch.isEmpty { try setAside(&batch, &record) }
        var next = record
        next.phase = record.runs > 0 ? .merging : .complete
        next.last = []
        batch.sort()
        let rest = batch
        try store.write { transaction in
            try rest.appendRows(to: tree(IndexTrees.rows(next.number)), in: transaction)
            try rest.appendDocuments(to: tree(IndexTrees.documents(next.number)), in: transaction)
            try indexes.put(next, definition.name, in: transaction)
        }
        record = next
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
