import Fleece
import RoostBlobs
import RoostBytes

/// A blob under a name of its own at one revision of a document, beside its properties.
///
/// ```swift
/// var draft = document.mutableCopy()
/// draft.attachments["gable.jpg"] = Attachment(try database.saveBlob(bytes, contentType: "image/jpeg"))
/// try photos.save(&draft)
/// ```
///
/// The edits that follow carry it on until one of them removes it. In JSON it stands in `_attachments`, as in CouchDB.
public struct Attachment: Hashable, Sendable {
    /// The content: digest, length and MIME type.
    public let blob: Blob
    /// The generation of the revision that added or changed it (CouchDB's `revpos`); 0 before it is saved.
    public let revisionPosition: UInt64
    /// How many bytes the content takes as gzip, where it is stored as such; else `nil`.
    public let encodedLength: UInt64?
    /// The MD5 digests; `nil` before it is saved.
    let checksums: BlobChecksums?

    /// An attachment that is to be saved.
    ///
    /// - Parameter blob: The content, which the database has.
    public init(_ blob: Blob) {
        self.init(blob, revisionPosition: 0, encodedLength: nil, checksums: blob.checksums)
    }

    init(_ blob: Blob, revisionPosition: UInt64, encodedLength: UInt64?, checksums: BlobChecksums?) {
        self.blob = blob
        self.checksums = checksums
        self.revisionPosition = revisionPosition
        self.encodedLength = encodedLength
    }

    /// The digest of the content: `sha1-` or `sha256-` and base64.
    public var digest: String { blob.digest }

    /// The length of the content in bytes.
    public var length: UInt64 { blob.length }

    /// The MIME type, where one was given.
    public var contentType: String? { blob.contentType }

    /// The MD5 of the content, `md5-` and base64, by which CouchDB knows an attachment; `nil` before it is saved.
    public var md5: String? { checksums.map { BlobChecksums.text($0.md5) } }

    /// The MD5 of the gzip that the content is stored as; `nil` where it is stored as it is, and before it is saved.
    public var encodedMD5: String? { checksums?.encodedMD5.map(BlobChecksums.text) }

    /// The same with MD5 digests.
    func with(_ checksums: BlobChecksums) -> Self {
        Self(blob, revisionPosition: revisionPosition, encodedLength: encodedLength, checksums: checksums)
    }

    /// The same with another place or type.
    func with(contentType: String?, revisionPosition: UInt64) -> Self {
        Self(
            Blob(digest: digest, length: length, contentType: contentType),
            revisionPosition: revisionPosition,
            encodedLength: encodedLength, checksums: checksums)
    }
}

extension Attachment {
    /// The names of the facts, in the file and in JSON.
    enum Field {
        static let contentType = "content_type"
        static let digest = "digest"
        static let length = "length"
        static let revisionPosition = "revpos"
        static let encoding = "encoding"
        static let encodedLength = "encoded_length"
        static let md5 = "md5"
        static let encodedMD5 = "encoded_md5"
        static let stub = "stub"
        static let follows = "follows"
        static let data = "data"
        static let gzip = "gzip"
    }

    /// What is stored of it.
    var storedFields: NamedValues<DocumentValue> {
        var fields = fields
        if let checksums { fields[Field.md5] = .data(checksums.md5) }
        if let encoded = checksums?.encodedMD5 { fields[Field.encodedMD5] = .data(encoded) }
        return fields
    }

    /// What JSON tells of it.
    var fields: NamedValues<DocumentValue> {
        var fields: NamedValues<DocumentValue> = [
            Field.digest: .string(digest), Field.length: .integer(Int64(clamping: length)),
            Field.revisionPosition: .integer(Int64(clamping: revisionPosition)),
        ]
        if let contentType { fields[Field.contentType] = .string(contentType) }
        if let encodedLength {
            fields[Field.encoding] = .string(Field.gzip)
            fields[Field.encodedLength] = .integer(Int64(clamping: encodedLength))
        }
        return fields
    }

    /// Reads what was stored; `nil` when it is damaged.
    init?(_ value: DocumentValue?) {
        guard case .dictionary(let fields)? = value, case .string(let digest)? = fields[Field.digest],
            let length = fields[Field.length]?.count, let position = fields[Field.revisionPosition]?.count
        else { return nil }
        var contentType: String?
        if case .string(let text)? = fields[Field.contentType] { contentType = text }
        var checksums: BlobChecksums?
        if case .data(let md5)? = fields[Field.md5] {
            checksums = BlobChecksums(md5: md5, encodedMD5: fields[Field.encodedMD5].flatMap(\.bytes))
        }
        self.init(
            Blob(digest: digest, length: length, contentType: contentType), revisionPosition: position,
            encodedLength: fields[Field.encodedLength]?.count, checksums: checksums)
    }
}

extension DocumentValue {
    /// The bytes; `nil` for anything else.
    fileprivate var bytes: [UInt8]? {
        if case .data(let bytes) = self { bytes } else { nil }
    }

    /// The value of a whole number that is not negative.
    var count: UInt64? {
        switch self {
        case .integer(let number): UInt64(exactly: number)
        case .unsigned(let number): number
        default: nil
        }
    }
}

// MARK: - AttachmentList

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

// MARK: - Attachments

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
