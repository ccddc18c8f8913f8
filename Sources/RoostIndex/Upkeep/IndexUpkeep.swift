import Roost
import RoostStorage

/// Keeps an index that has something else than rows, in the two trees that every index has.
package protocol IndexKeeper: Sendable {
    /// Brings what is kept up to the upkeep's moment by committing to it, as often as it likes. Called by one thread at a time.
    /// What was committed stays when it throws, and is where the next call goes on.
    func bringUp(_ upkeep: IndexUpkeep) throws
}

/// The bringing up of one index. Belongs to the thread that it is handed to.
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

    func run(_ keeper: any IndexKeeper) throws -> IndexRecord {
        try keeper.bringUp(self)
        return record
    }
}
