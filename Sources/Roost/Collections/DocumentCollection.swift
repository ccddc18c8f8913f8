import Foundation
import RoostStorage

/// The documents of one kind: named, and with an update sequence of their own.
///
/// Every call reads or writes by itself, in a snapshot or a durable commit of its own. For several reads as of one
/// moment use ``Database/read(_:)``, for several writes as one ``Database/write(_:)-4124m``. Can be used from any thread.
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
    public func document(_ id: String) throws(DatabaseError) -> Document? {
        try database.checkOpen()
        return try store.snapshot().document(id, in: trees.documents, includingDeleted: false)
    }

    /// The document's properties decoded as a `T`; `nil` when there is none or it is deleted.
    ///
    /// - Throws: `decodingFailed` when the properties are not those of a `T`.
    public func document<T: Decodable>(_ id: String, as type: T.Type = T.self) throws(DatabaseError)
        -> Versioned<T>?
    {
        try document(id).map { (document) throws(DatabaseError) in try Versioned(document) }
    }

    /// The document; see ``document(_:)``.
    public subscript(id: String) -> Document? {
        get throws(DatabaseError) { try document(id) }
    }

    /// Whether there is a document of that ID that is not deleted.
    public func contains(_ id: String) throws(DatabaseError) -> Bool { try snapshot().contains(id) }

    /// The documents that `selection` tells, all in memory at once: see ``CollectionSnapshot/documents(_:)``.
    public func documents(_ selection: DocumentSelection) throws(DatabaseError) -> [Document] {
        try snapshot().documents(selection)
    }

    /// The documents with IDs in a range: see ``CollectionSnapshot/documents(prefix:from:to:limit:isDescending:)``.
    public func documents(
        prefix: String? = nil, from: String? = nil, to: String? = nil, limit: Int = .max,
        isDescending: Bool = false
    ) throws(DatabaseError) -> [Document] {
        try snapshot().documents(prefix: prefix, from: from, to: to, limit: limit, isDescending: isDescending)
    }

    /// When a document is to be purged; `nil` for never, and where there is none.
    public func expiration(of id: String) throws(DatabaseError) -> Date? {
        try snapshot().expiration(of: id)
    }

    /// The documents that are to be purged before a date, earliest first; all that expire by default.
    public func expirations(
        before date: Date = .distantFuture, limit: Int = .max
    ) throws(DatabaseError) -> [(id: String, date: Date)] {
        try snapshot().expirations(before: date, limit: limit)
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
