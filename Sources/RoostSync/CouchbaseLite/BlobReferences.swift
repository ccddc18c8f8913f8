import Fleece
import Roost
import RoostBytes
import RoostWire

/// The blobs that a document names: in its properties, as Couchbase Lite does, and as attachments.
package struct BlobReferences {
    /// What begins the names of attachments that only repeat a blob of the properties.
    package static let blobPrefix = "blob_/"

    /// Those in the properties, each digest once.
    package private(set) var blobs: [FleeceValue] = []
    package private(set) var digests: Set<ByteKey> = []

    /// Those of the properties.
    package init(_ properties: FleeceValue) {
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
    package init(_ document: Document) {
        self.init(document.value)
        for attachment in document.attachments.values { digests.insert(ByteKey(attachment.digest)) }
    }

    /// Whether it is a digest as Couchbase Lite writes it.
    package static func isDigest(_ text: String) -> Bool {
        text.removing(prefix: "sha1-").flatMap { Base64.decode($0.utf8) }?.count == 20
    }

    /// Whether an attachment of this name and value only repeats a blob of the properties.
    package func isRepeated(_ name: String, _ attachment: FleeceValue) -> Bool {
        name.begins(with: Self.blobPrefix)
            && attachment["digest"].string.map { digests.contains(ByteKey($0)) } == true
    }
}

extension Document {
    /// Whether Couchbase Lite can be told of all attachments: it knows those alone whose digest is its own kind.
    package var canNameAttachments: Bool {
        attachments.values.allSatisfy { BlobReferences.isDigest($0.digest) }
    }

    /// The properties as Couchbase Lite reads them. Attachments of CouchDB's go along, with all blobs beside them, or the reader would
    /// take those for missing; none go where it does not know them all.
    package func couchbaseJSON(_ references: BlobReferences) -> [UInt8] {
        var text = jsonBytes()
        guard !attachments.isEmpty, canNameAttachments else { return text }
        var members: NamedValues<DocumentValue> = [:]
        for (name, attachment) in attachments {
            members[name] = .dictionary([
                "content_type": .string(attachment.contentType ?? "application/octet-stream"),
                "digest": .string(attachment.digest), "length": .integer(Int64(clamping: attachment.length)),
                "revpos": .integer(Int64(clamping: attachment.revisionPosition)), "stub": .bool(true),
            ])
        }
        for (index, blob) in references.blobs.enumerated() {
            members["\(BlobReferences.blobPrefix)\(index)"] = DocumentValue(blob)
        }
        text.removeLast()
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        return text + "\"_attachments\":\(DocumentValue.dictionary(members))}".utf8
    }
}
