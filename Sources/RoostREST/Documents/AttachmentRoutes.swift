import Fleece
import Roost
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
        default: return try get(target, id, name)
        }
    }

    private static func get(_ target: DatabaseContext, _ id: String, _ name: String) throws -> HTTPResponse {
        let context = target.context
        let document = try DocumentReading.document(
            id, context.query, try target.sight(of: try target.collection.snapshot()))
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
            // What somebody stored must not run as a page of this server.
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
        try target.sight(of: try target.collection.snapshot()).seesLive(id)
    }

    private static func delete(
        _ target: DatabaseContext, _ id: String, _ name: String
    ) async throws -> HTTPResponse {
        let context = target.context
        guard let base = try RequestDocument(FleeceDocument(json: "{}").root).base(context) else {
            let sight = try target.sight(of: try target.collection.snapshot())
            guard let document = try sight.live(id), document.attachments[name] != nil
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
            let sight = try target.sight(of: try target.collection.snapshot())
            guard let old = try sight.document(id, revision: base) else {
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
