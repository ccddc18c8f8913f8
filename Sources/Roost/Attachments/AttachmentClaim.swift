import RoostBlobs
import RoostBytes

/// What is said of an attachment where a revision is to be saved.
struct AttachmentClaim: Sendable {
    /// The content in base64, decoded; `nil` for a stub, which names what is there already.
    var data: [UInt8]?
    /// Whether `data` is gzip, to be taken out of it.
    var isCompressed = false
    var digest: String?
    var contentType: String?
    /// The generation that is said to have added it.
    var revisionPosition: UInt64?

    /// A draft's.
    init(_ attachment: Attachment) {
        digest = attachment.digest
        contentType = attachment.contentType
        if attachment.revisionPosition > 0 { revisionPosition = attachment.revisionPosition }
    }

    /// The value of a member of `_attachments`.
    ///
    /// - Throws: `corruptRevisionData`.
    init(_ name: String, _ value: DocumentValue?) throws(DatabaseError) {
        guard case .dictionary(let fields)? = value else { throw Self.refusal(name, "is no object") }
        digest = try Self.text(name, fields, Attachment.Field.digest)
        contentType = try Self.text(name, fields, Attachment.Field.contentType)
        revisionPosition = fields[Attachment.Field.revisionPosition]?.count
        if fields[Attachment.Field.stub] == .bool(true) { return }
        guard let encoded = try Self.text(name, fields, Attachment.Field.data) else {
            throw Self.refusal(name, "has neither \"data\" nor \"stub\":true")
        }
        guard let data = Base64.decode(encoded.utf8) else {
            throw Self.refusal(name, "has data that is no base64")
        }
        self.data = data
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
}

/// An attachment that is to be saved, its content in the store as far as it is known which that is.
struct PreparedAttachment {
    let claim: AttachmentClaim
    /// The content in the store; `nil` for a stub without a digest or with one that the store doesn't have.
    let stored: Attachment?
}

extension NamedValues<PreparedAttachment> {
    /// The attachments of a new revision.
    ///
    /// - Parameters:
    ///   - inherited: Those of its parent, which stubs refer to.
    ///   - generation: The new revision's.
    ///   - isEdit: Whether it is made here, so that claims of when something was added are not believed.
    /// - Throws: `notFound` for a stub of what is not there.
    func resolved(
        from inherited: NamedValues<Attachment>, generation: UInt64, isEdit: Bool
    ) throws(DatabaseError) -> NamedValues<Attachment> {
        var result = NamedValues<Attachment>()
        for (name, prepared) in self {
            let claim = prepared.claim
            let old = inherited[name]
            guard var found = claim.data == nil && claim.isOf(old) ? old : prepared.stored else {
                throw DatabaseError(
                    .notFound,
                    "The attachment \(DatabaseError.quoted(name)) is a stub, and neither the revision before nor the "
                        + "store has its content. Store the blob first, or give its data.")
            }
            let type = claim.contentType ?? (claim.data == nil ? old?.contentType : nil)
            let blob = Blob(digest: found.digest, length: found.length, contentType: type)
            var position = blob == old?.blob ? old?.revisionPosition ?? generation : generation
            if !isEdit, let claimed = claim.revisionPosition, (1...generation).contains(claimed) {
                position = claimed
            }
            found = found.with(blob, revisionPosition: position)
            result[name] = found
        }
        return result
    }
}

extension AttachmentClaim {
    /// Whether a stub means `attachment`. A digest by MD5, as CouchDB gives, is not compared.
    fileprivate func isOf(_ attachment: Attachment?) -> Bool {
        guard let attachment else { return false }
        return digest == nil || digest == attachment.digest || digest?.hasPrefix("md5-") == true
    }
}
