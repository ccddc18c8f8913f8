import RoostBytes
import RoostStorage

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
