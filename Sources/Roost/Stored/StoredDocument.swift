import RoostBytes
import RoostStorage

// # How a collection is stored
//
// Every collection has a number n, which is never given to another one, and three trees:
//
//     documents/n   document ID (UTF-8)             -> StoredDocument, and the winner's body as the value
//     changes/n     sequence (8 bytes, big-endian)  -> StoredChange, sharing the same body
//     extras/n      see ExtrasKey                   -> long revision trees, bodies of other leaves, local
//                                                      documents, expirations
//
// The tree `catalog` names the collections; see Catalog.
//
// A body is stored once: the entry in `documents` owns it, the one in `changes` borrows it, so neither the change feed
// nor an indexer ever looks a document up by its ID. Bodies of leaves that are not the winner are owned by their
// entries in `extras`. Bodies of revisions that have been edited are not kept.

/// A document's entry in the by-ID tree: all that is known of it except bodies.
///
/// Integers are LEB128 varints.
///
///     version     1 byte    01
///     flags       1 byte    see ``Flags``
///     sequence    varint    the document's place in the changes
///     expiration  varint    with EXPIRES: when to purge it, in microseconds since 1970
///     length      1 byte    of the winner
///     winner      bytes     the winning revision's compact form
///     tree        rest      the stored revision tree; absent with SINGLE and with ELSEWHERE
struct StoredDocument {
    /// The version of the entry that is written, and the only one there is.
    static let version: UInt8 = 1
    /// Revision trees with a longer stored form are kept in the extras: a leaf should hold many entries.
    static let longestInlineTree = 512

    /// What the entry says of the document besides its revisions.
    struct Flags: OptionSet {
        let rawValue: UInt8

        /// The winner is a tombstone.
        static let deleted = Self(rawValue: 1 << 0)
        /// There is more than one live leaf.
        static let conflicted = Self(rawValue: 1 << 1)
        /// The winner's body refers to blobs.
        static let hasAttachments = Self(rawValue: 1 << 2)
        /// SINGLE: the winner is the only revision known.
        static let single = Self(rawValue: 1 << 3)
        /// ELSEWHERE: the revision tree is in the extras.
        static let elsewhere = Self(rawValue: 1 << 4)
        /// EXPIRES: the document has an expiration.
        static let expires = Self(rawValue: 1 << 5)
        /// SEVERAL_LEAVES: there is more than one leaf, live or deleted.
        static let severalLeaves = Self(rawValue: 1 << 6)

        static let known: Self = [
            .deleted, .conflicted, .hasAttachments, .single, .elsewhere, .expires, .severalLeaves,
        ]
        /// The flags that a change shows too.
        static let shownInChanges: Self = [.deleted, .conflicted, .hasAttachments, .severalLeaves]
    }

    var flags: Flags
    var sequence: UInt64
    var expiration: UInt64?
    var winner: RevisionID
    /// The revision tree's stored form, empty where it is not in the entry.
    var tree: ByteView

    /// Appends the entry without the tree.
    static func encodeHead(
        _ flags: Flags, sequence: UInt64, expiration: UInt64?, winner: RevisionID, to bytes: inout [UInt8]
    ) {
        bytes.append(version)
        bytes.append((expiration == nil ? flags.subtracting(.expires) : flags.union(.expires)).rawValue)
        bytes.append(varint: sequence)
        if let expiration { bytes.append(varint: expiration) }
        winner.appendPrefixed(to: &bytes)
    }

    /// The flags of an entry, of which nothing else is read.
    static func flags(of bytes: ByteView) throws(DatabaseError) -> Flags {
        guard bytes.count >= 2, bytes[0] == version else {
            throw DatabaseError.damaged("The entry of a document")
        }
        let flags = Flags(rawValue: bytes[1])
        guard flags.isSubset(of: .known) else { throw DatabaseError.damaged("The entry of a document") }
        return flags
    }

    /// Reads an entry; `tree` is a part of `bytes`.
    init(_ bytes: ByteView) throws(DatabaseError) {
        flags = try Self.flags(of: bytes)
        var reader = ByteReader(bytes.dropFirst(2))
        do {
            sequence = try reader.varint()
            expiration = flags.contains(.expires) ? try reader.varint() : nil
            winner = try RevisionID(reader.view(Int(try reader.byte())))
            tree = bytes.dropFirst(2 + reader.position)
        } catch {
            throw DatabaseError.damaged("The entry of a document")
        }
    }
}

extension RevisionID {
    /// Reads the compact form.
    init(_ view: ByteView) throws(DatabaseError) {
        let bytes = unsafe view.buffer.assumingMemoryBound(to: UInt8.self)
        try unsafe self.init(bytes.span)
    }

    /// Appends the compact form with its length, at most 42, in a byte before it.
    func appendPrefixed(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(0)
        append(to: &bytes)
        bytes[start] = UInt8(truncatingIfNeeded: bytes.count - start - 1)
    }
}

// MARK: - StoredChange

/// A document's entry in the by-sequence tree.
///
///     version   1 byte   01
///     flags     1 byte   those of ``StoredDocument`` that concern readers of changes
///     length    1 byte   of the winner
///     winner    bytes    the winning revision's compact form
///     id        rest     the document ID, UTF-8
struct StoredChange {
    /// The version of the entry that is written, and the only one there is.
    static let version: UInt8 = 1

    var flags: StoredDocument.Flags
    var winner: RevisionID
    /// The document ID's UTF-8, a part of the bytes that were read.
    var id: ByteView

    /// Appends the entry.
    static func encode(
        _ flags: StoredDocument.Flags, winner: RevisionID, id: ByteView, to bytes: inout [UInt8]
    ) {
        bytes.append(version)
        bytes.append(flags.intersection(.shownInChanges).rawValue)
        winner.appendPrefixed(to: &bytes)
        unsafe bytes.append(contentsOf: id.buffer)
    }

    init(_ bytes: ByteView) throws(DatabaseError) {
        var reader = ByteReader(bytes)
        do {
            guard try reader.byte() == Self.version else { throw MalformedBytes(at: 0) }
            flags = StoredDocument.Flags(rawValue: try reader.byte())
            winner = try RevisionID(reader.view(Int(try reader.byte())))
            id = bytes.dropFirst(reader.position)
        } catch {
            throw DatabaseError.damaged("The entry of a change")
        }
    }
}

// MARK: - StoredPurge

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

// MARK: - Sequences

/// Sequences as keys: eight bytes, most significant first.
enum Sequences {
    static func key(_ number: UInt64) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: 8)
        for index in 0..<8 { key[index] = UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * index)) }
        return key
    }

    /// Calls `body` with the key of a number, which is valid during the call.
    static func withKey<R>(
        _ number: UInt64, _ body: (ByteView) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        var key = number.bigEndian
        return try unsafe withUnsafeBytes(of: &key) { (key) throws(StoreError) in
            unsafe try body(ByteView(key))
        }
    }

    static func number(_ key: ByteView) -> UInt64 {
        key.count == 8 ? key.load(UInt64.self, at: 0).byteSwapped : 0
    }
}
