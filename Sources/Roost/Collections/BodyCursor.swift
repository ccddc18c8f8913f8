import RoostBytes
import RoostStorage

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
