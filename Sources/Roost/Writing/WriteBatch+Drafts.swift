extension WriteBatch {
    /// Saves a draft where the document is as expected, whatever revision the draft was copied from.
    ///
    /// - Parameters:
    ///   - draft: The draft; it gets the new revision, and an ID if it had none.
    ///   - collection: Where it is to be.
    ///   - expectation: What the document must be like.
    /// - Throws: `conflict`, `corruptRevisionData`, `invalidDocument`, `invalidDocumentID`.
    @discardableResult
    public func save(
        _ draft: inout MutableDocument, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation
    ) throws(DatabaseError) -> Document {
        let id = try DocumentID(revisioned: draft.id ?? core.makeDocumentID())
        let document = try save(draft, id, in: collection, expecting: expectation)
        draft.wasSaved(as: document, in: outcome)
        return document
    }
}

extension DocumentCollection {
    /// Saves a draft where the document is as expected, durably, as ``WriteBatch`` does.
    @discardableResult
    public func save(
        _ draft: inout MutableDocument, expecting expectation: DocumentExpectation
    ) throws(DatabaseError) -> Document {
        var saved = draft
        let document = try write { (batch) throws(DatabaseError) in
            try batch.save(&saved, in: self, expecting: expectation)
        }
        draft = saved
        return document
    }

    /// Saves a draft where the document is as expected, durably, as ``WriteBatch`` does.
    @discardableResult
    public func save(
        _ draft: inout MutableDocument, expecting expectation: DocumentExpectation
    ) async throws(DatabaseError) -> Document {
        let unsaved = draft
        let (saved, document) = try await write { (batch) throws(DatabaseError) in
            var saved = unsaved
            let document = try batch.save(&saved, in: self, expecting: expectation)
            return (saved, document)
        }
        draft = saved
        return document
    }
}
