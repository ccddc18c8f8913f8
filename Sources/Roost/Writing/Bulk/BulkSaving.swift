import RoostBytes

extension WriteTransaction {
    /// Saves many JSON objects, one after the other, faster than one by one: they are parsed on all cores, ahead of being
    /// stored.
    ///
    /// ```swift
    /// try database.write { transaction in
    ///     try transaction.save(contentsOf: readings.lazy.map { ($0.name, $0.json) }, in: log)
    /// }
    /// ```
    ///
    /// Each is saved as by ``save(json:id:in:expecting:)``, on top of whatever is there. The sequence is asked for a
    /// few at a time, on the thread of the batch; memory is bounded by its largest texts.
    ///
    /// - Parameters:
    ///   - texts: The documents: each its name, or `nil` for the text's `_id` or else a new one, and its text.
    ///   - collection: Where they are to be.
    /// - Returns: What became of each, in their order.
    /// - Throws: As for one document, for the first that can't be saved. Those before it are saved if the batch goes on all the same.
    @discardableResult
    @inlinable public func save(
        contentsOf texts: some Sequence<(id: String?, json: String)>, in collection: DocumentCollection
    ) throws(DatabaseError) -> [DocumentChange] {
        let saving = BulkSave(self, collection)
        for text in texts { try saving.add(text.json, id: text.id) }
        return try saving.finish()
    }

    /// Stores one of the documents that were prepared as the revision that it says it is.
    ///
    /// One that tells its history (`_revisions`) is inserted with it. One that names only a `_rev` is inserted as that revision where
    /// the collection has no such document, and is an edit of that revision otherwise. Any other is saved.
    ///
    /// - Returns: `false` where the collection has the revision already.
    /// - Throws: As ``save(_:_:in:asNewRevision:)``; `missingStub` for an attachment whose content is not here.
    package func restore(
        _ documents: PreparedDocuments, _ place: Int, in collection: DocumentCollection
    ) throws(DatabaseError) -> Bool {
        if case .other(let id, .success(let document)) = documents.items[place],
            let claims = document.claims, let id = id ?? claims.id
        {
            var isInserted = claims.tellsHistory
            if !isInserted, try claims.revision != nil {
                let writer = try writer(collection)
                isInserted = try writer.load(writer.keyView(try DocumentID(revisioned: id))) == nil
            }
            if isInserted { return try insert(document, id: id, in: collection) }
        }
        try save(documents, place, in: collection)
        return true
    }

    /// Saves one of the documents that were prepared, on top of whatever is there.
    ///
    /// - Parameter isNewRevision: whether the revision that it names is passed over.
    /// - Throws: what is wrong with it; `invalidDocumentID`, `conflict`, `corruptRevisionData`.
    @discardableResult
    package func save(
        _ documents: PreparedDocuments, _ place: Int, in collection: DocumentCollection,
        asNewRevision isNewRevision: Bool = false
    ) throws(DatabaseError) -> DocumentChange {
        switch documents.items[place] {
        case .plain(let id, let body, let digest):
            return try writer(collection).edit(
                try DocumentID(revisioned: id ?? core.makeDocumentID()), body, of: documents.bodies,
                firstDigest: digest)
        case .other(let id, let document):
            var document = try document.get()
            if isNewRevision { document.claims?.dropRevisions() }
            return DocumentChange(
                try save(document, id: id, in: collection, expecting: .any, mayDelete: true))
        }
    }
}

extension DocumentChange {
    /// What became of a document that was saved just now.
    fileprivate init(_ document: Document) {
        var flags: StoredDocument.Flags = document.isDeleted ? .deleted : []
        if document.isConflicted { flags.insert(.conflicted) }
        if document.hasSeveralLeaves { flags.insert(.severalLeaves) }
        if document.body.attachmentList != nil { flags.insert(.hasAttachments) }
        self.init(
            id: document.id, sequence: document.sequence, revision: document.revision, flags: flags)
    }
}

extension CollectionWriter {
    /// Makes an edit on top of whatever is there.
    ///
    /// - Parameters:
    ///   - body: Where in `bodies` the stored form of a body without attachments is.
    ///   - firstDigest: That of the edit where it is the document's first revision.
    fileprivate func edit(
        _ id: DocumentID, _ body: Range<Int>, of bodies: [UInt8], firstDigest: RevisionDigest
    ) throws(DatabaseError) -> DocumentChange {
        let key = keyView(id)
        if let loaded = try load(key) {
            let body = try bodies.withView { (bodies) throws(DatabaseError) in
                try DocumentBody(stored: bodies.slice(body.lowerBound, body.count))
            }
            return DocumentChange(try edit(id, key, loaded, body, isDeleted: false, expecting: .any))
        }
        let revision = try RevisionID.next(after: nil, digest: firstDigest)
        let sequence = nextSequence()
        let place = try bodies.withView { (bodies) throws(DatabaseError) in
            try append(stored: bodies.slice(body.lowerBound, body.count))
        }
        let stored = try store(
            RevisionTree(only: revision, flags: [], sequence: sequence), newLeaf: (revision, place), of: key,
            nil, touched: [], sequence: sequence)
        return DocumentChange(id: id.string, sequence: sequence, revision: revision, flags: stored.flags)
    }
}
