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

// MARK: - DocumentSelection

/// Which documents to read, by their IDs, and in which order.
///
/// IDs order by their UTF-8 bytes.
public struct DocumentSelection: Sendable, Hashable {
    /// Only IDs that begin so.
    public var prefix: String?
    /// Only IDs from this one on.
    public var from: String?
    /// Only IDs before this one, or up to and with it: see ``includesEnd``.
    public var to: String?
    /// Whether ``to`` itself belongs to the selection. Default: true.
    public var includesEnd = true
    /// How many to pass over at first; takes time in proportion.
    public var skip = 0
    /// How many to read at most.
    public var limit = Int.max
    /// From the last to the first.
    public var isDescending = false
    /// Also those that are deleted, as tombstones.
    public var includesDeleted = false

    /// All documents that are not deleted, in ascending order, but for what is given.
    public init(
        prefix: String? = nil, from: String? = nil, to: String? = nil, limit: Int = .max,
        isDescending: Bool = false
    ) {
        self.prefix = prefix
        self.from = from
        self.to = to
        self.limit = limit
        self.isDescending = isDescending
    }

    /// The keys that are selected.
    var range: KeyRange {
        var lower = from.map { Key($0) }
        var upper = to.map { Key(includesEnd ? Array($0.utf8) + [0] : Array($0.utf8)) }
        if let prefix {
            let range = KeyRange(prefix: Key(prefix))
            lower = max(lower ?? [], range.lower ?? [])
            if let end = range.upper { upper = min(upper ?? end, end) }
        }
        return KeyRange(lower: lower, upper: upper)
    }
}

// MARK: - BodyCursor

/// Walks over documents in the order of their IDs and shows the bytes of their bodies where they are: no document is made,
/// nothing is copied.
///
/// What it shows is valid until the cursor is used again. Use it from one thread at a time.
package final class BodyCursor {
    private let cursor: Cursor
    private let isDescending: Bool
    private let includesDeleted: Bool

    init(_ documents: TreeView, _ range: KeyRange, isDescending: Bool, includesDeleted: Bool) {
        cursor = documents.cursor(range)
        self.isDescending = isDescending
        self.includesDeleted = includesDeleted
    }

    /// Goes to the next document; `false` after the last.
    package func next() throws(DatabaseError) -> Bool {
        let (cursor, isDescending) = (cursor, isDescending)
        while try translating({ () throws(StoreError) in try isDescending ? cursor.previous() : cursor.next()
        }) {
            if includesDeleted { return true }
            if try !StoredDocument.flags(of: cursor.inline).contains(.deleted) { return true }
        }
        return false
    }

    /// The document's ID.
    package var id: ByteView { cursor.keyView }

    /// The properties as Fleece.
    package func body() throws(DatabaseError) -> ByteView {
        try DocumentBody.properties(ofStored: try storedBody())
    }

    /// The body as it is stored.
    func storedBody() throws(DatabaseError) -> ByteView {
        let cursor = cursor
        return try translating { () throws(StoreError) in try cursor.valueView() }
    }

    /// The document's entry; see ``StoredDocument``.
    var entry: ByteView { cursor.inline }

    /// What is known of the document besides its properties.
    package func metadata() throws(DatabaseError) -> BodyMetadata {
        BodyMetadata(try StoredDocument(cursor.inline))
    }

    /// Whether what was shown since the cursor was made is what the file holds.
    ///
    /// - Throws: `damaged` or `inputOutput` when a part of the file could not be read.
    package func verify() throws(DatabaseError) {
        let cursor = cursor
        try translating { () throws(StoreError) in try cursor.checkMapping() }
    }
}

/// What is known of a document besides its properties.
package struct BodyMetadata {
    /// The document's place in the collection's changes.
    package let sequence: UInt64
    /// Whether the winner is a tombstone.
    package let isDeleted: Bool
    /// When the document is to be purged, in microseconds since 1970; `nil` for never.
    package let expiration: UInt64?
    /// The winning revision.
    package let revision: RevisionID
    /// Whether that has attachments.
    package let hasAttachments: Bool
    /// Whether there are other live leaves.
    package let isConflicted: Bool

    /// What a document knows, which is not when it is to be purged.
    package init(_ document: Document) {
        sequence = document.sequence
        isDeleted = document.isDeleted
        expiration = nil
        revision = document.revision
        hasAttachments = document.hasAttachments
        isConflicted = document.isConflicted
    }

    init(_ entry: StoredDocument) {
        sequence = entry.sequence
        isDeleted = entry.flags.contains(.deleted)
        expiration = entry.expiration
        revision = entry.winner
        hasAttachments = entry.flags.contains(.hasAttachments)
        isConflicted = entry.flags.contains(.conflicted)
    }
}

extension CollectionSnapshot {
    /// A cursor over the bodies of the documents with IDs in a range; see ``BodyCursor``.
    package func bodyCursor(
        _ selection: DocumentSelection = DocumentSelection()
    ) throws(DatabaseError) -> BodyCursor {
        BodyCursor(
            try reader.documents, selection.range, isDescending: selection.isDescending,
            includesDeleted: selection.includesDeleted)
    }

    /// Looks bodies up by the documents' IDs.
    package var bodies: BodyLookup { get throws(DatabaseError) { BodyLookup(try reader.documents) } }
}

/// Looks up the bodies of documents of one moment, whose tree is found once. Can be used from any thread.
package struct BodyLookup: Sendable {
    private let documents: TreeView

    fileprivate init(_ documents: TreeView) { self.documents = documents }

    /// Calls `visit` with the properties of one document as Fleece, valid during the call; returns whether it is there.
    ///
    /// - Parameters:
    ///   - id: The UTF-8 of the document's ID.
    ///   - includesDeleted: Whether a tombstone counts.
    ///   - knowsMetadata: Whether `visit` is told what is known of the document besides.
    package func find(
        _ id: ByteView, includesDeleted: Bool, knowsMetadata: Bool,
        _ visit: (BodyMetadata?, ByteView) -> Void
    ) throws(DatabaseError) -> Bool {
        var place: ValueReference?
        var metadata: BodyMetadata?
        var failure: DatabaseError?
        let isFound = try translating { () throws(StoreError) in
            try documents.visitEntry(id) { entry, value in
                do throws(DatabaseError) {
                    let isDeleted = try StoredDocument.flags(of: entry).contains(.deleted)
                    guard includesDeleted || !isDeleted else { return }
                    guard let value else { throw DatabaseError.damaged("The entry of a document") }
                    if knowsMetadata { metadata = BodyMetadata(try StoredDocument(entry)) }
                    place = value
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
        guard isFound, let place else { return false }
        try translating { () throws(StoreError) in
            try documents.visitValue(at: place) { stored in
                do throws(DatabaseError) {
                    visit(metadata, try DocumentBody.properties(ofStored: stored))
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
        return true
    }
}

extension DocumentBody {
    /// The part of a stored body that holds the properties.
    static func properties(ofStored stored: ByteView) throws(DatabaseError) -> ByteView {
        guard !stored.isEmpty else { throw DatabaseError.damaged("The body of a document") }
        if stored[0] == fleece { return stored.dropFirst(1) }
        guard stored[0] == fleeceWithAttachments else {
            throw DatabaseError.unreadable(bodyFormat: stored[0])
        }
        var reader = ByteReader(stored.dropFirst(1))
        do {
            let length = try reader.varint()
            guard length <= stored.count - 1 - reader.position else { throw MalformedBytes(at: 0) }
            return stored.dropFirst(1 + reader.position + Int(length))
        } catch {
            throw DatabaseError.damaged("The attachments of a document")
        }
    }
}
