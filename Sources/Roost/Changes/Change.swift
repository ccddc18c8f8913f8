import RoostBytes

/// A document's place in its collection's changes: the last thing that happened to it.
///
/// Each document stands there once, under the sequence of its newest change.
public struct Change: Sendable, Hashable {
    /// The document's name in its collection.
    public let id: String
    /// The collection's update sequence when the document changed.
    public let sequence: UInt64
    /// The winning revision.
    public let revision: RevisionID
    /// Whether the document is deleted.
    public let isDeleted: Bool
    /// Whether the document has more than one live leaf.
    public let isConflicted: Bool
    /// Whether the winning revision refers to blobs.
    public let hasAttachments: Bool

    init(sequence: UInt64, _ stored: StoredChange) throws(DatabaseError) {
        self.init(
            id: try String(documentID: stored.id), sequence: sequence, revision: stored.winner,
            flags: stored.flags)
    }

    init(id: String, sequence: UInt64, revision: RevisionID, flags: StoredDocument.Flags) {
        self.id = id
        self.sequence = sequence
        self.revision = revision
        isDeleted = flags.contains(.deleted)
        isConflicted = flags.contains(.conflicted)
        hasAttachments = flags.contains(.hasAttachments)
    }
}

extension Change: CustomStringConvertible {
    /// Sequence, ID and revision: `12: n1 at 3-5d…, deleted`.
    public var description: String { "\(sequence): \(id) at \(revision)\(isDeleted ? ", deleted" : "")" }
}

extension String {
    /// A document ID that was stored.
    init(documentID bytes: ByteView) throws(DatabaseError) {
        let text = unsafe String(validating: bytes.buffer, as: UTF8.self)
        guard let text else { throw DatabaseError.damaged("The ID of a document") }
        self = text
    }
}
