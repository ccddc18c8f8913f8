import RoostBytes
import RoostStorage

/// The tree that tells what the database holds.
///
///     database                   -> DatabaseRecord
///     collection/scope.name      -> CollectionRecord
///     blobs                      -> BlobRecord, in an encrypted database
enum Catalog {
    /// The name of the tree.
    static let treeName = "catalog"

    /// The key of the ``DatabaseRecord``.
    static let database = Key("database")

    /// The key of the ``BlobRecord``.
    static let blobs = Key("blobs")

    private static let collectionPrefix = "collection/"

    /// The key of a collection's ``CollectionRecord``.
    static func collection(_ name: CollectionName) -> Key { Key(collectionPrefix + name.description) }

    /// The keys of all collections.
    static let collections = KeyRange(prefix: Key(collectionPrefix))

    /// The name in a collection's key.
    static func name(_ key: Key) throws(DatabaseError) -> CollectionName {
        let parts = key.string?.dropFirst(collectionPrefix.count).split(separator: ".") ?? []
        guard parts.count == 2, let name = try? CollectionName(String(parts[1]), scope: String(parts[0]))
        else {
            throw DatabaseError.damaged("The name of a collection")
        }
        return name
    }
}

/// What is true of the database as a whole.
///
///     version   1 byte     01
///     private   16 bytes   a UUID that only this database's owner gets to see
///     public    16 bytes   a UUID by which other databases know this one
///     next      varint     the number that the next collection gets
struct DatabaseRecord {
    static let version: UInt8 = 1
    static let uuidLength = 16

    var privateUUID: [UInt8]
    var publicUUID: [UInt8]
    var nextCollection: UInt64

    var encoded: [UInt8] {
        var bytes = [Self.version] + privateUUID + publicUUID
        Varint.append(nextCollection, to: &bytes)
        return bytes
    }

    init(privateUUID: [UInt8], publicUUID: [UInt8]) {
        self.privateUUID = privateUUID
        self.publicUUID = publicUUID
        nextCollection = 1
    }

    init(_ bytes: [UInt8]) throws(DatabaseError) {
        guard let version = bytes.first else { throw DatabaseError.damaged("The database's record") }
        guard version == Self.version else {
            throw DatabaseError(
                .unsupportedFormat,
                "The database's record has version \(version), and this Roost reads version \(Self.version). "
                    + "Use a newer Roost.")
        }
        var offset = 1 + 2 * Self.uuidLength
        guard bytes.count > offset, let next = Varint.read(bytes.span, at: &offset) else {
            throw DatabaseError.damaged("The database's record")
        }
        privateUUID = Array(bytes[1..<17])
        publicUUID = Array(bytes[17..<33])
        nextCollection = next
    }
}

/// What is true of a collection as a whole; written with every commit that changes documents.
///
///     version    1 byte   01
///     number     varint   names the collection's trees
///     sequence   varint   the last one given; 0 in the beginning
///     live       varint   how many documents are not deleted
///     limit      varint   the revision limit
struct CollectionRecord: Equatable {
    static let version: UInt8 = 1
    /// A larger sequence can't have been given out.
    static let largestSequence = UInt64(Int64.max)

    let number: UInt64
    var lastSequence: UInt64 = 0
    var liveCount: UInt64 = 0
    var revisionLimit = RevisionTree.defaultRevisionLimit

    init(number: UInt64) {
        self.number = number
    }

    var encoded: [UInt8] {
        var bytes = [Self.version]
        Varint.append(number, to: &bytes)
        Varint.append(lastSequence, to: &bytes)
        Varint.append(liveCount, to: &bytes)
        Varint.append(UInt64(revisionLimit), to: &bytes)
        return bytes
    }

    init(_ bytes: [UInt8]) throws(DatabaseError) {
        var offset = 1
        guard bytes.first == Self.version, let number = Varint.read(bytes.span, at: &offset),
            let sequence = Varint.read(bytes.span, at: &offset), sequence <= Self.largestSequence,
            let live = Varint.read(bytes.span, at: &offset),
            let limit = Varint.read(bytes.span, at: &offset), limit >= 1,
            limit <= UInt64(RevisionTree.maximumCount)
        else { throw DatabaseError.damaged("The record of a collection") }
        self.number = number
        lastSequence = sequence
        liveCount = live
        revisionLimit = Int(limit)
    }
}

/// The trees of a collection.
struct CollectionTrees: Hashable {
    /// By document ID: ``StoredDocument``.
    let documents: Tree
    /// By sequence: ``StoredChange``.
    let changes: Tree
    /// What few documents have: ``ExtrasKey``.
    let extras: Tree

    /// Makes the trees of a new collection.
    init(number: UInt64, in transaction: WriteTransaction) throws(StoreError) {
        documents = try transaction.tree("documents/\(number)")
        changes = try transaction.tree("changes/\(number)")
        extras = try transaction.tree("extras/\(number)")
    }

    /// Finds the trees; `nil` when one is missing.
    init?(number: UInt64, in snapshot: Snapshot) {
        guard let documents = snapshot.tree("documents/\(number)"),
            let changes = snapshot.tree("changes/\(number)"),
            let extras = snapshot.tree("extras/\(number)")
        else { return nil }
        self.documents = documents
        self.changes = changes
        self.extras = extras
    }
}
