import RoostBytes
import RoostStorage

/// A document's place in its collection's changes: the last thing that happened to it.
///
/// Each document stands there once, under the sequence of its newest change.
public struct DocumentChange: Sendable, Hashable {
    /// The document's name in its collection.
    public let id: String
    /// The collection's update sequence when the document changed; 0 for a purge, which has none.
    public let sequence: UInt64
    /// The winning revision.
    public let revision: RevisionID
    /// Whether the document is deleted.
    public let isDeleted: Bool
    /// Whether the document has more than one live leaf.
    public let isConflicted: Bool
    /// Whether the document has more than one leaf, live or deleted; ``CollectionSnapshot/leaves(of:)`` tells them.
    public let hasSeveralLeaves: Bool
    /// Whether the winning revision has attachments; blobs that only its properties name do not count.
    public let hasAttachments: Bool
    /// Whether the document, or some of its leaves, were purged. Only listeners are told of that; it is no edit and
    /// stands nowhere in the changes. The revision is the one that had won before.
    public let isPurged: Bool

    init(sequence: UInt64, _ stored: StoredChange) throws(DatabaseError) {
        self.init(
            id: try String(documentID: stored.id), sequence: sequence, revision: stored.winner,
            flags: stored.flags)
    }

    init(
        id: String, sequence: UInt64, revision: RevisionID, flags: StoredDocument.Flags,
        isPurged: Bool = false
    ) {
        self.id = id
        self.sequence = sequence
        self.revision = revision
        isDeleted = flags.contains(.deleted)
        isConflicted = flags.contains(.conflicted)
        hasSeveralLeaves = flags.contains(.severalLeaves)
        hasAttachments = flags.contains(.hasAttachments)
        self.isPurged = isPurged
    }
}

extension DocumentChange: CustomStringConvertible {
    /// Sequence, ID and revision: `12: n1 at 3-5d…, deleted`.
    public var description: String {
        "\(sequence): \(id) at \(revision)\(isPurged ? ", purged" : isDeleted ? ", deleted" : "")"
    }
}

extension String {
    /// A document ID that was stored.
    ///
    /// Nearly all IDs are ASCII, which needs no validation.
    init(documentID bytes: ByteView) throws(DatabaseError) {
        if bytes.isASCII {
            self = unsafe String(unsafeUninitializedCapacity: bytes.count) { target in
                unsafe UnsafeMutableRawBufferPointer(target).copyMemory(from: bytes.buffer)
                return bytes.count
            }
            return
        }
        let text = unsafe String(validating: bytes.buffer, as: UTF8.self)
        guard let text else { throw DatabaseError.damaged("The ID of a document") }
        self = text
    }
}

// MARK: - ChangeCursor

/// Walks over the changes of a collection in the order of their sequences, holding one at a time in memory.
///
/// Use it from one thread at a time.
public final class ChangeCursor {
    private let cursor: Cursor
    private let isDescending: Bool

    /// Over the changes before `sequence`, newest first.
    init(_ changes: TreeView, before sequence: UInt64) {
        cursor = changes.cursor(KeyRange(upper: Key(Sequences.key(sequence))))
        isDescending = true
    }

    init(_ changes: TreeView, since sequence: UInt64, isDescending: Bool) {
        let isPastAll = sequence == .max
        cursor = changes.cursor(
            isPastAll ? KeyRange(lower: [], upper: []) : KeyRange(lower: Key(Sequences.key(sequence + 1))))
        self.isDescending = isDescending
    }

    /// The next change; `nil` after the last.
    public func next() throws(DatabaseError) -> DocumentChange? {
        guard
            try translating({ () throws(StoreError) in try isDescending ? cursor.previous() : cursor.next() })
        else {
            return nil
        }
        return try DocumentChange(sequence: Sequences.number(cursor.keyView), StoredChange(cursor.inline))
    }

    /// The document of `change`, which must be what ``next()`` answered last. Found without a look-up by ID.
    public func document(of change: DocumentChange) throws(DatabaseError) -> Document {
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
    public func changeCursor(since sequence: UInt64 = 0, isDescending: Bool = false) throws(DatabaseError)
        -> ChangeCursor
    {
        ChangeCursor(try reader.changes, since: sequence, isDescending: isDescending)
    }

    /// A cursor over the changes before `sequence`, newest first.
    package func changeCursor(before sequence: UInt64) throws(DatabaseError) -> ChangeCursor {
        ChangeCursor(try reader.changes, before: sequence)
    }

    /// The changes after `sequence`, oldest first unless `descending`, at most `limit` of them.
    public func changes(
        since sequence: UInt64 = 0, limit: Int = .max, isDescending: Bool = false
    ) throws(DatabaseError) -> [DocumentChange] {
        guard sequence < lastSequence else { return [] }
        return try reader.changes(since: sequence, limit: limit, isDescending: isDescending)
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
        since sequence: UInt64, limit: Int, isDescending: Bool = false
    ) throws(DatabaseError) -> [DocumentChange] {
        let cursor = ChangeCursor(try changes, since: sequence, isDescending: isDescending)
        var changes: [DocumentChange] = []
        while changes.count < limit, let change = try cursor.next() { changes.append(change) }
        return changes
    }
}
