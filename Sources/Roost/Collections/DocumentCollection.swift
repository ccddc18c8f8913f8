import RoostStorage

/// The documents of one kind: named, and with an update sequence of their own.
///
/// Every call reads or writes by itself, in a snapshot or a durable commit of its own. For several reads as of one
/// moment use ``Database/read(_:)``, for several writes as one ``Database/write(_:)-50ttr``. Can be used from any thread.
public final class DocumentCollection: Sendable {
    /// The database that the collection is in.
    public let database: Database
    let name: CollectionName
    let trees: CollectionTrees
    /// The database's: found here without counting a reference to it.
    private let store: Store

    init(_ database: Database, _ name: CollectionName, _ trees: CollectionTrees) {
        self.database = database
        self.name = name
        self.trees = trees
        store = database.core.store
    }

    /// The collection's name within its scope.
    public var collectionName: String { name.name }

    /// The scope that the collection is in.
    public var scopeName: String { name.scope }

    /// The collection as of now.
    public func snapshot() throws(DatabaseError) -> CollectionSnapshot { try database.snapshot()[self] }

    /// Reads without the collection's record.
    var reader: CollectionReader<Snapshot> {
        get throws(DatabaseError) {
            try database.checkOpen()
            return CollectionReader(source: store.snapshot(), trees: trees)
        }
    }

    // MARK: Reading

    /// How many documents there are that are not deleted. O(1).
    public var count: Int { get throws(DatabaseError) { try snapshot().count } }

    /// The document, in the revision that wins where there are conflicts; `nil` when there is none or it is deleted.
    public func get(_ id: String) throws(DatabaseError) -> Document? {
        try database.checkOpen()
        return try store.snapshot().document(id, in: trees.documents, includingDeleted: false)
    }

    /// The document's properties decoded as a `T`; `nil` when there is none or it is deleted.
    ///
    /// - Throws: `decodingFailed` when the properties are not those of a `T`.
    public func get<T: Decodable>(_ id: String, as type: T.Type = T.self) throws(DatabaseError) -> Stored<T>?
    {
        try get(id).map { (document) throws(DatabaseError) in try Stored(document) }
    }

    /// The document; see ``get(_:)``.
    public subscript(id: String) -> Document? {
        get throws(DatabaseError) { try get(id) }
    }

    /// Whether there is a document of that ID that is not deleted.
    public func contains(_ id: String) throws(DatabaseError) -> Bool { try snapshot().contains(id) }

    // MARK: Writing

    /// Saves what `value` encodes to as a new document, durably: see `save(_:id:in:expecting:)`.
    @discardableResult
    public func save(
        _ value: some Encodable, id: String? = nil, expecting expectation: DocumentExpectation? = nil
    ) throws(DatabaseError) -> Document {
        try write { (batch) throws(DatabaseError) in
            try batch.save(value, id: id, in: self, expecting: expectation)
        }
    }

    /// Saves a value in place of the revision that it was read at, durably, as ``WriteBatch`` does.
    @discardableResult
    public func save<Value: Encodable>(
        _ value: inout Stored<Value>, expecting expectation: DocumentExpectation? = nil
    ) throws(DatabaseError) -> Document {
        var saved = value
        let document = try write { (batch) throws(DatabaseError) in
            try batch.save(&saved, in: self, expecting: expectation)
        }
        value = saved
        return document
    }

    /// Saves a JSON object, durably: see ``WriteBatch/save(json:id:in:expecting:)-(String,_,_,_)``.
    @discardableResult
    public func save(
        json: String, id: String? = nil, expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document {
        try write { (batch) throws(DatabaseError) in
            try batch.save(json: json, id: id, in: self, expecting: expectation)
        }
    }

    /// Deletes a document, durably: see ``WriteBatch/delete(_:in:expecting:)``.
    @discardableResult
    public func delete(_ id: String, expecting expectation: DocumentExpectation = .any) throws(DatabaseError)
        -> Document?
    {
        try write { (batch) throws(DatabaseError) in try batch.delete(id, in: self, expecting: expectation) }
    }
}

extension DocumentCollection {
    /// Runs `change` in a commit of its own.
    @usableFromInline func write<R>(_ change: (WriteBatch) throws(DatabaseError) -> R) throws(DatabaseError)
        -> R
    {
        try database.checkWritable()
        return try database.core.write(change)
    }
}

extension DocumentCollection: Hashable {
    /// Whether both are the same collection of the same database.
    public static func == (left: DocumentCollection, right: DocumentCollection) -> Bool {
        left.database.core === right.database.core && left.trees == right.trees
    }

    /// Hashes name and database.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(database.core))
        hasher.combine(trees)
    }
}

extension DocumentCollection: CustomStringConvertible {
    /// Scope and name: `travel.hotels`.
    public var description: String { name.description }
}
