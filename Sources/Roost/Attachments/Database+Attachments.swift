import Fleece
import RoostBlobs
import RoostBytes

extension Database {
    /// Opens the content of an attachment; `nil` when it is not in the store.
    ///
    /// - Parameter attachment: One of ``Document/attachments``.
    /// - Throws: `damaged`, `unsupportedFormat`, `closed`, `inputOutput`.
    public func blobReader(_ attachment: Attachment) throws(DatabaseError) -> BlobReader? {
        try blobReader(attachment.digest)
    }

    /// A document as JSON text with the content of its attachments in base64, for a program that has no access to the
    /// store. Takes memory of several times the content.
    ///
    /// - Parameters:
    ///   - document: A document of this database.
    ///   - format: How the text is laid out.
    ///   - metadata: What it says besides properties and attachments.
    /// - Throws: `notFound` when the content is not in the store, `damaged`, `closed`, `inputOutput`.
    public func json(
        inliningAttachmentsOf document: Document, _ format: JSONFormat = .compact,
        with metadata: DocumentMetadata = .all
    ) throws(DatabaseError) -> String {
        let text = document.jsonBytes(
            format, with: metadata.subtracting(.attachments), attachments: try inlined(document))
        return String(decoding: text, as: UTF8.self)
    }

    /// The attachments of a document with their content.
    ///
    /// - Throws: `notFound` when the content is not in the store, `damaged`, `closed`, `inputOutput`.
    func inlined(_ document: Document) throws(DatabaseError) -> NamedValues<DocumentValue> {
        var members = NamedValues<DocumentValue>()
        for (name, attachment) in document.attachments {
            guard let reader = try blobReader(attachment) else {
                throw DatabaseError(
                    .notFound,
                    "The content of the attachment \(DatabaseError.quoted(name)), \(attachment.digest), is not in the "
                        + "store. Restore it from a backup or a peer.")
            }
            var fields = attachment.fields
            fields[Attachment.Field.encoding] = nil
            fields[Attachment.Field.encodedLength] = nil
            fields[Attachment.Field.data] = .string(Base64.encode(try reader.readAll()))
            members[name] = .dictionary(fields)
        }
        return members
    }
}
