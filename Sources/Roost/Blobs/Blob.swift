import Fleece
import RoostBlobs

/// A reference to bytes in the database's blob store, as a document holds it.
///
/// In JSON it is `{"@type":"blob","content_type":…,"length":…,"digest":"sha1-…"}`, as Couchbase Lite writes it. Types
/// that are Codable can have properties of this type.
public struct Blob: Hashable, Sendable {
    /// The digest of the content: `sha1-` and base64.
    public let digest: String
    /// The length of the content in bytes.
    public let length: UInt64
    /// The MIME type, where one was given.
    public let contentType: String?
    /// The MD5 digests, where they were computed when it was stored. No part of the reference.
    var checksums: BlobChecksums?
    /// Removes the content with the last copy of this reference unless a document names it then; only of content that was stored for a
    /// document that may be refused. No part of the reference.
    var hold: BlobHold?

    init(digest: String, length: UInt64, contentType: String?, checksums: BlobChecksums? = nil) {
        self.digest = digest
        self.length = length
        self.contentType = contentType
        self.checksums = checksums
    }

    /// The blob that a document's property refers to; `nil` when it is something else.
    public init?(_ value: DocumentValue?) {
        guard case .dictionary(let fields)? = value, fields["@type"] == .string("blob"),
            case .string(let digest)? = fields["digest"], case .integer(let length)? = fields["length"],
            let length = UInt64(exactly: length)
        else { return nil }
        var contentType: String?
        if case .string(let text)? = fields["content_type"] { contentType = text }
        self.init(digest: digest, length: length, contentType: contentType)
    }

    /// The blob that a property of a stored document refers to; `nil` when it is something else.
    public init?(_ value: FleeceValue) {
        guard value["@type"].string == "blob", let digest = value["digest"].string,
            let length = value["length"].uint64
        else { return nil }
        self.init(digest: digest, length: length, contentType: value["content_type"].string)
    }

    /// The reference as a property of a document.
    public var value: DocumentValue {
        var fields: NamedValues<DocumentValue> = [
            "@type": "blob", "digest": .string(digest), "length": .integer(Int64(clamping: length)),
        ]
        if let contentType { fields["content_type"] = .string(contentType) }
        return .dictionary(fields)
    }
}

extension Blob {
    /// Whether both refer to the same content with the same type.
    public static func == (left: Self, right: Self) -> Bool {
        left.digest == right.digest && left.length == right.length && left.contentType == right.contentType
    }

    /// Hashes the digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

extension Blob: Codable {
    private enum Field: String, CodingKey {
        case type = "@type"
        case digest
        case length
        case contentType = "content_type"
    }

    /// Decodes a reference.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        guard try fields.decode(String.self, forKey: .type) == "blob" else {
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: fields, debugDescription: "This is no reference to a blob.")
        }
        self.init(
            digest: try fields.decode(String.self, forKey: .digest),
            length: try fields.decode(UInt64.self, forKey: .length),
            contentType: try fields.decodeIfPresent(String.self, forKey: .contentType))
    }

    /// Encodes the reference.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode("blob", forKey: .type)
        try fields.encode(digest, forKey: .digest)
        try fields.encode(length, forKey: .length)
        try fields.encodeIfPresent(contentType, forKey: .contentType)
    }
}
