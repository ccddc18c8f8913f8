// The same calls as for collections of documents, with a typed collection in their place: the type need not be repeated.

extension WriteTransaction {
    /// The value of a document, with the changes made so far; `nil` when there is none or it is deleted.
    ///
    /// - Throws: `decodingFailed` when the properties are not those of a value.
    public func document<Value>(
        _ id: String, in collection: TypedCollection<Value>
    ) throws(DatabaseError) -> Versioned<Value>? {
        try document(id, as: Value.self, in: collection.documents)
    }

    /// Saves a value as a new document: see `save(_:id:in:expecting:)`.
    ///
    /// - Returns: The value as it was stored, with the ID that it got.
    @discardableResult
    public func save<Value>(
        _ value: Value, id: String? = nil, in collection: TypedCollection<Value>,
        expecting expectation: DocumentExpectation? = nil
    ) throws(DatabaseError) -> Versioned<Value> {
        try Versioned(try save(value, id: id, in: collection.documents, expecting: expectation))
    }

    /// Saves a value in place of the revision that it was read at: see `save(_:in:expecting:)`.
    @discardableResult
    public func save<Value>(
        _ value: inout Versioned<Value>, in collection: TypedCollection<Value>,
        expecting expectation: DocumentExpectation? = nil
    ) throws(DatabaseError) -> Document {
        try save(&value, in: collection.documents, expecting: expectation)
    }

    /// Changes the value of a document: see ``update(_:as:in:_:)``.
    ///
    /// - Returns: What was saved; `nil` when there is no such document, and `change` was not called.
    @discardableResult
    public func update<Value>(
        _ id: String, in collection: TypedCollection<Value>, _ change: (inout Value) throws -> Void
    ) throws -> Versioned<Value>? {
        try update(id, as: Value.self, in: collection.documents, change)
    }

    /// Deletes a document: see ``delete(_:in:expecting:)``.
    @discardableResult
    public func delete<Value>(
        _ id: String, in collection: TypedCollection<Value>, expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document? {
        try delete(id, in: collection.documents, expecting: expectation)
    }

    /// Deletes the document of a value in the revision that it was read at.
    ///
    /// - Throws: `conflict` when the document was changed since.
    @discardableResult
    public func delete<Value>(
        _ value: Versioned<Value>, in collection: TypedCollection<Value>
    ) throws(DatabaseError) -> Document? {
        try delete(value, in: collection.documents)
    }

    /// Resolves a document's conflicts with a value: see `resolve(_:with:keeping:in:)`.
    @discardableResult
    public func resolve<Value>(
        _ id: String, with value: Value, keeping revision: RevisionID? = nil,
        in collection: TypedCollection<Value>
    ) throws(DatabaseError) -> Document? {
        try resolve(id, with: value, keeping: revision, in: collection.documents)
    }
}
