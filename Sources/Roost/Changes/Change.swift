import RoostBytes

/// A document's place in its collection's changes: the last thing that happened to it.
///
/// Each document stands there once, under the sequence of its newest change.
public struct DocumentChange: Sendable, Hashable {
    /// The document's name in its collection.
    public let id: String
    /// The collection's update sequence when the document changed; 0 for a purge, which has none.
    public let sequence: UInt64
    /// The winning revision.
    public let revision: RevisionID
    /// Whether the document is deleted.
    public let isDeleted: Bool
    /// Whether the document has more than one live leaf.
    public let isConflicted: Bool
    /// Whether the document has more than one leaf, live or deleted; ``CollectionSnapshot/leaves(of:)`` tells them.
    public let hasSeveralLeaves: Bool
    /// Whether the winning revision has attachments; blobs that only its properties name do not count.
    public let hasAttachments: Bool
    /// Whether the document, or some of its leaves, were purged. Only listeners are told of that; it is no edit and
    /// stands nowhere in the changes. The revision is the one that had won before.
    public let isPurged: Bool

    init(sequence: UInt64, _ stored: StoredChange) throws(DatabaseError) {
        self.init(
            id: try String(documentID: stored.id), sequence: sequence, revision: stored.winner,
            flags: stored.flags)
    }

    init(
        id: String, sequence: UInt64, revision: RevisionID, flags: StoredDocument.Flags,
        isPurged: Bool = false
    ) {
        self.id = id
        self.sequence = sequence
        self.revision = revision
        isDeleted = flags.contains(.deleted)
        isConflicted = flags.contains(.conflicted)
        hasSeveralLeaves = flags.contains(.severalLeaves)
        hasAttachments = flags.contains(.hasAttachments)
        self.isPurged = isPurged
    }
}

extension DocumentChange: CustomStringConvertible {
    /// Sequence, ID and revision: `12: n1 at 3-5d…, deleted`.
    public var description: String {
        "\(sequence): \(id) at \(revision)\(isPurged ? ", purged" : isDeleted ? ", deleted" : "")"
    }
}

extension String {
    /// A document ID that was stored.
    ///
    /// Nearly all IDs are ASCII, which needs no validation.
    init(documentID bytes: ByteView) throws(DatabaseError) {
        if bytes.isASCII {
            self = unsafe String(unsafeUninitializedCapacity: bytes.count) { target in
                unsafe UnsafeMutableRawBufferPointer(target).copyMemory(from: bytes.buffer)
                return bytes.count
            }
            return
        }
        let text = unsafe String(validating: bytes.buffer, as: UTF8.self)
        guard let text else { throw DatabaseError.damaged("The ID of a document") }
        self = text
    }
}
