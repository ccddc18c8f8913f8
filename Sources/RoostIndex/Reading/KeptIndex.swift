import Roost
import RoostStorage

/// What of an index is kept, and which documents have to be looked at besides for it to show a moment.
package struct KeptIndex: Sendable {
    /// The moment.
    package let collection: CollectionSnapshot
    /// The sequence up to which the index was kept.
    package var sequence: UInt64 {
        // What is made of all documents is up to date.
        record?.sequence ?? (changed == nil ? collection.lastSequence : 0)
    }
    /// Its trees; `nil` where it was never built.
    package let rows: TreeView?
    package let documents: TreeView?
    /// The IDs of documents that may be other ones in the index than at that moment; `nil` where that goes for all.
    package let changed: Set<ByteKey>?
    /// How far what is kept has come; `nil` where nothing is.
    let record: IndexRecord?
    let recent: RecentChanges?
    /// About how many bytes a reader may make of documents that the index lacks.
    package var memoryLimit = Int.max

    init(_ collection: CollectionSnapshot, changed: Set<ByteKey>?) {
        self.collection = collection
        self.changed = changed
        rows = nil
        documents = nil
        record = nil
        recent = nil
    }

    init(
        _ collection: CollectionSnapshot, _ store: Snapshot, _ record: IndexRecord, _ changed: Set<ByteKey>,
        _ recent: RecentChanges
    ) throws(StoreError) {
        guard let rows = store.tree(IndexTrees.rows(record.number)),
            let documents = store.tree(IndexTrees.documents(record.number))
        else { throw IndexStore.malformed("an index without its trees") }
        self.collection = collection
        self.changed = changed
        self.recent = recent
        self.record = record
        self.rows = try store[rows]
        self.documents = try store[documents]
    }
}

/// Why an index can't be read: what it lacks exceeds the memory. It is the underlying error of a `DatabaseError` of the code
/// `limitExceeded`.
package struct OverlayLimit: Error {
    /// - Throws: where `size` bytes are more than the limit.
    package static func check(_ size: Int, _ limit: Int) throws(DatabaseError) {
        guard size > limit else { return }
        throw DatabaseError(
            .limitExceeded,
            "The index can't be stored, and what would be made of its documents in memory is more than \(limit >> 20) MB. Open the "
                + "database for writing once, or make room on the disk.", underlying: OverlayLimit())
    }
}
