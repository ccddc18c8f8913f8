import RoostBytes

/// What saving a ``MutableDocument`` does when somebody saved first.
public enum SavePolicy: Sendable {
    /// Throws `conflict`, and saves nothing.
    case failOnConflict
    /// Saves on top of whatever is there.
    case lastWriteWins
    /// Saves what the handler makes of both: the draft that was to be saved, and the document that is there, `nil` when
    /// it was deleted. The handler runs within the write; keep it short. A `nil` from it throws `conflict`.
    case merge(@Sendable (_ mine: MutableDocument, _ theirs: Document?) -> MutableDocument?)
}

extension WriteBatch {
    /// Saves a draft in place of the revision that it was copied from.
    ///
    /// - Parameters:
    ///   - draft: The draft; it gets the new revision, and an ID if it had none, so that it can be saved again. Where a
    ///     merge decided, it gets the merged properties, too.
    ///   - collection: Where it is to be.
    ///   - policy: What to do when that revision has been edited, or when a new document's ID is taken.
    /// - Throws: `conflict`, `corruptRevisionData`, `invalidDocument`, `invalidDocumentID`.
    @discardableResult
    public func save(
        _ draft: inout MutableDocument, in collection: DocumentCollection,
        onConflict policy: SavePolicy = .failOnConflict
    ) throws(DatabaseError) -> Document {
        let id = try DocumentID(revisioned: draft.id ?? core.makeDocumentID())
        let expectation: DocumentExpectation = draft.revision.map { .revision($0) } ?? .absent
        let document: Document
        switch policy {
        case .failOnConflict:
            document = try save(draft, id, in: collection, expecting: expectation)
        case .lastWriteWins:
            document = try save(draft, id, in: collection, expecting: .any)
        case .merge(let handler):
            do throws(DatabaseError) {
                document = try save(draft, id, in: collection, expecting: expectation)
            } catch {
                let theirs = try get(id.string, in: collection)
                guard error.code == .conflict, let merged = handler(draft, theirs) else { throw error }
                draft.properties = merged.properties
                draft.attachments = merged.attachments
                document = try save(draft, id, in: collection, expecting: .any)
            }
        }
        draft.wasSaved(as: document, in: outcome)
        return document
    }

    /// Saves the properties and attachments of a draft.
    func save(
        _ draft: MutableDocument, _ id: DocumentID, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation
    ) throws(DatabaseError) -> Document {
        var document = try maker.document(draft.properties)
        if document.attachments == nil {
            document.attachments = draft.attachments.mapValues { AttachmentClaim($0) }
        }
        return try save(
            document, id: id.string, in: collection, expecting: expectation,
            mayDelete: false)
    }

    /// Deletes a document in the revision that was read: see ``delete(_:in:expecting:)``.
    ///
    /// - Throws: `conflict` when it has been edited since.
    @discardableResult
    public func delete(_ document: Document, in collection: DocumentCollection) throws(DatabaseError)
        -> Document?
    {
        try delete(document.id, in: collection, expecting: .revision(document.revision))
    }
}

extension DocumentCollection {
    /// Saves a draft, durably: see ``WriteBatch/save(_:in:onConflict:)``.
    @discardableResult
    public func save(
        _ draft: inout MutableDocument, onConflict policy: SavePolicy = .failOnConflict
    ) throws(DatabaseError) -> Document {
        var saved = draft
        let document = try write { (batch) throws(DatabaseError) in
            try batch.save(&saved, in: self, onConflict: policy)
        }
        draft = saved
        return document
    }

    /// Deletes a document in the revision that was read, durably: see `delete(_:in:)`.
    @discardableResult
    public func delete(_ document: Document) throws(DatabaseError) -> Document? {
        try write { (batch) throws(DatabaseError) in try batch.delete(document, in: self) }
    }

    /// Removes a document as if it had never been, durably: see ``WriteBatch/purge(_:revisions:in:)``.
    @discardableResult
    public func purge(_ id: String, revisions: [RevisionID]? = nil) throws(DatabaseError) -> [RevisionID] {
        try write { (batch) throws(DatabaseError) in try batch.purge(id, revisions: revisions, in: self) }
    }

    /// Resolves a document's conflicts, durably: see ``WriteBatch/resolve(_:keeping:json:in:)``.
    @discardableResult
    public func resolve(
        _ id: String, keeping revision: RevisionID? = nil, json: String? = nil
    ) throws(DatabaseError) -> Document? {
        try write { (batch) throws(DatabaseError) in
            try batch.resolve(id, keeping: revision, json: json, in: self)
        }
    }

    /// Resolves a document's conflicts with a value, durably: see ``WriteBatch/resolve(_:with:keeping:in:)``.
    @discardableResult
    public func resolve(
        _ id: String, with value: some Encodable, keeping revision: RevisionID? = nil
    ) throws(DatabaseError) -> Document? {
        try write { (batch) throws(DatabaseError) in
            try batch.resolve(id, with: value, keeping: revision, in: self)
        }
    }
}
