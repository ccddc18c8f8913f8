import RoostBytes
import RoostStorage

/// What is remembered of a purge: which document, and which of its leaves.
///
///     version   1 byte   01
///     length    varint   of the document ID
///     id        bytes    the document ID, UTF-8
///     leaves    rest     each the length of its compact form (1 byte) and the compact form
struct StoredPurge {
    static let version: UInt8 = 1
    /// How many purges of a collection are remembered; older ones are forgotten. CouchDB's default.
    static let limit: UInt64 = 1000

    static func encode(_ id: ByteView, _ leaves: [RevisionID]) -> [UInt8] {
        var bytes = [version]
        bytes.append(varint: UInt64(id.count))
        unsafe bytes.append(contentsOf: id.buffer)
        for leaf in leaves { leaf.appendPrefixed(to: &bytes) }
        return bytes
    }
}

/// A document, or some of its leaves, that was purged from a collection; see ``CollectionSnapshot/purges(since:)``.
public struct Purge: Sendable, Hashable {
    /// The collection's purge sequence: 1 for its first purge, and then one more for each.
    public let sequence: UInt64
    /// The document's name.
    public let id: String
    /// The leaves that were purged.
    public let revisions: [RevisionID]

    init(sequence: UInt64, stored bytes: ByteView) throws(DatabaseError) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.byte() == StoredPurge.version else { throw MalformedBytes(at: 0) }
            id = try String(documentID: reader.view(Int(clamping: try reader.varint())))
            var revisions: [RevisionID] = []
            while !reader.isAtEnd {
                revisions.append(try RevisionID(reader.view(Int(try reader.byte()))))
            }
            self.revisions = revisions
            self.sequence = sequence
        } catch {
            throw DatabaseError.damaged("The entry of a purge")
        }
    }
}
