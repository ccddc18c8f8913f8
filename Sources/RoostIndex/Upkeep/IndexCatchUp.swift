import Roost
import RoostBytes
import RoostStorage

/// Brings complete indexes of a collection up to a moment: one pass over the changes since, for all of them.
struct IndexCatchUp {
    /// An index and how far it has come.
    struct Item {
        let definition: IndexDefinition
        var record: IndexRecord
    }

    let indexes: IndexStore
    let snapshot: CollectionSnapshot
    /// Called before each commit; stops by throwing.
    let step: () throws -> Void

    /// How many changes are brought in by one commit at most, and about how many bytes of documents.
    private static let pageSize = 2_048
    private static let pageBytes = 16 << 20

    /// Puts the rows of all that has changed in the place of those there were. The purges since must be remembered.
    func run(_ items: [Item]) throws {
        var items = items
        let first = items.map(\.record.sequence).min() ?? snapshot.lastSequence
        guard first < snapshot.lastSequence else {
            return try apply([], [], to: &items, reaching: snapshot.lastSequence)
        }
        let cursor = try snapshot.changeCursor(since: first)
        var page: [DocumentChange] = []
        var isAtEnd = false
        while !isAtEnd {
            page.removeAll(keepingCapacity: true)
            var documents: [Document?] = []
            var bytes = 0
            while page.count < Self.pageSize, bytes < Self.pageBytes {
                guard let change = try cursor.next() else {
                    isAtEnd = true
                    break
                }
                page.append(change)
                let document = change.isDeleted ? nil : try cursor.document(of: change)
                bytes += document?.fleece.bytes.count ?? 0
                documents.append(document)
            }
            try apply(
                page, documents, to: &items,
                reaching: isAtEnd ? snapshot.lastSequence : page.last?.sequence ?? snapshot.lastSequence)
        }
    }

    /// Commits a page of changes. The purges come with the last one: what was purged gets the rows of ``snapshot``, which an index
    /// that stands before it must not have.
    private func apply(
        _ page: [DocumentChange], _ documents: [Document?], to items: inout [Item], reaching reached: UInt64
    ) throws {
        try step()
        let isLast = reached == snapshot.lastSequence
        let mapped = try items.map { try IndexMapping.rows(of: documents, snapshot, $0.definition) }
        let purged = try items.map { isLast ? try purgedRows($0) : [] }
        let before = items
        items = try indexes.store.write { transaction in
            var items = before
            for index in items.indices {
                var record = items[index].record
                guard record.sequence < reached || isLast && record.purge < snapshot.purgeSequence
                else { continue }
                let changes = zip(page, mapped[index]).filter { $0.0.sequence > record.sequence }
                try replace(purged[index] + changes.map { ($0.0.id, $0.1) }, in: record, transaction)
                record.reach(reached, of: snapshot)
                try indexes.put(record, items[index].definition.name, in: transaction)
                items[index].record = record
            }
            return items
        }
    }

    /// The rows of documents that were purged, or lost leaves to a purge, as they are now.
    private func purgedRows(_ item: Item) throws -> [(id: String, rows: [IndexRow])] {
        guard item.record.purge < snapshot.purgeSequence,
            let purges = try snapshot.purges(since: item.record.purge)
        else { return [] }
        let purged = Set(purges.map { ByteKey($0.id) })
        let ids = IndexFailpoint.forgottenPurges.isActive ? [] : purged.map(\.text)
        let documents = try ids.map { try snapshot.document($0) }
        return Array(zip(ids, try IndexMapping.rows(of: documents, snapshot, item.definition)))
    }

    /// Puts these rows of documents in the place of those that they had.
    private func replace(
        _ documents: [(id: String, rows: [IndexRow])], in record: IndexRecord, _ transaction: StoreTransaction
    ) throws {
        let rowTree = try transaction.tree(IndexTrees.rows(record.number))
        let documentTree = try transaction.tree(IndexTrees.documents(record.number))
        var changes: [(key: [UInt8], value: [UInt8]?)] = []
        for (id, rows) in documents.sorted(by: { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }) {
            let key = Key(id)
            let old =
                try transaction[documentTree, key].map { try DocumentRows.keys($0, of: key.bytes) } ?? []
            if old.isEmpty && rows.isEmpty { continue }
            let kept = Set(rows.map(\.key))
            changes += old.filter { !kept.contains($0) }.map { ($0, nil) }
            changes += rows.map { ($0.key, $0.value) }
            if rows.isEmpty {
                try transaction.delete(key, in: documentTree)
            } else {
                try transaction.put(key, DocumentRows.encode(rows), in: documentTree)
            }
        }
        changes.sort { $0.key.lexicographicallyPrecedes($1.key) }
        for change in changes {
            if let value = change.value {
                try transaction.put(Key(change.key), value, in: rowTree)
            } else {
                try transaction.delete(Key(change.key), in: rowTree)
            }
        }
    }
}

// MARK: - Index upkeep

/// Keeps an index that has something else than rows, in the two trees that every index has.
package protocol IndexMaintainer: Sendable {
    /// Brings what is kept up to the upkeep's moment by committing to it, as often as it likes. Called by one thread at a time.
    /// What was committed stays when it throws, and is where the next call goes on.
    func update(_ upkeep: IndexUpkeep) throws
}

/// The update of one index. Belongs to the thread that it is handed to.
package final class IndexUpkeep {
    /// The moment to reach.
    package let snapshot: CollectionSnapshot
    /// All changes up to this sequence of the collection are in what is kept; 0 at the beginning.
    package var sequence: UInt64 { record.sequence }
    /// The purges of documents since what is kept; those that are remembered.
    package let purges: [Purge]
    package let store: Store
    package let rows: Tree
    package let documents: Tree
    /// Whether a reader waits for what is missing, so that everything else is better done another time.
    package let isAwaited: Bool
    /// About how many bytes of what is to be written to collect in memory.
    package let memoryLimit: Int
    /// To be called now and then with the number of documents that are done; stops the upkeep by throwing.
    package let step: (_ done: UInt64) throws -> Void
    private let indexes: IndexStore
    private let name: String
    private var record: IndexRecord

    init(
        _ indexes: IndexStore, _ name: String, _ record: IndexRecord, _ snapshot: CollectionSnapshot,
        isAwaited: Bool, memoryLimit: Int,
        step: @escaping (UInt64) throws -> Void
    ) throws {
        self.indexes = indexes
        self.name = name
        self.record = record
        self.snapshot = snapshot
        self.isAwaited = isAwaited
        self.memoryLimit = memoryLimit
        self.step = step
        store = indexes.store
        let trees = store.snapshot()
        guard let rows = trees.tree(IndexTrees.rows(record.number)),
            let documents = trees.tree(IndexTrees.documents(record.number))
        else { throw IndexStore.malformed("an index without its trees") }
        self.rows = rows
        self.documents = documents
        purges = try snapshot.purges(since: record.purge) ?? []
    }

    /// Whether what is kept is not that of the moment.
    package var isBehind: Bool { record.isBehind(snapshot) }

    /// Commits what `body` writes to the index's trees, which then show the documents as of `sequence`.
    package func commit(reaching sequence: UInt64, _ body: (StoreTransaction) throws -> Void) throws {
        var next = record
        next.reach(sequence, of: snapshot)
        if sequence == snapshot.lastSequence { next.phase = .complete }
        let done = next
        try store.write { transaction in
            try body(transaction)
            try indexes.put(done, name, in: transaction)
        }
        record = done
    }

    func run(_ maintainer: any IndexMaintainer) throws -> IndexRecord {
        try maintainer.update(self)
        return record
    }
}
