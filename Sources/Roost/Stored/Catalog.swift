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
