import RoostBytes

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
