import RoostBytes
import RoostStorage

/// Walks over documents in the order of their IDs, holding one at a time in memory.
///
/// ```swift
/// let cursor = try snapshot[notes].cursor(DocumentSelection(prefix: "2026-"))
/// while let document = try cursor.next() { … }
/// ```
///
/// Use it from one thread at a time.
public final class DocumentCursor {
    private let cursor: Cursor
    private let selection: DocumentSelection
    private var toSkip: Int
    private var left: Int

    init(_ documents: TreeView, _ selection: DocumentSelection) {
        cursor = documents.cursor(selection.range)
        self.selection = selection
        toSkip = max(selection.skip, 0)
        left = max(selection.limit, 0)
    }

    /// The next document; `nil` after the last.
    public func next() throws(DatabaseError) -> Document? {
        guard let found = try nextEntry() else { return nil }
        let body = try cursor.body()
        return Document(
            id: found.id, revision: found.revision, sequence: found.sequence, flags: found.flags,
            body: body)
    }

    /// What is known of the next document without reading its body; `nil` after the last.
    public func nextChange() throws(DatabaseError) -> DocumentChange? {
        try nextEntry().map {
            DocumentChange(id: $0.id, sequence: $0.sequence, revision: $0.revision, flags: $0.flags)
        }
    }

    private func nextEntry() throws(DatabaseError) -> (
        id: String, revision: RevisionID, sequence: UInt64, flags: StoredDocument.Flags
    )? {
        while left > 0, try advance() {
            let entry = try StoredDocument(cursor.inline)
            guard selection.includesDeleted || !entry.flags.contains(.deleted) else { continue }
            if toSkip > 0 {
                toSkip -= 1
                continue
            }
            left -= 1
            return (try String(documentID: cursor.keyView), entry.winner, entry.sequence, entry.flags)
        }
        left = 0
        return nil
    }

    private func advance() throws(DatabaseError) -> Bool {
        let isDescending = selection.isDescending
        return try translating { () throws(StoreError) in try isDescending ? cursor.previous() : cursor.next()
        }
    }
}

extension CollectionSnapshot {
    /// A cursor over the documents that `selection` tells.
    public func cursor(_ selection: DocumentSelection = DocumentSelection()) throws(DatabaseError)
        -> DocumentCursor
    {
        DocumentCursor(try reader.documents, selection)
    }

    /// How many documents `selection` tells, whatever its skip and limit. O(log n) while no document is deleted, otherwise one look
    /// at each in the range.
    package func count(of selection: DocumentSelection) throws(DatabaseError) -> Int {
        let deleted = try deletedCount
        if selection.includesDeleted || deleted == 0 {
            let documents = try reader.documents
            let count = try translating { () throws(StoreError) in try documents.count(in: selection.range) }
            return Int(clamping: count)
        }
        var all = selection
        (all.skip, all.limit) = (0, .max)
        let cursor = try cursor(all)
        var count = 0
        while try cursor.nextChange() != nil { count += 1 }
        return count
    }

    /// The documents that `selection` tells, all in memory at once. For large collections take ``cursor(_:)``.
    public func documents(_ selection: DocumentSelection) throws(DatabaseError) -> [Document] {
        let cursor = try cursor(selection)
        var documents: [Document] = []
        while let document = try cursor.next() { documents.append(document) }
        return documents
    }

    /// The documents with IDs in a range: see ``DocumentSelection`` and ``documents(_:)``.
    public func documents(
        prefix: String? = nil, from: String? = nil, to: String? = nil, limit: Int = .max,
        isDescending: Bool = false
    ) throws(DatabaseError) -> [Document] {
        try documents(
            DocumentSelection(prefix: prefix, from: from, to: to, limit: limit, isDescending: isDescending))
    }
}
