import Fleece
import RoostBytes

extension WriteTransaction {
    /// Adds a revision that was made elsewhere: what CouchDB calls `new_edits=false`.
    ///
    /// Nothing is in conflict with it; if it is not on top of what is here, it becomes another branch. What is known
    /// already is not stored again, so that neither repetition nor order of such calls matters. Where histories give one
    /// revision different parents, all are kept.
    ///
    /// - Parameters:
    ///   - json: The revision's properties, a JSON object. `_id` and `_deleted` in it must agree with the rest, `_rev`
    ///     with the first of `history`; none of them is stored.
    ///   - id: The document's name.
    ///   - history: The revision, its parent, its grandparent, as far back as is known.
    ///   - isDeleted: Whether it is a tombstone.
    ///   - collection: Where the document is to be.
    /// - Returns: Whether the revision was new here.
    /// - Throws: `corruptRevisionData` for a history with gaps; `missingStub` for an attachment that is a stub of what is not
    ///   here; `invalidDocument`, `invalidDocumentID`. A call that throws one of these has changed nothing: catch the error to
    ///   go on with the transaction.
    @discardableResult
    public func insert(
        json: String, id: String, history: [RevisionID], isDeleted: Bool = false,
        in collection: DocumentCollection
    ) throws(DatabaseError) -> Bool {
        try insert(
            try maker.document(json: json.utf8), id: id, history: history, isDeleted: isDeleted,
            in: collection)
    }

    /// Adds a revision of another database, as ``CollectionSnapshot/document(_:revision:)`` reads it there. The content
    /// of its attachments must be in this database already.
    @discardableResult
    public func insert(
        _ document: Document, history: [RevisionID], in collection: DocumentCollection
    ) throws(DatabaseError) -> Bool {
        var incoming = IncomingDocument(document.body)
        incoming.attachments = document.attachments.mapValues { AttachmentClaim($0) }
        return try insert(
            incoming, id: document.id, history: history, isDeleted: document.isDeleted,
            in: collection)
    }

    /// Adds a revision that was made elsewhere and has been parsed, with the content that came apart from it: see
    /// ``insert(json:id:history:isDeleted:in:)``.
    ///
    /// - Parameters:
    ///   - document: The revision; its ``IncomingDocument/history`` tells which one and from what it came.
    ///   - id: The document's name; by default the `_id` in it.
    ///   - collection: Where the document is to be.
    /// - Throws: `corruptRevisionData` for a document without ID or history, or a history with gaps; `missingStub` for an
    ///   attachment that is a stub of what is not here, `notFound` for content that the database does not have;
    ///   `invalidDocumentID`, `invalidRevisionID`.
    @discardableResult
    public func insert(
        _ document: IncomingDocument, id: String? = nil, in collection: DocumentCollection
    ) throws(DatabaseError) -> Bool {
        guard let id = id ?? document.id else {
            throw ReservedProperties.corrupt(ReservedNames.id, "is missing")
        }
        return try insert(
            document, id: id, history: document.history, isDeleted: document.isDeleted, in: collection)
    }

    /// Adds a revision that was made elsewhere and that another module has taken apart; see
    /// ``insert(json:id:history:isDeleted:in:)``.
    package func insert(
        _ properties: FleeceDocument, reserved: FleeceDocument, contents: NamedValues<Attachment>, id: String,
        history: [RevisionID], in collection: DocumentCollection
    ) throws(DatabaseError) -> Bool {
        try insert(
            try IncomingDocument(properties, reserved, contents), id: id, history: history, isDeleted: false,
            in: collection)
    }

    /// Adds a revision that was parsed.
    func insert(
        _ document: IncomingDocument, id: String, history: [RevisionID], isDeleted: Bool,
        in collection: DocumentCollection
    ) throws(DatabaseError) -> Bool {
        let id = try DocumentID(revisioned: id)
        _ = try document.claims?.check(
            id, expecting: history.first.map { .revision($0) } ?? .absent, mayDelete: true)
        let attachments = try prepare(document.attachments, contents: document.contents)
        let isNew = try writer(collection).insert(
            id, document.body, attachments, isDeleted: isDeleted || document.isDeleted, history: history)
        if isNew { name(attachments) }
        return isNew
    }

    /// Resolves a document's conflicts: the given revision, or an edit of it, becomes the only live leaf.
    ///
    /// The other live leaves get tombstones, so that every peer comes to the same end.
    ///
    /// - Parameters:
    ///   - id: The document's name.
    ///   - revision: The leaf to keep; the winner by default.
    ///   - json: What the document is to be, an edit of the kept leaf; `nil` to leave that as it is.
    ///   - collection: Where it is.
    /// - Returns: The document as it is then; `nil` when there is none.
    /// - Throws: `conflict` when `revision` is not a leaf.
    @discardableResult
    public func resolve(
        _ id: String, keeping revision: RevisionID? = nil, json: String? = nil,
        in collection: DocumentCollection
    ) throws(DatabaseError) -> Document? {
        let name = try DocumentID(revisioned: id)
        let writer = try writer(collection)
        guard let loaded = try writer.load(writer.keyView(name)) else { return nil }
        let kept = try loaded.tree.parentForEdit(of: revision ?? loaded.winner) ?? loaded.winner
        for leaf in loaded.tree.leaves where leaf.id != kept && !leaf.isDeleted {
            _ = try writer.edit(name, .empty, isDeleted: true, expecting: .revision(leaf.id))
        }
        if let json { return try save(json: json, id: id, in: collection, expecting: .revision(kept)) }
        return try document(id, in: collection)
    }

    /// Resolves a document's conflicts with a value: what it encodes to, an edit of one leaf, becomes the only live leaf.
    ///
    /// - Parameters:
    ///   - id: The document's ID.
    ///   - value: What the document is to be.
    ///   - revision: The leaf that it is an edit of; the winner by default.
    ///   - collection: The collection that it is in.
    /// - Returns: The document as it is then; `nil` when there is none.
    /// - Throws: `conflict` when `revision` is not a leaf; `invalidDocument`.
    @discardableResult
    public func resolve(
        _ id: String, with value: some Encodable, keeping revision: RevisionID? = nil,
        in collection: DocumentCollection
    ) throws(DatabaseError) -> Document? {
        let incoming = try maker.document(encoding: value)
        guard let kept = try resolve(id, keeping: revision, in: collection) else { return nil }
        return try save(value: incoming, id: id, in: collection, expecting: .revision(kept.revision))
    }

    /// Removes a document, or some of its leaves with all that only they descend from, as if they had never been.
    ///
    /// Not an edit: nothing of it is replicated, and a peer that still has the revisions may bring them back. What is
    /// left of the document gets a new sequence.
    ///
    /// - Parameters:
    ///   - id: The document's name.
    ///   - revisions: The leaves to remove; by default all.
    ///   - collection: Where it is.
    /// - Returns: Those that were there and are gone.
    @discardableResult
    public func purge(
        _ id: String, revisions: [RevisionID]? = nil, in collection: DocumentCollection
    ) throws(DatabaseError) -> [RevisionID] {
        let name = try DocumentID(revisioned: id)
        let writer = try writer(collection)
        return try purge(name, revisions, by: writer)
    }

    func purge(
        _ id: DocumentID, _ revisions: [RevisionID]?, by writer: CollectionWriter
    ) throws(DatabaseError) -> [RevisionID] {
        let key = writer.keyView(id)
        guard let loaded = try writer.load(key) else { return [] }
        let purged = try writer.purge(key, loaded, revisions)
        if !purged.isEmpty { notePurge(id.string, at: loaded.winner, in: writer.trees) }
        return purged
    }

    /// Sets how many revisions back from a leaf a document's history is kept from now on. Applies to a document when it
    /// is changed next, and to all of them when the database is compacted.
    ///
    /// - Parameters:
    ///   - limit: 1 to 2²⁴; 1000 in a new collection.
    ///   - collection: Whose documents it holds for.
    /// - Throws: `limitExceeded`.
    public func setRevisionLimit(_ limit: Int, in collection: DocumentCollection) throws(DatabaseError) {
        guard limit >= 1, limit <= RevisionTree.maximumCount else {
            throw DatabaseError(
                .limitExceeded,
                "A revision limit is between 1 and \(RevisionTree.maximumCount), not \(limit).")
        }
        try writer(collection).record.revisionLimit = limit
    }
}
