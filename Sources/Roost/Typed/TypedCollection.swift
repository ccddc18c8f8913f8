/// A collection whose documents are all values of one Codable type.
///
/// ```swift
/// struct Note: Codable, Sendable, Identifiable {
///     var id: String
///     var title: String
///     var stars = 0
/// }
///
/// let notes = try database.collection("notes", of: Note.self)
/// try notes.save(Note(id: "swifts", title: "Swifts nest in gables"))
/// try notes.update("swifts") { $0.stars += 1 }
/// for note in try notes.all() { print(note.id, note.title) }
/// ```
///
/// What is read is a ``Versioned`` value, which knows its revision, so that saving it again notices what others have saved
/// meanwhile. The `id` of an `Identifiable` type is the document's ID. Nothing but these calls is typed: the same documents
/// can be used through ``documents``. Can be used from any thread.
public struct TypedCollection<Value: Codable>: Sendable, Hashable {
    /// The collection as one of documents.
    public let documents: DocumentCollection

    /// The documents of `collection` as values.
    public init(_ collection: DocumentCollection) { documents = collection }

    // MARK: Reading

    /// How many documents there are that are not deleted. O(1).
    public var count: Int { get throws(DatabaseError) { try documents.count } }

    /// The value of a document; `nil` when there is none or it is deleted.
    ///
    /// - Throws: `decodingFailed` when the properties are not those of a value.
    public func document(_ id: String) throws(DatabaseError) -> Versioned<Value>? {
        try documents.document(id)
    }

    /// The value of a document; see ``document(_:)``.
    public subscript(id: String) -> Versioned<Value>? {
        get throws(DatabaseError) { try document(id) }
    }

    /// Whether there is a document of that ID that is not deleted.
    public func contains(_ id: String) throws(DatabaseError) -> Bool { try documents.contains(id) }

    /// The values of the documents with IDs in a range, all of them by default, in the order of their IDs. All in memory at
    /// once: see ``DocumentSelection``.
    ///
    /// - Throws: `decodingFailed` when the properties of one are not those of a value.
    public func all(
        prefix: String? = nil, from: String? = nil, to: String? = nil, limit: Int = .max,
        isDescending: Bool = false
    ) throws(DatabaseError) -> [Versioned<Value>] {
        let cursor = try documents.snapshot().cursor(
            DocumentSelection(prefix: prefix, from: from, to: to, limit: limit, isDescending: isDescending))
        var values: [Versioned<Value>] = []
        while let document = try cursor.next() { values.append(try Versioned(document)) }
        return values
    }

    // MARK: Writing

    /// Saves a value as a new document, durably: see `save(_:id:in:expecting:)`.
    ///
    /// - Returns: The value as it was stored, with the ID that it got.
    @discardableResult
    public func save(
        _ value: Value, id: String? = nil, expecting expectation: DocumentExpectation? = nil
    ) throws(DatabaseError) -> Versioned<Value> {
        try Versioned(try documents.save(value, id: id, expecting: expectation))
    }

    /// Saves a value in place of the revision that it was read at, durably: see
    /// ``WriteTransaction/save(_:in:expecting:onConflict:)``.
    @discardableResult
    public func save(
        _ value: inout Versioned<Value>, expecting expectation: DocumentExpectation? = nil,
        onConflict policy: SavePolicy<Versioned<Value>> = .failOnConflict
    ) throws(DatabaseError) -> Document {
        try documents.save(&value, expecting: expectation, onConflict: policy)
    }

    /// Changes the value of a document, durably and with no other write in between: see
    /// ``WriteTransaction/update(_:as:in:_:)``.
    @discardableResult
    public func update(_ id: String, _ change: (inout Value) throws -> Void) throws -> Versioned<Value>? {
        try documents.database.write { transaction in try transaction.update(id, in: documents, change) }
    }
}

extension TypedCollection where Value: Sendable {
    /// Saves a value as a new document, durably, without blocking a thread: see `save(_:id:in:expecting:)`.
    ///
    /// - Returns: The value as it was stored, with the ID that it got.
    @discardableResult
    public func save(
        _ value: Value, id: String? = nil, expecting expectation: DocumentExpectation? = nil
    ) async throws(DatabaseError) -> Versioned<Value> {
        try Versioned(try await documents.save(value, id: id, expecting: expectation))
    }

    /// Saves a value in place of the revision that it was read at, durably, without blocking a thread: see
    /// ``WriteTransaction/save(_:in:expecting:onConflict:)``.
    @discardableResult
    public func save(
        _ value: inout Versioned<Value>, expecting expectation: DocumentExpectation? = nil,
        onConflict policy: SavePolicy<Versioned<Value>> = .failOnConflict
    ) async throws(DatabaseError) -> Document {
        try await documents.save(&value, expecting: expectation, onConflict: policy)
    }

    /// Changes the value of a document, durably and with no other write in between, without blocking a thread: see
    /// ``WriteTransaction/update(_:as:in:_:)``.
    @discardableResult
    public func update(
        _ id: String, _ change: @escaping @Sendable (inout Value) throws -> Void
    ) async throws -> Versioned<Value>? {
        let documents = documents
        return try await documents.database.write { transaction in
            try transaction.update(id, in: documents, change)
        }
    }
}

extension Database {
    /// A collection of values of one type, made by a commit of its own if there is none: see
    /// ``collection(_:scope:createsIfMissing:)``.
    public func collection<Value: Codable>(
        _ name: String, scope: String = "_default", of type: Value.Type, createsIfMissing: Bool = true
    ) throws(DatabaseError) -> TypedCollection<Value> {
        TypedCollection(try collection(name, scope: scope, createsIfMissing: createsIfMissing))
    }
}

extension TypedCollection: CustomStringConvertible {
    /// Scope, name and type: `travel.hotels of Hotel`.
    public var description: String { "\(documents) of \(Value.self)" }
}

// MARK: - Typed Collection

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

    /// Deletes a document: see `delete(_:in:expecting:)`.
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
