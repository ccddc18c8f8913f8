import RoostBytes

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

// MARK: Text

extension RevisionID: CustomStringConvertible {
    /// The text form, such as `3-5d9a6f0c1e2b4a7788990011223344ff`.
    public var description: String {
        var text = Array(String(generation).utf8)
        text.append(UInt8(ascii: "-"))
        digest.appendText(to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}

extension RevisionID: LosslessStringConvertible {
    /// Reads the text form; `nil` for anything else. ``init(validating:)`` says what is wrong with it.
    public init?(_ description: String) {
        guard let id = try? Self(validating: description) else { return nil }
        self = id
    }
}

extension RevisionID {
    /// Reads the text form: a generation from 1 to 2^63 − 1 without sign or leading zeros, a hyphen, and 0 to 64 bytes of
    /// UTF-8 without control characters. 32 hexadecimal digits may be large or small; they are written small.
    ///
    /// - Throws: `invalidRevisionID`, whose message says which rule is broken and where.
    public init(validating text: String) throws(DatabaseError) {
        let longest = 19 + 1 + RevisionDigest.textLengths.upperBound
        guard text.utf8.count <= longest else {
            throw Self.invalid(text, "it is \(text.utf8.count) bytes long, and the longest is \(longest)")
        }
        let bytes = Array(text.utf8)
        guard let hyphen = bytes.firstIndex(of: UInt8(ascii: "-")) else {
            throw Self.invalid(text, "there is no hyphen between a generation and a digest")
        }
        let generation = try Self.generation(bytes[..<hyphen], of: text)
        guard let digest = RevisionDigest(text: bytes.span.extracting((hyphen + 1)..<bytes.count)) else {
            throw Self.invalid(
                text, "what follows the hyphen is not at most 64 bytes of UTF-8 without control characters")
        }
        self.init(generation: generation, digest: digest)
    }

    private static func generation(
        _ digits: ArraySlice<UInt8>, of text: String
    ) throws(DatabaseError) -> UInt64 {
        guard let first = digits.first, first != UInt8(ascii: "0") else {
            throw invalid(text, "the generation before the hyphen must start with a digit from 1 to 9")
        }
        var generation: UInt64 = 0
        for (offset, digit) in digits.enumerated() {
            guard digit >= UInt8(ascii: "0") && digit <= UInt8(ascii: "9") else {
                throw invalid(text, "byte \(offset) is not a decimal digit")
            }
            let value = UInt64(digit - UInt8(ascii: "0"))
            guard generation <= (maximumGeneration - value) / 10 else {
                throw invalid(text, "the generation is greater than \(maximumGeneration)")
            }
            generation = generation * 10 + value
        }
        return generation
    }

    private static func invalid(_ text: String, _ reason: String) -> DatabaseError {
        DatabaseError(
            .invalidRevisionID,
            "\(DatabaseError.quoted(text)) is not a revision ID: \(reason). "
                + "A revision ID looks like 3-9f86d081.")
    }
}

extension RevisionID: Codable {
    /// Reads the text form from a single string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(DatabaseError) {
            try self.init(validating: text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }

    /// Writes the text form as a single string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

// MARK: Bytes

extension RevisionID {
    /// Appends the compact form: twice the generation, and one more where the digest is text, as a varint; then the
    /// digest's bytes.
    ///
    /// `3-abcd` is the five bytes 07 61 62 63 64; a revision of Roost's own with a generation below 64 takes 17. The form
    /// does not say where it ends, and comparing such bytes does not give the order of the IDs.
    package func append(to bytes: inout [UInt8]) {
        bytes.append(varint: generation << 1 | (digest.isText ? 1 : 0))
        digest.append(to: &bytes)
    }

    /// Reads the compact form, which must be all of `bytes`.
    ///
    /// - Throws: `invalidRevisionID` for a generation of 0 or not in its shortest encoding, and for a digest that no
    ///   revision has.
    package init(_ bytes: Span<UInt8>) throws(DatabaseError) {
        var offset = 0
        guard let number = bytes.varint(at: &offset), number >= 2,
            let digest = RevisionDigest(
                stored: bytes.extracting(offset..<bytes.count), isText: number & 1 == 1)
        else {
            throw DatabaseError(
                .invalidRevisionID,
                "\(bytes.count) bytes were read as a revision ID, but are not a generation from 1 to 2^63 - "
                    + "1 with a digest. Check the integrity of what they were read from.")
        }
        self.init(generation: number >> 1, digest: digest)
    }
}

extension RevisionDigest {
    /// Reads a digest that was stored; `nil` for bytes that no digest is stored as.
    init?(stored bytes: Span<UInt8>, isText: Bool) {
        if isText {
            self.init(text: bytes)
            // Digits that stand for a number are stored as that.
            if !self.isText { return nil }
        } else {
            self.init(binary: bytes)
        }
    }
}

// MARK: - Revision

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
