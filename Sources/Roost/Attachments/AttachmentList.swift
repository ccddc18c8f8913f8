import Fleece
import RoostBytes

/// The attachments of a revision as they are stored: a Fleece dictionary of their names.
struct AttachmentList: Sendable {
    let fleece: FleeceDocument

    /// - Returns: `nil` without attachments, which takes no place in the file.
    init?(_ attachments: NamedValues<Attachment>) throws(DatabaseError) {
        guard !attachments.isEmpty else { return nil }
        var writer = FleeceWriter()
        DocumentValue.write(attachments.mapValues { .dictionary($0.storedFields) }, to: &writer)
        let bytes = try translating { () throws(FleeceError) in try writer.finish() }
        fleece = FleeceDocument(trusting: bytes)
    }

    init(stored bytes: ByteView) {
        fleece = FleeceDocument(trusting: bytes.array)
    }

    /// The attachments by name. Those whose entry is damaged are left out.
    var attachments: NamedValues<Attachment> {
        var found = NamedValues<Attachment>()
        for (name, value) in fleece.root.dictionary ?? .empty {
            found[name] = Attachment(DocumentValue(value))
        }
        ReadCounts.note(.attachments, found.count)
        return found
    }
}

extension Document {
    /// The attachments by name: what they are, not their content, which ``Database/blobReader(_:)-(Attachment)`` reads.
    public var attachments: NamedValues<Attachment> { body.attachments }

    /// Whether the revision has attachments. O(1).
    public var hasAttachments: Bool { body.attachmentList != nil }

    /// What stands under `_attachments` in JSON: stubs.
    package func attachmentStubs(_ metadata: DocumentMetadata) -> NamedValues<DocumentValue> {
        attachments.mapValues { attachment in
            var fields = attachment.fields
            fields[Attachment.Field.stub] = true
            if metadata.contains(.md5Digests), let md5 = attachment.md5 {
                fields[Attachment.Field.digest] = .string(md5)
            }
            return .dictionary(fields)
        }
    }
}
