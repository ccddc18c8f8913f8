import RoostBlobs
import RoostBytes

/// What is said of an attachment where a revision is to be saved.
public struct AttachmentClaim: Sendable {
    /// Where the content is.
    enum Content: Sendable {
        /// It stands in the text: base64, decoded.
        case inline([UInt8])
        /// It came apart from the text: `follows`.
        case following
        /// It is there already: a stub.
        case stub
    }

    let content: Content
    /// Whether the content is gzip: inline content is taken out of it, what follows is stored as such already.
    public private(set) var isCompressed = false
    /// The digest that the content is said to have.
    public private(set) var digest: String?
    /// The MIME type.
    public private(set) var contentType: String?
    /// The generation that is said to have added it (CouchDB's `revpos`).
    public private(set) var revisionPosition: UInt64?
    /// The MD5 digests of what a draft names.
    private(set) var checksums: BlobChecksums?

    /// Whether the content comes apart from the JSON text, as in a multipart body.
    public var follows: Bool { if case .following = content { true } else { false } }

    /// Whether it names what is there already.
    public var isStub: Bool { if case .stub = content { true } else { false } }

    /// Whether the content stands in the text.
    package var isInline: Bool { if case .inline = content { true } else { false } }

    /// A draft's, which names what the store has.
    init(_ attachment: Attachment) {
        content = .stub
        digest = attachment.digest
        contentType = attachment.contentType
        checksums = attachment.checksums
        if attachment.revisionPosition > 0 { revisionPosition = attachment.revisionPosition }
    }

    /// The value of a member of `_attachments`.
    ///
    /// - Throws: `corruptRevisionData`.
    init(_ name: String, _ value: DocumentValue?) throws(DatabaseError) {
        guard case .dictionary(let fields)? = value else { throw Self.refusal(name, "is no object") }
        if fields[Attachment.Field.stub] == .bool(true) {
            content = .stub
        } else if fields[Attachment.Field.follows] == .bool(true) {
            content = .following
        } else {
            guard let encoded = try Self.text(name, fields, Attachment.Field.data) else {
                throw Self.refusal(name, "has neither \"data\" nor \"stub\":true nor \"follows\":true")
            }
            guard let data = Base64.decode(encoded.utf8) else {
                throw Self.refusal(name, "has data that is no base64")
            }
            content = .inline(data)
        }
        digest = try Self.text(name, fields, Attachment.Field.digest)
        contentType = try Self.text(name, fields, Attachment.Field.contentType)
        revisionPosition = fields[Attachment.Field.revisionPosition]?.count
        if isStub { return }
        switch try Self.text(name, fields, Attachment.Field.encoding) {
        case nil: break
        case Attachment.Field.gzip?: isCompressed = true
        case let other?: throw Self.refusal(name, "has the encoding \(DatabaseError.quoted(other)), not gzip")
        }
    }

    /// All members of `_attachments`.
    ///
    /// - Throws: `corruptRevisionData`.
    static func claims(_ value: DocumentValue?) throws(DatabaseError) -> NamedValues<AttachmentClaim> {
        guard case .dictionary(let members)? = value else {
            throw DatabaseError(
                .corruptRevisionData,
                "The document's property \(ReservedNames.attachments) is no object with the attachments by name. "
                    + "Leave the property out, or give it another name.")
        }
        var claims = NamedValues<AttachmentClaim>()
        for (name, value) in members { claims[name] = try AttachmentClaim(name, value) }
        return claims
    }

    private static func text(
        _ name: String, _ fields: NamedValues<DocumentValue>, _ field: String
    ) throws(DatabaseError) -> String? {
        switch fields[field] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        default: throw refusal(name, "has a \"\(field)\" that is no text")
        }
    }

    static func refusal(_ name: String, _ reason: String) -> DatabaseError {
        DatabaseError(.corruptRevisionData, "The attachment \(DatabaseError.quoted(name)) \(reason).")
    }

    /// Whether a stub of a revision means this attachment of one of its ancestors, under the same name: what it says of
    /// digest and generation is true of it.
    func matches(_ attachment: Attachment) -> Bool {
        (revisionPosition == nil || revisionPosition == attachment.revisionPosition)
            && (digest == nil || isDigest(of: attachment))
    }

    /// Whether a stub means this attachment of any other revision of the document: it must say both, and be right.
    func identifies(_ attachment: Attachment) -> Bool {
        revisionPosition == attachment.revisionPosition && isDigest(of: attachment)
    }

    private func isDigest(of attachment: Attachment) -> Bool {
        guard let digest else { return false }
        if let md5 = BlobChecksums.read(digest) { return attachment.checksums?.contain(md5) ?? false }
        return digest == attachment.digest
    }
}

/// An attachment that is to be saved, its content in the store as far as it is known which that is.
struct PreparedAttachment {
    let claim: AttachmentClaim
    /// The content in the store; `nil` for a stub without a digest or with one that the store doesn't have.
    let stored: Attachment?
    /// Reads the content in the store, where its MD5 digests are not known yet.
    var reader: BlobFileReader?
    /// Where the content was found that others have put there.
    var source: BlobStore?

    /// Makes the content durable that others have put there.
    func secure() throws(DatabaseError) {
        guard let source, let reader else { return }
        try translating { () throws(BlobError) in try source.secure(reader.digest) }
    }

    /// The attachment with MD5 digests, which are computed if they have to be.
    func withChecksums(_ attachment: Attachment) throws(DatabaseError) -> Attachment {
        guard attachment.checksums == nil, let reader else { return attachment }
        return attachment.with(try translating { () throws(BlobError) in try BlobChecksums(reader) })
    }
}
