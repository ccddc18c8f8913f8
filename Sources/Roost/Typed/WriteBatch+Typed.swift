extension WriteBatch {
    /// Saves what `value` encodes to, which must be an object, as a new document.
    ///
    /// - Parameters:
    ///   - value: What to save.
    ///   - id: The document's name; where there is none, the `id` of an `Identifiable` value, or else a new one.
    ///   - collection: Where it is to be.
    ///   - expectation: What the document must be like. By default there must be none, or a deleted one: a value that was
    ///     not read with its revision must not replace a document unnoticed. `.any` replaces whatever is there. Where the
    ///     value has a property `_rev`, that revision is expected.
    /// - Throws: `conflict`; `invalidDocument`; `invalidDocumentID`, also where an `id` of the value can't be one;
    ///   `corruptRevisionData`.
    @discardableResult
    public func save(
        _ value: some Encodable, id: String? = nil, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation? = nil
    ) throws(DatabaseError) -> Document {
        try save(
            value: try maker.document(encoding: value), id: id, in: collection, expecting: expectation)
    }

    /// Saves a value that was encoded before.
    func save(
        value: IncomingDocument, id: String?, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation?
    ) throws(DatabaseError) -> Document {
        let standard: DocumentExpectation = value.claims?.revisionText == nil ? .absent : .any
        return try save(
            value, id: id, in: collection, expecting: expectation ?? standard, mayDelete: false)
    }

    /// Saves a value in place of the revision that it was read at.
    ///
    /// - Parameters:
    ///   - value: The value; it gets the new revision, so that it can be changed and saved again.
    ///   - collection: Where it was read.
    ///   - expectation: What the document must be like; by default as it was read. `.any` replaces whatever is there.
    /// - Throws: `conflict` when the document was changed since; `invalidDocument`; `invalidDocumentID` when the value's
    ///   own `id` was changed.
    @discardableResult
    public func save<Value: Encodable>(
        _ value: inout Stored<Value>, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation? = nil
    ) throws(DatabaseError) -> Document {
        let document = try save(
            value: try maker.document(encoding: value), id: value.id, in: collection,
            expecting: expectation ?? .revision(value.revision))
        value.wasSaved(as: document, in: outcome)
        return document
    }

    /// The document's properties decoded as a `T`, as they are with the changes made so far; `nil` when there is none or it
    /// is deleted.
    ///
    /// - Throws: `decodingFailed` when the properties are not those of a `T`.
    public func get<T: Decodable>(
        _ id: String, as type: T.Type = T.self, in collection: DocumentCollection
    ) throws(DatabaseError) -> Stored<T>? {
        try get(id, in: collection).map { (document) throws(DatabaseError) in try Stored(document) }
    }

    /// Changes a document: reads it as a `T`, hands that to `change`, and saves it.
    ///
    /// - Parameters:
    ///   - id: The document's name.
    ///   - type: What it is decoded as.
    ///   - collection: Where it is.
    ///   - change: Changes the value.
    /// - Returns: What was saved; `nil` when there is no such document, and `change` was not called.
    /// - Throws: `decodingFailed`, `invalidDocument`; what `change` throws, and then nothing was changed.
    @discardableResult
    public func update<T: Codable>(
        _ id: String, as type: T.Type = T.self, in collection: DocumentCollection,
        _ change: (inout T) throws -> Void
    ) throws -> Stored<T>? {
        guard var stored = try get(id, as: type, in: collection) else { return nil }
        try change(&stored.value)
        try save(&stored, in: collection)
        return stored
    }

    /// Deletes the document of a value in the revision that it was read at.
    ///
    /// - Throws: `conflict` when the document was changed since.
    @discardableResult
    public func delete<Value>(
        _ value: Stored<Value>, in collection: DocumentCollection
    ) throws(DatabaseError) -> Document? {
        try delete(value.id, in: collection, expecting: .revision(value.revision))
    }

    /// Resolves a document's conflicts with a value: what it encodes to, an edit of one leaf, becomes the only live leaf.
    ///
    /// - Parameters:
    ///   - id: The document's name.
    ///   - value: What the document is to be.
    ///   - revision: The leaf that it is an edit of; the winner by default.
    ///   - collection: Where it is.
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
}
