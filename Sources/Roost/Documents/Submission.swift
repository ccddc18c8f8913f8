/// What was handed in to be saved: a body, and what it said of its document.
struct Submission: Sendable {
    /// The properties, without reserved ones.
    var body: DocumentBody
    /// What the reserved properties say, where there were any.
    var claims: ReservedProperties?
    /// What it says of the document's ID.
    var identity = ValueIdentity.none
    /// What is said of the attachments; `nil` when nothing is.
    var attachments: NamedValues<AttachmentClaim>?

    /// - Parameter claims: what the reserved properties say, where there were any.
    init(_ body: DocumentBody, claims: ReservedProperties? = nil) {
        self.body = body
        self.claims = claims
        if let id = claims?.id { identity = .id(id) }
        attachments = claims?.attachments
    }

    /// The ID that it is to be saved under where none is given; `nil` when one may be made up.
    ///
    /// - Throws: `invalidDocumentID` when what it says can't be an ID.
    var suggestedID: String? {
        get throws(DatabaseError) {
            switch identity {
            case .none: return nil
            case .id(let id): return id
            case .unusable(let reason): throw DatabaseError(.invalidDocumentID, reason)
            }
        }
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
