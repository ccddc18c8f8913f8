/// What a ``RevisionTree`` knows of one revision, apart from its place in the tree.
package struct Revision: Hashable, Sendable {
    /// The revision's name.
    package let id: RevisionID

    /// What kind of revision it is.
    package let flags: RevisionFlags

    /// The collection's update sequence when the revision was stored here; 0 for an ancestor that is known
    /// only from the history of a descendant.
    package let sequence: UInt64

    /// Whether no revision in the tree is based on this one.
    package let isLeaf: Bool

    /// Whether the revision says that the document is deleted.
    package var isDeleted: Bool { flags.contains(.deleted) }
}

/// What kind of revision it is. Bits 2 and up are free for the stored form and never set here.
package struct RevisionFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue & 0b11
    }

    /// A tombstone: the edit deleted the document.
    package static let deleted = Self(rawValue: 1 << 0)
    /// The body refers to blobs.
    package static let hasAttachments = Self(rawValue: 1 << 1)
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
