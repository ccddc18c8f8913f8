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
