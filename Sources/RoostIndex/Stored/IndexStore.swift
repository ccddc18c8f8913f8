import RoostBytes
import RoostStorage

/// The derived store of a collection: the records and trees of all its indexes.
struct IndexStore: Sendable {
    let store: Store

    /// Whether this process may write to it.
    var isWritable: Bool { !store.isReadOnly }

    /// The record of an index, and the snapshot in which it is true of the trees; `nil` for the record where there is none.
    func record(_ name: String, in snapshot: Snapshot) throws(StoreError) -> IndexRecord? {
        guard let catalog = snapshot.tree(IndexTrees.catalog), let bytes = try snapshot[catalog, Key(name)]
        else {
            return nil
        }
        return try bytes.withView { (view) throws(StoreError) in
            do throws(MalformedBytes) {
                return try IndexRecord(view)
            } catch {
                throw Self.malformed("the record of an index")
            }
        }
    }

    func put(_ record: IndexRecord, _ name: String, in transaction: StoreTransaction) throws(StoreError) {
        try transaction.put(Key(name), record.encoded, in: try transaction.tree(IndexTrees.catalog))
    }

    /// Makes the record and the trees of an index that has to be built, in place of what there was.
    func begin(
        _ definition: IndexDefinition, epoch: UInt64, sequence: UInt64, purge: UInt64
    ) throws -> IndexRecord {
        try store.write { transaction in
            let old = try record(definition.name, in: store.snapshot())
            if let old { try drop(old, in: transaction) }
            let record = IndexRecord(
                number: try nextNumber(in: transaction), signature: Array(definition.signature.utf8),
                hasRows: definition.keeper == nil, epoch: epoch,
                sequence: sequence, purge: purge)
            _ = try transaction.tree(
                IndexTrees.rows(record.number), reduction: definition.storedReduction(of: record.number))
            _ = try transaction.tree(IndexTrees.documents(record.number))
            try put(record, definition.name, in: transaction)
            return record
        }
    }

    /// One more than any number that is in use; trees that were dropped with their record leave nothing behind.
    private func nextNumber(in transaction: StoreTransaction) throws -> UInt64 {
        var last: UInt64 = 0
        try transaction[transaction.tree(IndexTrees.catalog)].forEach { _, value in
            last = max(
                last,
                (try? value.withView { (view) throws(MalformedBytes) in try IndexRecord(view) })?.number ?? 0)
            return true
        }
        for name in store.snapshot().treeNames {
            last = max(last, IndexTrees.number(of: name) ?? 0)
        }
        return last + 1
    }

    /// Drops the index with its trees. O(number of trees).
    func drop(_ name: String) throws {
        try store.write { transaction in
            guard let record = try record(name, in: store.snapshot()) else { return }
            try drop(record, in: transaction)
            try transaction.delete(Key(name), in: transaction.tree(IndexTrees.catalog))
        }
    }

    private func drop(_ record: IndexRecord, in transaction: StoreTransaction) throws(StoreError) {
        let snapshot = store.snapshot()
        for name in snapshot.treeNames where IndexTrees.number(of: name) == record.number {
            if let tree = snapshot.tree(name) { try transaction.drop(tree) }
        }
    }

    /// What is kept, by name. O(number of indexes and trees).
    func statuses() throws -> [IndexStatus] {
        let snapshot = store.snapshot()
        guard let catalog = snapshot.tree(IndexTrees.catalog) else { return [] }
        var bytes: [UInt64: UInt64] = [:]
        for name in snapshot.treeNames {
            guard let number = IndexTrees.number(of: name), let tree = snapshot.tree(name) else { continue }
            bytes[number, default: 0] += try snapshot[tree].storedBytes
        }
        var statuses: [IndexStatus] = []
        let cursor = try snapshot[catalog].cursor()
        while try cursor.next() {
            let name = String(decoding: cursor.key.bytes, as: UTF8.self)
            guard let record = try record(name, in: snapshot) else { continue }
            let rows = try snapshot.tree(IndexTrees.rows(record.number)).map { try snapshot[$0].count } ?? 0
            statuses.append(IndexStatus(name: name, record, rows: rows, bytes: bytes[record.number] ?? 0))
        }
        return statuses
    }

    /// What an entry is called that no index has written.
    static func malformed(_ what: String) -> StoreError {
        StoreError(.damaged, "The derived data has malformed bytes: \(what). It is made anew.")
    }
}
