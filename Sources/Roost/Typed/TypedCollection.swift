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
/// What is read is a ``Stored`` value, which knows its revision, so that saving it again notices what others have saved
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
    public func get(_ id: String) throws(DatabaseError) -> Stored<Value>? { try documents.get(id) }

    /// The value of a document; see ``get(_:)``.
    public subscript(id: String) -> Stored<Value>? {
        get throws(DatabaseError) { try get(id) }
    }

    /// Whether there is a document of that ID that is not deleted.
    public func contains(_ id: String) throws(DatabaseError) -> Bool { try documents.contains(id) }

    /// The values of the documents with IDs in a range, all of them by default, in the order of their IDs. All in memory at
    /// once: see ``DocumentSelection``.
    ///
    /// - Throws: `decodingFailed` when the properties of one are not those of a value.
    public func all(
        prefix: String? = nil, from: String? = nil, to: String? = nil, limit: Int = .max,
        descending: Bool = false
    ) throws(DatabaseError) -> [Stored<Value>] {
        let cursor = try documents.snapshot().cursor(
            DocumentSelection(prefix: prefix, from: from, to: to, limit: limit, descending: descending))
        var values: [Stored<Value>] = []
        while let document = try cursor.next() { values.append(try Stored(document)) }
        return values
    }

    // MARK: Writing

    /// Saves a value as a new document, durably: see `save(_:id:in:expecting:)`.
    ///
    /// - Returns: The value as it was stored, with the ID that it got.
    @discardableResult
    public func save(
        _ value: Value, id: String? = nil, expecting expectation: DocumentExpectation? = nil
    ) throws(DatabaseError) -> Stored<Value> {
        try Stored(try documents.save(value, id: id, expecting: expectation))
    }

    /// Saves a value in place of the revision that it was read at, durably, as ``WriteBatch`` does.
    @discardableResult
    public func save(
        _ value: inout Stored<Value>, expecting expectation: DocumentExpectation? = nil
    ) throws(DatabaseError) -> Document {
        try documents.save(&value, expecting: expectation)
    }

    /// Changes the value of a document, durably and with nobody in between: see ``WriteBatch/update(_:as:in:_:)``.
    @discardableResult
    public func update(_ id: String, _ change: (inout Value) throws -> Void) throws -> Stored<Value>? {
        try documents.database.write { batch in try batch.update(id, in: documents, change) }
    }

    /// Deletes a document, durably: see ``WriteBatch/delete(_:in:expecting:)``.
    @discardableResult
    public func delete(
        _ id: String, expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document? {
        try documents.delete(id, expecting: expectation)
    }

    /// Deletes the document of a value in the revision that it was read at, durably.
    ///
    /// - Throws: `conflict` when the document was changed since.
    @discardableResult
    public func delete(_ value: Stored<Value>) throws(DatabaseError) -> Document? {
        try documents.delete(value.id, expecting: .revision(value.revision))
    }
}

extension Database {
    /// A collection of values of one type, made by a commit of its own if there is none: see
    /// ``collection(_:scope:createIfMissing:)``.
    public func collection<Value: Codable>(
        _ name: String, scope: String = "_default", of type: Value.Type, createIfMissing: Bool = true
    ) throws(DatabaseError) -> TypedCollection<Value> {
        TypedCollection(try collection(name, scope: scope, createIfMissing: createIfMissing))
    }
}

extension TypedCollection: CustomStringConvertible {
    /// Scope, name and type: `travel.hotels of Hotel`.
    public var description: String { "\(documents) of \(Value.self)" }
}
