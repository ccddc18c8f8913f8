/// What a ``RevisionTree`` knows of one revision, apart from its place in the tree.
package struct Revision: Hashable, Sendable {
    /// The revision's name.
    package let id: RevisionID

    /// What kind of revision it is.
    package let flags: RevisionFlags

    /// The collection's update sequence when the revision was stored here; 0 for an ancestor that is known
    /// only from the history of a descendant.
    package let sequence: UInt64

    /// Where the body is stored, `nil` when it is not.
    package let body: BodyLocation?

    /// Whether no revision in the tree is based on this one.
    package let isLeaf: Bool

    /// Whether the revision says that the document is deleted.
    package var isDeleted: Bool { flags.contains(.deleted) }
}

/// What kind of revision it is. Bits 3 and up are free for the stored form and never set here.
package struct RevisionFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue & 0b111
    }

    /// A tombstone: the edit deleted the document.
    package static let deleted = Self(rawValue: 1 << 0)
    /// The body refers to blobs.
    package static let hasAttachments = Self(rawValue: 1 << 1)
    /// The body is to be kept when the revision ceases to be a leaf.
    package static let keepsBody = Self(rawValue: 1 << 2)
}

/// Where the body of a revision is stored. The tree hands it back as it was given and reads nothing into it.
package struct BodyLocation: Hashable, Sendable {
    /// The offset of the body's chunk in the database file, in bytes.
    package var offset: UInt64
    /// The length of the body, in bytes.
    package var length: UInt64

    package init(offset: UInt64, length: UInt64) {
        self.offset = offset
        self.length = length
    }
}

/// What adding a revision did to the tree.
package enum RevisionInsertion: Hashable, Sendable {
    /// The revision was there before; at most, gaps in what was known of it and its ancestors were filled.
    case known
    /// The revision replaced a leaf, or is the first of its document.
    case extendedLeaf
    /// The revision is a new leaf beside those there were: a conflict, if another one is live.
    case newBranch
}
