import Roost
import RoostBytes
import RoostStorage
import Synchronization

/// What of an index is kept, and which documents have to be looked at besides for it to show a moment.
package struct StoredIndex: Sendable {
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
package struct OverlayLimit: Error, CustomStringConvertible {
    /// What exceeds the memory.
    package var description: String { "What an index lacks exceeds the memory." }

    /// - Throws: where `size` bytes are more than the limit.
    package static func check(_ size: Int, _ limit: Int) throws(DatabaseError) {
        guard size > limit else { return }
        throw DatabaseError(
            .limitExceeded,
            "The index can't be stored, and what would be made of its documents in memory is more than \(limit >> 20) MB. Open the "
                + "database for writing once, or make room on the disk.", underlyingError: OverlayLimit())
    }
}

// MARK: - Recent changes

/// What the last reader of an index has made of the documents that had changed since the index was kept, so that the next reader
/// looks only at those that have changed after that. Can be used from any thread.
final class RecentChanges: Sendable {
    /// What was made of the changes up to a moment.
    struct Note: Sendable {
        /// How far the index had come since which they are changes.
        let kept: IndexRecord
        /// The moment's sequence and purge sequence.
        let sequence: UInt64
        let purge: UInt64
        let value: any Sendable

        func isEarlier(than other: Self) -> Bool { (sequence, purge) < (other.sequence, other.purge) }
    }

    private let last = Mutex<Note?>(nil)

    var note: Note? { last.withLock { $0 } }

    /// Keeps a note, unless there is one of a later moment.
    func keep(_ note: Note) {
        last.withLock { last in
            if let last, last.kept == note.kept, note.isEarlier(than: last) { return }
            last = note
        }
    }
}

extension StoredIndex {
    /// What a reader at an earlier moment has noted of the documents that had changed by then, with the IDs of those that have
    /// changed since; `nil` where all of ``changed`` have to be looked at.
    package func noted<T: Sendable>(
        _ type: T.Type
    ) throws(DatabaseError) -> (value: T, since: Set<ByteKey>)? {
        guard let note = recent?.note, note.kept == record, let value = note.value as? T,
            note.sequence <= collection.lastSequence, note.purge <= collection.purgeSequence,
            let purges = try collection.purges(since: note.purge)
        else { return nil }
        var since = Set(purges.map { ByteKey($0.id) })
        for change in try collection.changes(since: note.sequence) { since.insert(ByteKey(change.id)) }
        return (value, since)
    }

    /// Notes what was made of the documents in ``changed``, for readers at later moments.
    package func note(_ value: some Sendable) {
        // What an index has that is ahead of the moment says nothing of later ones.
        guard let record, !record.isAhead(of: collection) else { return }
        recent?.keep(
            RecentChanges.Note(
                kept: record, sequence: collection.lastSequence, purge: collection.purgeSequence, value: value
            )
        )
    }
}

// MARK: - Index overlay

/// What has to be changed in an index as it is kept for it to show another moment: rows to pass over, and rows to add.
struct IndexOverlay: Sendable {
    /// Keys of rows that the index has, sorted.
    private(set) var hidden: [Key] = []
    /// Rows in their stead, sorted by key.
    private(set) var added: [IndexRow] = []
    /// The IDs of the documents whose rows were looked for.
    private var documents: Set<ByteKey> = []
    /// About how many bytes of memory it takes.
    private var size = 0

    /// Nothing to change.
    static let none = IndexOverlay()

    private init() {}

    /// All documents of a moment, over no index at all.
    ///
    /// - Throws: `limitExceeded` where that exceeds the memory that it may take, and what `step` throws, which is called now and then.
    init(all kept: StoredIndex, _ definition: IndexDefinition, _ step: () throws -> Void) throws {
        let snapshot = kept.collection
        let cursor = try snapshot.cursor()
        var page: [Document] = []
        repeat {
            try step()
            page.removeAll(keepingCapacity: true)
            var bytes = 0
            while page.count < 4_096, bytes < 16 << 20, let document = try cursor.next() {
                page.append(document)
                bytes += document.fleece.bytes.count
            }
            try add(page, definition, kept)
        } while !page.isEmpty
        added.sort { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// The documents of `ids` as they are at the moment of what is kept, in the place of what the index has of them. What readers at
    /// earlier moments have found out is used, and noted for those at later ones.
    init(_ ids: Set<ByteKey>, _ definition: IndexDefinition, over kept: StoredIndex) throws {
        if let (known, since) = try kept.noted(Self.self) {
            self = known
            try look(at: since, definition, kept)
        } else {
            try look(at: ids, definition, kept)
        }
        kept.note(self)
    }

    private mutating func look(
        at ids: Set<ByteKey>, _ definition: IndexDefinition, _ kept: StoredIndex
    ) throws {
        guard !ids.isEmpty else { return }
        let unknown = ids.subtracting(documents).map(\.text)
        for (id, keys) in zip(unknown, try kept.documents?.values(unknown.map { Key($0) }) ?? []) {
            guard let keys else { continue }
            size += keys.count
            try OverlayLimit.check(size, kept.memoryLimit)
            for key in try DocumentRows.keys(keys, of: Array(id.utf8)) {
                guard try kept.rows?.contains(Key(key)) == true else {
                    throw IndexStore.malformed("a document with a row that is missing")
                }
                hidden.append(Key(key))
            }
        }
        if unknown.count < ids.count {
            let replaced = Set(ids.map { Array($0.text.utf8)[...] })
            added.removeAll { replaced.contains($0.documentID) }
        }
        documents.formUnion(ids)
        let changed = ids.map(\.text)
        for start in stride(from: 0, to: changed.count, by: Self.pageSize) {
            let page = Array(changed[start..<min(start + Self.pageSize, changed.count)])
            try add(try kept.collection.documents(ids: page), definition, kept)
        }
        hidden.sort()
        added.sort { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// So many changed documents are in memory at once.
    private static let pageSize = 64

    private mutating func add(
        _ documents: [Document?], _ definition: IndexDefinition, _ kept: StoredIndex
    ) throws {
        for rows in try IndexMapping.rows(of: documents, kept.collection, definition) {
            for row in rows { size += row.key.count + row.value.count + 96 }
            try OverlayLimit.check(size, kept.memoryLimit)
            added += rows
        }
    }

    var isEmpty: Bool { hidden.isEmpty && added.isEmpty }

    /// Whether the index's row of that key is passed over. O(log n) for n hidden ones.
    func hides(_ key: ByteView) -> Bool {
        guard !hidden.isEmpty else { return false }
        let place = hidden.partitioningIndex { $0.bytes.withView { $0.compare(key) >= 0 } }
        return place < hidden.count && hidden[place].bytes.withView { $0.compare(key) == 0 }
    }

    /// The places in ``hidden`` of the keys in `range`.
    func hidden(in range: KeyRange) -> Range<Int> {
        let lower = range.lower.map { key in hidden.partitioningIndex { $0 >= key } } ?? 0
        let upper = range.upper.map { key in hidden.partitioningIndex { $0 >= key } } ?? hidden.count
        return lower..<max(lower, upper)
    }

    /// The places in ``added`` of the rows in `range`.
    func added(in range: KeyRange) -> Range<Int> {
        let lower = range.lower.map { key in added.partitioningIndex { Key($0.key) >= key } } ?? 0
        let upper = range.upper.map { key in added.partitioningIndex { Key($0.key) >= key } } ?? added.count
        return lower..<max(lower, upper)
    }
}
