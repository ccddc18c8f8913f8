import RoostBytes
import RoostStorage

/// Walks over the changes of a collection in the order of their sequences, holding one at a time in memory.
///
/// Use it from one thread at a time.
public final class ChangeCursor {
    private let cursor: Cursor
    private let descending: Bool

    /// Over the changes before `sequence`, newest first.
    init(_ changes: TreeView, before sequence: UInt64) {
        cursor = changes.cursor(KeyRange(upper: Key(Sequences.key(sequence))))
        descending = true
    }

    init(_ changes: TreeView, since sequence: UInt64, descending: Bool) {
        let isPastAll = sequence == .max
        cursor = changes.cursor(
            isPastAll ? KeyRange(lower: [], upper: []) : KeyRange(lower: Key(Sequences.key(sequence + 1))))
        self.descending = descending
    }

    /// The next change; `nil` after the last.
    public func next() throws(DatabaseError) -> Change? {
        guard try translating({ () throws(StoreError) in try descending ? cursor.previous() : cursor.next() })
        else {
            return nil
        }
        return try Change(sequence: Sequences.number(cursor.keyView), StoredChange(cursor.inline))
    }

    /// The document of `change`, which must be what ``next()`` answered last. Found without a look-up by ID.
    public func document(of change: Change) throws(DatabaseError) -> Document {
        let body = try cursor.body()
        var flags: StoredDocument.Flags = []
        if change.isDeleted { flags.insert(.deleted) }
        if change.isConflicted { flags.insert(.conflicted) }
        return Document(
            id: change.id, revision: change.revision, sequence: change.sequence, flags: flags,
            body: body)
    }
}

extension CollectionSnapshot {
    /// A cursor over the changes after `sequence`; over all of them by default.
    public func changeCursor(since sequence: UInt64 = 0, descending: Bool = false) throws(DatabaseError)
        -> ChangeCursor
    {
        ChangeCursor(try reader.changes, since: sequence, descending: descending)
    }

    /// A cursor over the changes before `sequence`, newest first.
    package func changeCursor(before sequence: UInt64) throws(DatabaseError) -> ChangeCursor {
        ChangeCursor(try reader.changes, before: sequence)
    }

    /// The changes after `sequence`, oldest first unless `descending`, at most `limit` of them.
    public func changes(
        since sequence: UInt64 = 0, limit: Int = .max, descending: Bool = false
    ) throws(DatabaseError) -> [Change] {
        guard sequence < lastSequence else { return [] }
        return try reader.changes(since: sequence, limit: limit, descending: descending)
    }

    /// How many documents have changed after `sequence`. O(log n); O(1) where none has.
    public func changeCount(since sequence: UInt64) throws(DatabaseError) -> Int {
        guard sequence < lastSequence else { return 0 }
        let changes = try reader.changes
        let count = try translating { () throws(StoreError) in
            try changes.count(in: KeyRange(lower: Key(Sequences.key(sequence + 1))))
        }
        return Int(clamping: count)
    }
}

extension CollectionReader {
    /// The changes after `sequence`, at most `limit` of them.
    func changes(
        since sequence: UInt64, limit: Int, descending: Bool = false
    ) throws(DatabaseError) -> [Change] {
        let cursor = ChangeCursor(try changes, since: sequence, descending: descending)
        var changes: [Change] = []
        while changes.count < limit, let change = try cursor.next() { changes.append(change) }
        return changes
    }
}
