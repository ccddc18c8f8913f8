import Fleece
import Roost
import RoostBytes
import RoostCrypto
import RoostWire

/// One attachment of a document.
enum AttachmentRoutes {
    static func respond(_ target: DatabaseContext, _ id: String, _ name: String) async throws -> HTTPResponse
    {
        let context = target.context
        try context.allow("GET", "PUT", "DELETE")
        switch context.method {
        case "PUT": return try await put(target, id, name)
        case "DELETE": return try await delete(target, id, name)
        default:
            // The document has the list of its attachments.
            guard try target.takesLong(toRead: id, at: try target.collection.snapshot()) else {
                return try get(target, id, name)
            }
            return try await context.work.respond { try get(target, id, name) }
        }
    }

    private static func get(_ target: DatabaseContext, _ id: String, _ name: String) throws -> HTTPResponse {
        let context = target.context
        let document = try DocumentReading.document(
            id, context.query, try target.visibility(of: try target.collection.snapshot()))
        guard let attachment = document.attachments[name] else { throw HTTPFailure.noAttachment }
        let database = target.served.database
        let gzip = try StoredGzip(attachment, in: database)
        let sendsGzip = gzip != nil && context.headers.acceptsCoding("gzip")
        // What is sent has a tag of its own in either form.
        let digest = sendsGzip ? gzip?.md5 ?? "" : DocumentText.digest(attachment)
        let tag = "\"\(digest.drop { $0 != "-" }.dropFirst())\""
        var headers: HTTPHeaders = [
            "Content-Type": attachment.contentType ?? "application/octet-stream", "ETag": tag,
            "Accept-Ranges": sendsGzip ? "none" : "bytes",
            // Stored content must not run as a page of this server.
            "Content-Security-Policy": "sandbox", "Content-Disposition": ContentDisposition.attachment(name),
        ]
        if gzip != nil { headers["Vary"] = "Accept-Encoding" }
        if let answer = try context.unmodified(tag, headers, revision: document.revision) { return answer }
        if let gzip, sendsGzip {
            headers["Content-Encoding"] = "gzip"
            return HTTPResponse(
                200, headers: headers, body: .stream(BlobBody(database, gzip), length: gzip.length))
        }
        var response = HTTPResponse(200, headers: headers)
        var range = 0..<attachment.length
        // A HEAD has no part.
        let isPart = context.request.method == "GET" && Preconditions(context.headers).allowsPart(tag)
        switch ByteRange(isPart ? context.headers["Range"] : nil, length: attachment.length) {
        case .whole: break
        case .part(let part):
            range = part
            response.status = 206
            response.headers["Content-Range"] =
                "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(attachment.length)"
        case .unsatisfiable:
            throw HTTPFailure(
                416, "requested_range_not_satisfiable", "Requested range not satisfiable",
                headers: ["Content-Range": "bytes */\(attachment.length)"])
        }
        response.body = .stream(
            BlobBody(database, attachment, range), length: UInt64(range.count))
        return response
    }

    private static func put(
        _ target: DatabaseContext, _ id: String, _ name: String
    ) async throws -> HTTPResponse {
        try RequestDocument.checkAttachmentName(name)
        let context = target.context
        let base = try RequestDocument(FleeceDocument(json: "{}").root).base(context)
        // Asked before the content is read, and again within the write.
        if base == nil, try isSeen(target, id) { throw HTTPFailure.conflict }
        let isCompressed = context.headers["Content-Encoding"]?.lowercased() == "gzip"
        let body = isCompressed ? context.request.body ?? BytesBody([]) : try context.body
        let blob = try await target.served.database.store(
            body, contentType: context.headers["Content-Type"] ?? "application/octet-stream",
            isCompressed: isCompressed, limit: context.router.options.longestAttachment, context.memory
        ).blob
        let revision = try await edit(target, id, base) { $0.attach(name, blob) }
        let suffix = "/" + PercentEncoding.encode(name)
        return context.answer(
            201,
            ["ok": true, "id": .string(id), "rev": .string(revision.description)],
            headers: ["Location": DocumentRoutes.location(target, id, suffix), "ETag": "\"\(revision)\""])
    }

    /// Whether the user sees a document of that name. Nothing before the write distinguishes a hidden document from an absent one.
    private static func isSeen(_ target: DatabaseContext, _ id: String) throws -> Bool {
        try target.visibility(of: try target.collection.snapshot()).seesLive(id)
    }

    private static func delete(
        _ target: DatabaseContext, _ id: String, _ name: String
    ) async throws -> HTTPResponse {
        let context = target.context
        guard let base = try RequestDocument(FleeceDocument(json: "{}").root).base(context) else {
            let visibility = try target.visibility(of: try target.collection.snapshot())
            guard let document = try visibility.live(id), document.attachments[name] != nil
            else { throw HTTPFailure.noAttachment }
            throw HTTPFailure.conflict
        }
        let revision = try await edit(target, id, base) { document in
            guard document.detach(name) else { throw HTTPFailure.noAttachment }
        }
        return DocumentRoutes.saved(target, id, revision, status: 200)
    }

    /// Saves the document again with other attachments; makes it where there is none.
    private static func edit(
        _ target: DatabaseContext, _ id: String, _ base: RevisionID?,
        _ change: @escaping @Sendable (inout RequestDocument) throws -> Void
    ) async throws -> RevisionID {
        let saving = DocumentSaving(target)
        var document: RequestDocument
        if let base {
            let visibility = try target.visibility(of: try target.collection.snapshot())
            guard let old = try visibility.document(id, revision: base) else {
                throw HTTPFailure(409, "not_found", "missing_rev")
            }
            document = RequestDocument(copying: old)
        } else {
            document = try RequestDocument(FleeceDocument(json: "{}").root)
        }
        try change(&document)
        return try await saving.saveAlone(document, id: id, base: base)
    }
}

/// The content of a blob, or a part of it, as a body.
actor BlobBody: BodyStream {
    private static let pieceSize = 64 << 10

    private let database: Database
    private let digest: String
    /// Whether the gzip is read that the content is stored as.
    private let asGzip: Bool
    private var left: Range<UInt64>
    private var reader: BlobReader?

    /// The content of an attachment, or a part of it.
    init(_ database: Database, _ attachment: Attachment, _ range: Range<UInt64>? = nil) {
        self.database = database
        digest = attachment.digest
        asGzip = false
        left = range ?? 0..<attachment.length
    }

    /// The gzip that an attachment is stored as.
    init(_ database: Database, _ gzip: StoredGzip) {
        self.database = database
        digest = gzip.digest
        asGzip = true
        left = 0..<gzip.length
    }

    func next() throws -> [UInt8]? {
        guard !left.isEmpty else { return nil }
        guard let reader = try reader ?? database.blobReader(digest) else { throw HTTPFailure.noAttachment }
        self.reader = reader
        let count = Int(min(UInt64(Self.pieceSize), UInt64(left.count)))
        var bytes = [UInt8](repeating: 0, count: count)
        let found = unsafe try bytes.withUnsafeMutableBytes { buffer in
            if asGzip { return unsafe try reader.readStored(into: buffer, at: left.lowerBound) }
            reader.position = left.lowerBound
            return unsafe try reader.read(into: buffer)
        }
        guard found == count else {
            throw HTTPFailure(500, "unknown_error", "An attachment is shorter than it was.")
        }
        left = left.lowerBound + UInt64(count)..<left.upperBound
        return bytes
    }
}

/// The gzip that the content of an attachment is stored as.
struct StoredGzip: Sendable {
    /// That of the content.
    let digest: String
    let length: UInt64
    /// `md5-` and base64.
    let md5: String

    /// - Returns: `nil` for content that is stored as it is, or as another gzip than the document knows.
    init?(_ attachment: Attachment, in database: Database) throws {
        guard let length = attachment.encodedLength, let md5 = attachment.encodedMD5,
            try database.blobReader(attachment.digest)?.gzipLength == length
        else { return nil }
        (digest, self.length, self.md5) = (attachment.digest, length, md5)
    }
}

/// What came of a body that was stored.
struct StoredBody: Sendable {
    let blob: Blob
    /// How many bytes came.
    let received: UInt64
    /// The MD5 of what came, where that is gzip: the store may have the same content in another form. `md5-` and base64.
    let receivedMD5: String?
}

extension Database {
    /// How much room is reserved at a time.
    private static var uploadStep: Int { 256 << 10 }

    /// Stores what comes, piece by piece.
    ///
    /// - Parameters:
    ///   - isCompressed: Whether it is gzip, which is kept as it comes.
    ///   - limit: How long the content may be, decompressed.
    ///   - memory: That of the request, which holds room for what is stored until a document names it.
    /// - Throws: 413 when it is longer than `limit`, 400 when it is to be gzip and is none.
    func store(
        _ body: any BodyStream, contentType: String?, isCompressed: Bool, limit: UInt64,
        _ memory: RequestMemory
    ) async throws -> StoredBody {
        let sink = BlobSink()
        var options = BlobOptions(computesMD5: true, isCompressed: isCompressed)
        options.longest = limit
        try await sink.begin(self, contentType, options)
        var room = 0
        while let bytes = try await body.next() {
            if bytes.count > room {
                let more = max(bytes.count, Self.uploadStep)
                try await memory.reserveUpload(more)
                room += more
            }
            room -= bytes.count
            do {
                try await sink.write(bytes)
            } catch let error as DatabaseError where error.code == .limitExceeded {
                throw HTTPFailure.attachmentTooLarge(limit)
            }
        }
        return try await sink.finish()
    }
}

/// A blob's writer, which belongs to one task at a time. One that is not finished leaves nothing.
private actor BlobSink {
    private var writer: BlobWriter?
    private var received: UInt64 = 0
    /// Of what comes, where it is gzip.
    private var hasher: MD5?

    func begin(_ database: Database, _ contentType: String?, _ options: BlobOptions) throws {
        hasher = options.isCompressed ? MD5() : nil
        writer = try database.makeBlobWriter(contentType: contentType, options: options)
    }

    func write(_ bytes: [UInt8]) throws {
        let writer = try current
        received += UInt64(bytes.count)
        unsafe bytes.withUnsafeBytes { unsafe hasher?.update($0) }
        try writer.write(bytes)
    }

    func finish() throws -> StoredBody {
        let writer = try current
        self.writer = nil
        let md5 = hasher.take()?.finalize()
        return StoredBody(
            blob: try writer.finishForDocument(), received: received,
            receivedMD5: md5.map { "md5-" + Base64.encode($0.bytes) })
    }

    private var current: BlobWriter {
        get throws {
            guard let writer else { throw HTTPFailure(500, "unknown_error", "The blob is finished.") }
            return writer
        }
    }
}
