import Foundation

// The forms for tasks: the same as those that block, on threads of Roost's own, so that no executor waits for a sync.
// What is to be saved is encoded first, by the task itself. A task that is cancelled before its turn has come throws
// `cancelled`, and nothing was changed; a write that has begun is finished.

extension DocumentCollection {
    /// Saves what `value` encodes to as a new document, durably: see `save(_:id:in:expecting:)`.
    @discardableResult
    public func save(
        _ value: some Encodable, id: String? = nil, expecting expectation: DocumentExpectation? = nil
    ) async throws(DatabaseError) -> Document {
        let incoming = try BodyMaker().document(encoding: value)
        return try await write { (batch) throws(DatabaseError) in
            try batch.save(value: incoming, id: id, in: self, expecting: expectation)
        }
    }

    /// Saves a value in place of the revision that it was read at, durably, as ``WriteBatch`` does.
    @discardableResult
    public func save<Value: Encodable>(
        _ value: inout Stored<Value>, expecting expectation: DocumentExpectation? = nil
    ) async throws(DatabaseError) -> Document {
        let incoming = try BodyMaker().document(encoding: value)
        let (id, revision) = (value.id, value.revision)
        let (document, outcome) = try await write { (batch) throws(DatabaseError) in
            let document = try batch.save(
                value: incoming, id: id, in: self, expecting: expectation ?? .revision(revision))
            return (document, batch.outcome)
        }
        value.wasSaved(as: document, in: outcome)
        return document
    }

    /// Saves a JSON object, durably: see ``WriteBatch/save(json:id:in:expecting:)-(String,_,_,_)``.
    @discardableResult
    public func save(
        json: String, id: String? = nil, expecting expectation: DocumentExpectation = .any
    ) async throws(DatabaseError) -> Document {
        let document = try BodyMaker().document(json: json.utf8)
        return try await write { (batch) throws(DatabaseError) in
            try batch.save(document, id: id, in: self, expecting: expectation, mayDelete: true)
        }
    }

    /// Saves a draft, durably: see ``WriteBatch/save(_:in:onConflict:)``.
    @discardableResult
    public func save(
        _ draft: inout MutableDocument, onConflict policy: SavePolicy = .failOnConflict
    ) async throws(DatabaseError) -> Document {
        let unsaved = draft
        let (saved, document) = try await write { (batch) throws(DatabaseError) in
            var saved = unsaved
            let document = try batch.save(&saved, in: self, onConflict: policy)
            return (saved, document)
        }
        draft = saved
        return document
    }

    /// Deletes a document, durably: see ``WriteBatch/delete(_:in:expecting:)``.
    @discardableResult
    public func delete(
        _ id: String, expecting expectation: DocumentExpectation = .any
    ) async throws(DatabaseError) -> Document? {
        try await write { (batch) throws(DatabaseError) in
            try batch.delete(id, in: self, expecting: expectation)
        }
    }

    /// Deletes a document in the revision that was read, durably: see `delete(_:in:)`.
    @discardableResult
    public func delete(_ document: Document) async throws(DatabaseError) -> Document? {
        try await write { (batch) throws(DatabaseError) in try batch.delete(document, in: self) }
    }

    /// Sets when a document is to be purged, durably: see ``WriteBatch/setExpiration(_:of:in:)``.
    @discardableResult
    public func setExpiration(_ date: Date?, of id: String) async throws(DatabaseError) -> Bool {
        try await write { (batch) throws(DatabaseError) in try batch.setExpiration(date, of: id, in: self) }
    }

    /// Removes a document as if it had never been, durably: see ``WriteBatch/purge(_:revisions:in:)``.
    @discardableResult
    public func purge(
        _ id: String, revisions: [RevisionID]? = nil
    ) async throws(DatabaseError) -> [RevisionID] {
        try await write { (batch) throws(DatabaseError) in
            try batch.purge(id, revisions: revisions, in: self)
        }
    }

    /// Runs `change` in a commit of its own, on another thread.
    func write<R: Sendable>(
        _ change: @escaping @Sendable (WriteBatch) throws(DatabaseError) -> R
    ) async throws(DatabaseError) -> R {
        try database.checkWritable()
        let core = database.core
        return try await core.workers.run(cancelled: .cancelledBeforeStart) { (flag) throws(DatabaseError) in
            try core.write(cancellation: flag, change)
        }
    }
}
