/// What was handed in to be saved: a body, and what it said of its document.
struct Submission: Sendable {
    /// The properties, without reserved ones.
    var body: DocumentBody
    /// What the reserved properties say, where there were any.
    var claims: ReservedProperties?
    /// The ID that a ``DocumentIdentifier`` in the value gives, or the claimed one.
    var suggestedID: String?
    /// What is said of the attachments; `nil` when nothing is.
    var attachments: NamedValues<AttachmentClaim>?

    /// - Parameter claims: what the reserved properties say, where there were any.
    init(_ body: DocumentBody, claims: ReservedProperties? = nil) {
        self.body = body
        self.claims = claims
        suggestedID = claims?.id
        attachments = claims?.attachments
    }

    /// The body, where there can be no attachments.
    ///
    /// - Throws: `corruptRevisionData` when there are.
    var bodyWithoutAttachments: DocumentBody {
        get throws(DatabaseError) {
            guard attachments == nil else {
                throw DatabaseError(
                    .corruptRevisionData,
                    "A local document has no attachments. Leave \(ReservedNames.attachments) out.")
            }
            return body
        }
    }
}
