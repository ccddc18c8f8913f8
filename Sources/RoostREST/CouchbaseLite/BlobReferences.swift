import Fleece
import Roost
import RoostBytes

/// The blobs that a document names: in its properties, as Couchbase Lite does, and as attachments.
struct BlobReferences {
    /// Those in the properties, each digest once.
    private(set) var blobs: [FleeceValue] = []
    private(set) var digests: Set<ByteKey> = []

    /// Those of the properties.
    init(_ properties: FleeceValue) {
        var pending = [properties]
        while let value = pending.popLast() {
            if let members = value.dictionary {
                if value["@type"].string == "blob", let digest = value["digest"].string {
                    if Self.isDigest(digest), digests.insert(ByteKey(digest)).inserted { blobs.append(value) }
                } else {
                    for (_, member) in members where member.kind == .dictionary || member.kind == .array {
                        pending.append(member)
                    }
                }
            } else if let elements = value.array {
                for element in elements where element.kind == .dictionary || element.kind == .array {
                    pending.append(element)
                }
            }
        }
    }

    /// Those of a stored document.
    init(_ document: Document) {
        self.init(document.value)
        for attachment in document.attachments.values { digests.insert(ByteKey(attachment.digest)) }
    }

    /// Whether it is a digest as Couchbase Lite writes it.
    static func isDigest(_ text: String) -> Bool {
        text.removing(prefix: "sha1-").flatMap { Base64.decode($0.utf8) }?.count == 20
    }
}

extension Attachment {
    /// An attachment of content that the database has.
    init(digest: String, length: UInt64, contentType: String?) throws {
        var fields: NamedValues<DocumentValue> = [
            "@type": "blob", "digest": .string(digest), "length": .integer(Int64(clamping: length)),
        ]
        if let contentType { fields["content_type"] = .string(contentType) }
        guard let blob = Blob(.dictionary(fields)) else { throw HTTPFailure.noAttachment }
        self.init(blob)
    }
}
