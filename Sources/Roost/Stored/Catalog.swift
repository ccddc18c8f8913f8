import RoostBytes
import RoostFile
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
///     created   varint     when the database was made, in microseconds since 1970
///     next      varint     the number that the next collection gets
struct DatabaseRecord {
    static let version: UInt8 = 1
    static let uuidLength = 16

    var privateUUID: [UInt8]
    var publicUUID: [UInt8]
    var created: UInt64
    var nextCollection: UInt64

    var encoded: [UInt8] {
        var bytes = [Self.version] + privateUUID + publicUUID
        bytes.append(varint: created)
        bytes.append(varint: nextCollection)
        return bytes
    }

    /// That of a new database.
    init(_ environment: Environment) {
        privateUUID = UUIDText.random(environment)
        publicUUID = UUIDText.random(environment)
        created = environment.clock.now()
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
        guard bytes.count > offset, let created = bytes.span.varint(at: &offset),
            let next = bytes.span.varint(at: &offset)
        else {
            throw DatabaseError.damaged("The database's record")
        }
        privateUUID = Array(bytes[1..<17])
        publicUUID = Array(bytes[17..<33])
        self.created = created
        nextCollection = next
    }
}

// MARK: - CollectionRecord

/// What is true of a collection as a whole; written with every commit that changes documents.
///
///     version    1 byte    01
///     number     varint    names the collection's trees
///     sequence   varint    the last one given; 0 in the beginning
///     live       varint    how many documents are not deleted
///     limit      varint    the revision limit
///     created    varint    when the collection was made, in microseconds since 1970
///     epoch      8 bytes   random; names the history that the sequences belong to
///     purges     varint    the last purge sequence given; 0 in the beginning
struct CollectionRecord: Equatable {
    static let version: UInt8 = 1
    /// A larger sequence can't have been given out.
    static let largestSequence = UInt64(Int64.max)

    let number: UInt64
    var lastSequence: UInt64 = 0
    var liveCount: UInt64 = 0
    var revisionLimit = RevisionTree.defaultRevisionLimit
    let created: UInt64
    private(set) var epoch: UInt64
    var lastPurge: UInt64 = 0

    /// The record of a new collection.
    init(number: UInt64, _ environment: Environment) {
        self.number = number
        created = environment.clock.now()
        epoch = 0
        renewEpoch(environment)
    }

    /// Begins another history: sequences that were told before mean nothing from now on.
    mutating func renewEpoch(_ environment: Environment) {
        unsafe withUnsafeMutableBytes(of: &epoch) { unsafe environment.randomness.fill($0) }
    }

    var encoded: [UInt8] {
        var bytes = [Self.version]
        for number in [number, lastSequence, liveCount, UInt64(revisionLimit), created] {
            bytes.append(varint: number)
        }
        bytes += Sequences.key(epoch)
        bytes.append(varint: lastPurge)
        return bytes
    }

    init(_ bytes: [UInt8]) throws(DatabaseError) {
        self = try bytes.withView { (view) throws(DatabaseError) in try Self(view) }
    }

    private init(_ bytes: ByteView) throws(DatabaseError) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.byte() == Self.version else { throw MalformedBytes(at: 0) }
            number = try reader.varint()
            lastSequence = try reader.varint()
            liveCount = try reader.varint()
            let limit = try reader.varint()
            created = try reader.varint()
            epoch = Sequences.number(try reader.view(8))
            lastPurge = try reader.varint()
            guard lastSequence <= Self.largestSequence, lastPurge <= Self.largestSequence, limit >= 1,
                limit <= UInt64(RevisionTree.maximumCount)
            else { throw MalformedBytes(at: 0) }
            revisionLimit = Int(limit)
        } catch {
            throw DatabaseError.damaged("The record of a collection")
        }
    }
}

// MARK: - CollectionTrees

/// The trees of a collection. Snapshots and handles of it share them, so that copying these counts one reference.
final class CollectionTrees: Sendable {
    /// By document ID: ``StoredDocument``.
    let documents: Tree
    /// By sequence: ``StoredChange``.
    let changes: Tree
    /// What few documents have: ``ExtrasKey``.
    let extras: Tree

    /// Makes the trees of a new collection.
    init(number: UInt64, in transaction: StoreTransaction) throws(StoreError) {
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

extension CollectionTrees: Hashable {
    static func == (left: CollectionTrees, right: CollectionTrees) -> Bool {
        left === right
            || left.documents == right.documents && left.changes == right.changes
                && left.extras == right.extras
    }

    func hash(into hasher: inout Hasher) { hasher.combine(documents) }
}

// MARK: - ExtrasKey

/// Keys of a collection's third tree, which holds what few documents have.
///
///     72 length id            a revision tree that is too long for the document's entry
///     72 length id revision   the body of a leaf that is not the winner (the revision in its compact form)
///     6f length id revision   the body of an earlier revision: one that is no leaf any more
///     6c name                 a local document, named without `_local/`
///     65 time id              an expiration (8 bytes big-endian, microseconds since 1970), without a value
///     70 sequence             a ``StoredPurge`` by its purge sequence (8 bytes big-endian)
///     6d name                 metadata of the collection
///     63 key                  an entry that a layer above keeps: who may see which documents
///
/// The length of an ID is two bytes, big-endian; any byte may stand in the ID.
enum ExtrasKey {
    private static let revisions = UInt8(ascii: "r")
    private static let earlier = UInt8(ascii: "o")
    private static let local = UInt8(ascii: "l")
    private static let expirations = UInt8(ascii: "e")
    private static let purges = UInt8(ascii: "p")
    private static let metadata = UInt8(ascii: "m")
    private static let annotations = UInt8(ascii: "c")

    /// The key of a long revision tree, and the prefix of those of the leaves' bodies.
    static func revisions(of id: ByteView) -> [UInt8] { prefix(revisions, id) }

    private static func prefix(_ kind: UInt8, _ id: ByteView) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(id.count + 3 + 42)
        key.append(kind)
        key.append(UInt8(truncatingIfNeeded: id.count >> 8))
        key.append(UInt8(truncatingIfNeeded: id.count))
        unsafe key.append(contentsOf: id.buffer)
        return key
    }

    /// The keys of all revision trees and bodies.
    static let allRevisions = KeyRange(prefix: [revisions])

    /// The key of the body of a leaf.
    static func body(of revision: RevisionID, _ id: ByteView) -> [UInt8] {
        var key = revisions(of: id)
        revision.append(to: &key)
        return key
    }

    /// The prefix of the keys of the bodies of a document's earlier revisions.
    static func earlierBodies(of id: ByteView) -> [UInt8] { prefix(earlier, id) }

    /// The key of the body of an earlier revision.
    static func earlierBody(of revision: RevisionID, _ id: ByteView) -> [UInt8] {
        var key = earlierBodies(of: id)
        revision.append(to: &key)
        return key
    }

    /// The keys of the bodies of all earlier revisions.
    static let allEarlierBodies = KeyRange(prefix: [earlier])

    /// The key of the local document `name`.
    static func local(_ name: some StringProtocol) -> [UInt8] { [local] + name.utf8 }

    /// The keys of all local documents.
    static let allLocal = KeyRange(prefix: [local])

    /// The key of an expiration at `time`.
    static func expiration(_ time: UInt64, _ id: ByteView) -> [UInt8] {
        var key = expirations(from: time)
        unsafe key.append(contentsOf: id.buffer)
        return key
    }

    /// The first key that an expiration at `time` or later can have.
    static func expirations(from time: UInt64) -> [UInt8] { [expirations] + Sequences.key(time) }

    /// The keys of all expirations.
    static let allExpirations = KeyRange(prefix: [expirations])

    /// The key of the purge with this sequence.
    static func purge(_ sequence: UInt64) -> [UInt8] { [purges] + Sequences.key(sequence) }

    /// The keys of all purges.
    static let allPurges = KeyRange(prefix: [purges])

    /// The keys of all purges after `sequence`, which is not the largest number there is.
    static func purges(since sequence: UInt64) -> KeyRange {
        KeyRange(lower: Key(purge(sequence + 1)), upper: Key([purges + 1]))
    }

    /// The key of the collection's metadata `name`.
    static func metadata(_ name: String) -> [UInt8] { [metadata] + name.utf8 }

    /// The key of an entry that a layer above keeps under `key`.
    static func annotation(_ key: [UInt8]) -> [UInt8] { [annotations] + key }

    /// The document ID and, of a leaf's body, the revision of a key that ``revisions(of:)`` or ``body(of:_:)`` made.
    static func readRevision(_ key: ByteView) -> (id: ByteView, revision: ByteView)? {
        read(revisions, key)
    }

    /// The document ID and the revision of a key that ``earlierBody(of:_:)`` made.
    static func readEarlier(_ key: ByteView) -> (id: ByteView, revision: ByteView)? { read(earlier, key) }

    private static func read(_ kind: UInt8, _ key: ByteView) -> (id: ByteView, revision: ByteView)? {
        guard key.count >= 3, key[0] == kind else { return nil }
        let length = Int(key[1]) << 8 | Int(key[2])
        guard length <= key.count - 3 else { return nil }
        return (key.slice(3, length), key.dropFirst(3 + length))
    }

    /// The time and the document ID of an expiration's key.
    static func readExpiration(_ key: ByteView) -> (time: UInt64, id: ByteView)? {
        guard key.count > 9, key[0] == expirations else { return nil }
        return (Sequences.number(key.slice(1, 8)), key.dropFirst(9))
    }
}
