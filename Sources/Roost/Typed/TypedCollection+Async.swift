// The forms for tasks: see DocumentCollection+Async.swift.

extension TypedCollection where Value: Sendable {
    /// Saves a value as a new document, durably: see `save(_:id:in:expecting:)`.
    ///
    /// - Returns: The value as it was stored, with the ID that it got.
    @discardableResult
    public func save(
        _ value: Value, id: String? = nil, expecting expectation: DocumentExpectation? = nil
    ) async throws(DatabaseError) -> Stored<Value> {
        try Stored(try await documents.save(value, id: id, expecting: expectation))
    }

    /// Saves a value in place of the revision that it was read at, durably, as ``WriteBatch`` does.
    @discardableResult
    public func save(
        _ value: inout Stored<Value>, expecting expectation: DocumentExpectation? = nil
    ) async throws(DatabaseError) -> Document {
        try await documents.save(&value, expecting: expectation)
    }

    /// Changes the value of a document, durably and with nobody in between: see ``WriteBatch/update(_:as:in:_:)``.
    @discardableResult
    public func update(
        _ id: String, _ change: @escaping @Sendable (inout Value) throws -> Void
    ) async throws -> Stored<Value>? {
        let documents = documents
        return try await documents.database.write { batch in try batch.update(id, in: documents, change) }
    }

    /// Deletes a document, durably: see ``WriteBatch/delete(_:in:expecting:)``.
    @discardableResult
    public func delete(
        _ id: String, expecting expectation: DocumentExpectation = .any
    ) async throws(DatabaseError) -> Document? {
        try await documents.delete(id, expecting: expectation)
    }

    /// Deletes the document of a value in the revision that it was read at, durably.
    ///
    /// - Throws: `conflict` when the document was changed since.
    @discardableResult
    public func delete(_ value: Stored<Value>) async throws(DatabaseError) -> Document? {
        try await documents.delete(value.id, expecting: .revision(value.revision))
    }
}
