/// The name of one revision of a document: how many edits led to it, and a digest of what it is.
///
/// Written `3-5d9a…`: the generation in decimal, a hyphen, the digest, in Roost's own revisions 32 hexadecimal
/// digits. The first revision of a document has generation 1, and an edit has its parent's generation plus one. Roost
/// derives the digest (16 bytes) from the parent and the content, so the same edit made on two devices is the same
/// revision; digests from elsewhere are taken as they are, up to 64 bytes of text.
///
/// Ordered as in CouchDB: by generation, then by the bytes of the digest. A trivial value of 74 bytes:
/// copying it allocates and retains nothing.
public struct RevisionID: Hashable, Sendable {
    /// The highest generation there is, 2^63 − 1.
    public static let maximumGeneration = UInt64(Int64.max)

    /// How many edits led here, this one included: 1 to ``maximumGeneration``.
    public let generation: UInt64

    /// Tells revisions of the same generation apart.
    package let digest: RevisionDigest

    /// The generation must be within 1 to ``maximumGeneration``.
    package init(generation: UInt64, digest: RevisionDigest) {
        precondition(generation >= 1 && generation <= Self.maximumGeneration)
        self.generation = generation
        self.digest = digest
    }

    /// The ID of an edit of `parent`, or of a document's first revision when that is `nil`.
    ///
    /// - Throws: `limitExceeded` when `parent` has the highest generation there is.
    package static func next(after parent: RevisionID?, digest: RevisionDigest) throws(DatabaseError) -> Self
    {
        guard let parent else { return Self(generation: 1, digest: digest) }
        guard parent.generation < maximumGeneration else {
            throw DatabaseError(
                .limitExceeded,
                "Revision \(parent) cannot be edited: its generation is the highest there is. Purge it, or "
                    + "save the document under a new ID.")
        }
        return Self(generation: parent.generation + 1, digest: digest)
    }
}

extension RevisionID: Comparable {
    /// Whether `left` is of a lower generation, or of the same generation with a lower digest.
    public static func < (left: Self, right: Self) -> Bool {
        left.generation != right.generation
            ? left.generation < right.generation : left.digest < right.digest
    }
}
