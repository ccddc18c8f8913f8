import RoostBytes

extension WriteBatch {
    /// Saves a JSON object as a document.
    ///
    /// - Parameters:
    ///   - json: The text. `_id` and `_rev` in it must be the document's and the revision that the edit was based on, and
    ///     `_deleted` makes it a tombstone; they are not stored. `_attachments` becomes the attachments; without it
    ///     those that are there stay.
    ///   - id: The document's name; where there is none, the text's `_id`, or else a new one.
    ///   - collection: Where it is to be.
    ///   - expectation: What the document must be like. By default the save goes on top of whatever is there.
    /// - Throws: `invalidDocument`, `invalidDocumentID`, `conflict`, `corruptRevisionData`.
    @discardableResult
    public func save(
        json: String, id: String? = nil, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document {
        try save(json: json.utf8, id: id, in: collection, expecting: expectation)
    }

    /// Saves a JSON object, given as UTF-8, as a document: see ``save(json:id:in:expecting:)-(String,_,_,_)``.
    @discardableResult
    public func save(
        json: some Sequence<UInt8>, id: String? = nil, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document {
        try save(
            try maker.document(json: json), id: id, in: collection, expecting: expectation, mayDelete: true)
    }

    /// Saves a document that was parsed, with the content that came apart from it: see
    /// ``save(json:id:in:expecting:)-(String,_,_,_)``.
    ///
    /// - Throws: also `missingStub` for an attachment that is a stub of what is not here, `notFound` for content that the
    ///   database does not have.
    @discardableResult
    public func save(
        _ document: IncomingDocument, id: String? = nil, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document {
        try save(document, id: id, in: collection, expecting: expectation, mayDelete: true)
    }

    /// Deletes a document: adds a tombstone, which is replicated like any edit.
    ///
    /// - Parameters:
    ///   - id: The document's name.
    ///   - collection: Where it is.
    ///   - expectation: What the document must be like.
    /// - Returns: The tombstone; `nil` when there was no such document, or only a deleted one.
    /// - Throws: `conflict` when an expected revision is not a leaf.
    @discardableResult
    public func delete(
        _ id: String, in collection: DocumentCollection, expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document? {
        let id = try DocumentID(revisioned: id)
        let writer = try writer(collection)
        let key = writer.keyView(id)
        let loaded = try writer.load(key)
        if expectation == .any, loaded?.isLive != true { return nil }
        return try writer.edit(id, key, loaded, .empty, isDeleted: true, expecting: expectation)
    }

    // MARK: Reading

    /// The document as it is with the changes made so far; `nil` when there is none or it is deleted.
    public func get(_ id: String, in collection: DocumentCollection) throws(DatabaseError) -> Document? {
        try reader(collection).document(id, includingDeleted: false)
    }

    /// Saves what was handed in.
    ///
    /// - Parameter mayDelete: Whether `_deleted` may make it a tombstone.
    func save(
        _ document: IncomingDocument, id: String?, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation, mayDelete: Bool
    ) throws(DatabaseError) -> Document {
        var id = id
        if id == nil { id = try document.suggestedID }
        let name = try DocumentID(revisioned: id ?? core.makeDocumentID())
        let claims = document.claims
        let expectation = try claims?.check(name, expecting: expectation, mayDelete: mayDelete) ?? expectation
        let attachments = try prepare(document.attachments, contents: document.contents)
        let saved = try writer(collection).edit(
            name, document.body, attachments, isDeleted: document.isDeleted, expecting: expectation)
        self.name(attachments)
        return saved
    }
}

extension DocumentID {
    /// An ID of a document that has revisions.
    ///
    /// - Throws: `invalidDocumentID`, also for the ID of a local document.
    init(revisioned string: String) throws(DatabaseError) {
        try self.init(string)
        guard kind != .local else {
            throw DatabaseError(
                .invalidDocumentID,
                "\(DatabaseError.quoted(string)) names a local document, which has no revisions. Use the methods for "
                    + "local documents, without the prefix _local/.")
        }
    }
}
