import Fleece
import RoostBytes
import RoostCrypto
import RoostStorage

/// The properties of a revision, in the form in which they are stored.
///
/// In the file a body is one byte that names its format, and the bytes of that format:
///
///     01   the properties as Fleece, without shared keys
///     02   the length of the attachments as a varint; the attachments, a Fleece dictionary by name, each a dictionary
///          with digest, length, revpos and, where there are such, content_type, encoding and encoded_length; then the
///          properties as with 01
struct DocumentBody: Sendable {
    /// The format of a body without attachments.
    static let fleece: UInt8 = 1
    /// The format of a body with attachments.
    static let fleeceWithAttachments: UInt8 = 2

    /// The properties, a dictionary.
    let properties: FleeceDocument
    /// The attachments, `nil` where there are none.
    let attachmentList: AttachmentList?

    /// The attachments by name. Decodes them.
    var attachments: NamedValues<Attachment> { attachmentList?.attachments ?? [:] }

    /// No properties: what a tombstone has.
    static let empty: Self = {
        // A dictionary without keys in the two bytes of a narrow value; see Fleece.md.
        Self(properties: FleeceDocument(trusting: [0x70, 0x00]))
    }()

    /// The properties. A body is a dictionary when it is stored; should its bytes be damaged, it reads as an empty one.
    var dictionary: FleeceDictionary { properties.root.dictionary ?? .empty }

    private init(properties: FleeceDocument, _ attachments: AttachmentList? = nil) {
        self.properties = properties
        attachmentList = attachments
    }

    /// The same properties with these attachments.
    func with(_ attachments: NamedValues<Attachment>) throws(DatabaseError) -> Self {
        Self(properties: properties, try AttachmentList(attachments))
    }

    /// A new body.
    ///
    /// - Throws: `invalidDocument` when it is no dictionary.
    init(new properties: FleeceDocument) throws(DatabaseError) {
        guard properties.root.kind == .dictionary else {
            throw DatabaseError(
                .invalidDocument,
                "A document is a JSON object, and this is a value of the kind \(properties.root.kind). "
                    + "Put it into a property of an object.")
        }
        self.init(properties: properties)
    }

    /// A body as it was stored.
    init(stored bytes: ByteView) throws(DatabaseError) {
        guard !bytes.isEmpty else { throw DatabaseError.damaged("The body of a document") }
        switch bytes[0] {
        case Self.fleece: self.init(properties: FleeceDocument(trusting: bytes.dropFirst(1).array))
        case Self.fleeceWithAttachments:
            var reader = ByteReader(bytes.dropFirst(1))
            guard let attachments = try? reader.prefixed() else {
                throw DatabaseError.damaged("The attachments of a document")
            }
            self.init(
                properties: FleeceDocument(trusting: bytes.dropFirst(1 + reader.position).array),
                AttachmentList(stored: attachments))
        default:
            throw DatabaseError.unreadable(bodyFormat: bytes[0])
        }
    }

    /// Appends the stored form.
    func append(to bytes: inout [UInt8]) {
        let buffer = ByteBuffer()
        store(in: buffer)
        unsafe bytes.append(contentsOf: buffer.view.buffer)
    }

    /// The longest stored form in bytes, before any compression: 1 GiB.
    static let maximumLength = 1 << 30

    /// - Throws: `limitExceeded` for a body that is longer than there can be.
    func checkLength(limit: Int = maximumLength) throws(DatabaseError) {
        try Self.checkLength(headLength + properties.bytes.count, limit: limit)
    }

    /// - Parameter length: The length of the stored form.
    static func checkLength(_ length: Int, limit: Int = maximumLength) throws(DatabaseError) {
        guard length <= limit else {
            throw DatabaseError(
                .limitExceeded,
                "The document takes \(length) bytes, and the most is \(limit). Keep large content in blobs.")
        }
    }

    /// The bytes of the stored form before the properties.
    private var headLength: Int {
        guard let length = attachmentList?.fleece.bytes.count else { return 1 }
        return 1 + varintLength(UInt64(length)) + length
    }

    /// Writes the stored form over `buffer`.
    func store(in buffer: ByteBuffer) {
        buffer.reset(keeping: 1 << 20)
        if let attachments = attachmentList?.fleece {
            buffer.append(Self.fleeceWithAttachments)
            attachments.bytes.withView { buffer.append(prefixed: $0) }
        } else {
            buffer.append(Self.fleece)
        }
        buffer.append(properties.bytes)
    }
}

extension Cursor {
    /// The body that stands as the value that the cursor is at.
    func body() throws(DatabaseError) -> DocumentBody {
        let bytes = try translating { () throws(StoreError) in try valueView() }
        let body = Result { () throws(DatabaseError) in try DocumentBody(stored: bytes) }
        // First, so that no page that was lost is taken for a damaged body.
        try translating { () throws(StoreError) in try checkMapping() }
        return try body.get()
    }
}

extension DatabaseError {
    /// A body in a format of a newer Roost.
    static func unreadable(bodyFormat format: UInt8) -> Self {
        Self(
            .unsupportedFormat,
            "A document has a body of format \(format), and this Roost reads formats up to "
                + "\(DocumentBody.fleeceWithAttachments). Use a newer Roost.")
    }
}

extension DocumentBody {
    /// The digest of a revision's ID: the first 16 bytes of the SHA-256 of
    ///
    ///     length       1 byte   of the parent, 0 for a document's first revision
    ///     parent       bytes    the parent revision's compact form
    ///     deleted      1 byte   1 for a tombstone, else 0
    ///     attachments  varint   how many attachments follow, by name in byte order; each is its name and its digest,
    ///                           both with their lengths as varints before them
    ///     body         rest     the properties in their canonical form
    ///
    /// The same edit is thus the same revision wherever it is made. Nobody recomputes the digests of others.
    ///
    /// - Parameter form: Where to gather what is digested.
    func digest(
        parent: RevisionID?, isDeleted: Bool, gatheredIn form: inout CanonicalForm
    ) -> RevisionDigest {
        form.removeAll()
        if let parent {
            var compact: [UInt8] = []
            parent.appendPrefixed(to: &compact)
            form.append(compact)
        } else {
            form.append(0)
        }
        form.append(isDeleted ? 1 : 0)
        if attachmentList == nil {
            form.append(0)
        } else {
            let attachments = attachments
            form.append(varint: attachments.count)
            for (name, attachment) in attachments {
                form.append(name)
                form.append(attachment.digest)
            }
        }
        form.append(properties.root)
        let digest = unsafe form.withBytes { unsafe SHA256.hash($0) }
        return unsafe digest.withUnsafeBytes { bytes in
            let words = unsafe bytes.assumingMemoryBound(to: UInt8.self)
            return unsafe RevisionDigest(binary: words.span.extracting(first: RevisionDigest.binaryLength))!
        }
    }
}

// MARK: - BodyMaker

/// Makes bodies from what is to be saved, one after the other, keeping its memory between them.
///
/// Belongs to one task at a time.
package final class BodyMaker {
    // What follows is changed by one call after another: checking at run time that no two overlap takes a share of the
    // time that each document takes.
    private var writer: FleeceWriter {
        @inline(__always) _read { yield unsafe uncheckedWriter }
        @inline(__always) _modify { yield unsafe &uncheckedWriter }
    }
    /// Takes the members that are no properties.
    private var otherWriter: FleeceWriter {
        @inline(__always) _read { yield unsafe uncheckedOtherWriter }
        @inline(__always) _modify { yield unsafe &uncheckedOtherWriter }
    }
    @exclusivity(unchecked) private var uncheckedWriter = FleeceWriter(capacity: 4096)
    @exclusivity(unchecked) private var uncheckedOtherWriter = FleeceWriter(capacity: 256)
    private let encoder = FleeceEncoder()

    private let takesNumbersAsIDs: Bool

    /// - Parameter takesNumbersAsIDs: whether the `_id` of JSON text may be a whole number, which counts as its digits.
    package init(takesNumbersAsIDs: Bool = false) { self.takesNumbersAsIDs = takesNumbersAsIDs }

    /// The body with the content of a JSON text.
    ///
    /// - Throws: `invalidDocument` for text that is not one JSON object, with line and column; `limitExceeded` for
    ///   one that is nested too deeply or too large; `corruptRevisionData` for reserved properties that cannot be.
    package func document(json: some Sequence<UInt8>) throws(DatabaseError) -> IncomingDocument {
        let hasReserved: Bool
        do throws(FleeceError) {
            hasReserved = try unsafe writer.write(
                json: json, separating: { unsafe ReservedNames.contain($0) }, into: &otherWriter)
        } catch {
            writer.removeAll()
            otherWriter.removeAll()
            throw DatabaseError(error)
        }
        let body = try finish()
        guard hasReserved else { return IncomingDocument(body) }
        return IncomingDocument(
            body, claims: try ReservedProperties(finishOthers(), takesNumbersAsIDs: takesNumbersAsIDs))
    }

    /// The body that `value` encodes to, without the `id` of an `Identifiable` one. Dates become ISO 8601 text, URLs text,
    /// and data stays data.
    ///
    /// - Throws: `invalidDocument` when that is not an object, or when encoding fails; `corruptRevisionData`.
    func document(encoding value: some Encodable) throws(DatabaseError) -> IncomingDocument {
        let isIdentifiable = value is any Identifiable
        let hasOthers: Bool
        do {
            hasOthers = try unsafe encoder.encode(
                value, to: &writer,
                separating: { key in
                    unsafe ReservedNames.contain(key) || isIdentifiable && ValueIdentity.isKey(key)
                }, into: &otherWriter)
        } catch {
            writer.removeAll()
            otherWriter.removeAll()
            if let error = error as? FleeceError { throw DatabaseError(error) }
            throw DatabaseError(
                .invalidDocument,
                "A value of the type \(type(of: value)) cannot be encoded. \(error.sentence)",
                underlyingError: error)
        }
        let body = try finish()
        let others = try hasOthers ? finishOthers() : nil
        let isClaiming = others?.root.dictionary?.hasKey(beginningWith: ReservedNames.firstByte) == true
        var incoming = IncomingDocument(
            body,
            claims: isClaiming
                ? try others.map { (others) throws(DatabaseError) in try ReservedProperties(others) } : nil)
        // An `_id` that was encoded says the same as the `id` of a type that encodes it so.
        let coded = (isIdentifiable ? others : body.properties)?[ValueIdentity.key]
        incoming.identity =
            incoming.claims?.id.map { .id($0) }
            ?? ValueIdentity(value, coded: coded.flatMap { DocumentValue($0) })
        return incoming
    }

    /// The body that a value encodes to, which was read from the document `id`.
    ///
    /// - Throws: `invalidDocumentID` when its own `id` is another.
    func document<Value: Encodable>(encoding stored: Versioned<Value>) throws(DatabaseError)
        -> IncomingDocument
    {
        let incoming = try document(encoding: stored.value)
        guard incoming.identity.isSame(as: stored.id) else {
            throw DatabaseError(
                .invalidDocumentID,
                "The id of a value that was read from the document \(DatabaseError.quoted(stored.id)) has been changed. Save "
                    + "its value, which makes another document, and delete this one if it is to go.")
        }
        return incoming
    }

    /// The body with these properties.
    ///
    /// - Throws: `invalidDocument` for a number that is not finite; `limitExceeded`; `corruptRevisionData`.
    func document(_ properties: NamedValues<DocumentValue>) throws(DatabaseError) -> IncomingDocument {
        var reserved = NamedValues<DocumentValue>()
        writer.beginDictionary()
        for (name, value) in properties {
            if ReservedNames.contain(name) {
                reserved[name] = value
            } else {
                writer.key(name)
                value.write(to: &writer, depth: 1)
            }
        }
        writer.endDictionary()
        let body = try finish()
        guard !reserved.isEmpty else { return IncomingDocument(body) }
        DocumentValue.write(reserved, to: &otherWriter)
        return IncomingDocument(body, claims: try ReservedProperties(finishOthers()))
    }

    private func finishOthers() throws(DatabaseError) -> FleeceDocument {
        FleeceDocument(trusting: try translating { () throws(FleeceError) in try otherWriter.finish() })
    }

    private func finish() throws(DatabaseError) -> DocumentBody {
        let bytes = try translating { () throws(FleeceError) in try writer.finish() }
        return try DocumentBody(new: FleeceDocument(trusting: bytes))
    }
}
