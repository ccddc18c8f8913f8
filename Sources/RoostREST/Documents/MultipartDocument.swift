import Fleece
import Roost
import RoostCrypto
import RoostWire

/// A document with its attachments as parts of their own: multipart/related, in both directions.
enum MultipartDocument {
    // MARK: Reading

    /// Reads a document; the contents of its attachments go to the blobs as they come.
    ///
    /// - Throws: 400 for what can't be understood, 412 where contents are missing.
    static func read(
        _ body: any BodyStream, _ type: MediaType, _ target: DatabaseContext
    ) async throws -> RequestDocument {
        let context = target.context
        let options = context.router.options
        let reader = try MultipartReader(body, type: type)
        guard let first = try await reader.nextPart() else {
            throw HTTPFailure.badRequest("The multipart body has no document.")
        }
        let json = try await context.memory.collect(first.body, limit: options.longestJSON, length: nil)
        var document = try RequestDocument(try await context.parse(json).root)
        var following = NamedValues<FleeceValue>()
        for (name, value) in document.attachments where value["follows"].bool == true {
            following[name] = value
        }
        // In the order of their contents, those that have come by their name being passed over.
        var expected = MemberOrder.names(under: "_attachments", in: json).filter { following[$0] != nil }[...]
        while let part = try await reader.nextPart() {
            let named = ContentDisposition.filename(part.headers["Content-Disposition"])
            while let first = expected.first, following[first] == nil { expected.removeFirst() }
            guard let name = named.flatMap({ following[$0] == nil ? nil : $0 }) ?? expected.first,
                let value = following.removeValue(forKey: name)
            else { throw HTTPFailure.badRequest("There are more parts than attachments that follow.") }
            document.contents[name] = Attachment(
                try await store(part, value, target, options.longestAttachment))
        }
        guard following.isEmpty else {
            throw HTTPFailure.badRequest("The content of \(following.count) attachments does not follow.")
        }
        return document
    }

    private static func store(
        _ part: MultipartReader.Part, _ value: FleeceValue, _ target: DatabaseContext, _ limit: UInt64
    ) async throws -> Blob {
        let encoding = part.headers["Content-Encoding"] ?? value["encoding"].string
        let isCompressed = encoding?.lowercased() == "gzip"
        let type = value["content_type"].string ?? part.headers["Content-Type"] ?? "application/octet-stream"
        let stored = try await target.served.database.store(
            part.body, contentType: type, isCompressed: isCompressed, limit: limit, target.context.memory)
        try check(stored, is: value, isCompressed: isCompressed)
        return stored.blob
    }

    /// Compares what came with what the document says of it, so that nothing that was cut short or mixed up is stored.
    ///
    /// Lengths and digests may be those of the content, or of the gzip that it came as: clients differ.
    private static func check(_ stored: StoredBody, is value: FleeceValue, isCompressed: Bool) throws {
        let (blob, received) = (stored.blob, stored.received)
        let lengths = isCompressed ? [received, blob.length] : [received]
        for claimed in [value["length"], isCompressed ? value["encoded_length"] : .undefined] {
            guard let claimed = claimed.uint64, !lengths.contains(claimed) else { continue }
            throw HTTPFailure.badRequest(
                "attachment \(received < claimed ? "shorter" : "longer") than expected: \(received) bytes, not \(claimed)"
            )
        }
        guard let claimed = value["digest"].string else { return }
        // Digests of other kinds are some client's own business.
        guard claimed.begins(with: "md5-") || claimed.begins(with: "sha1-"),
            ![blob.digest, Attachment(blob).md5, stored.receivedMD5].contains(claimed)
        else { return }
        throw HTTPFailure(
            400, "content_md5_mismatch",
            "An attachment has not the digest \(claimed). Was it changed on the way?")
    }

    // MARK: Writing

    /// A document with what it sends of its attachments, as a body of its own.
    static func response(
        _ document: Document, _ text: DocumentText, _ snapshot: CollectionSnapshot, _ served: ServedDatabase
    ) throws -> HTTPResponse {
        let part = try part(document, text, snapshot, served)
        return HTTPResponse(200, headers: part.headers, body: part.body)
    }

    /// A document as a part: multipart/related where contents follow, else plain JSON.
    ///
    /// - Parameter known: The document's revisions, where they have been decoded already.
    static func part(
        _ document: Document, _ text: DocumentText, _ snapshot: CollectionSnapshot, _ served: ServedDatabase,
        _ known: DocumentRevisions? = nil
    ) throws -> MultipartBody.Part {
        let sent = DocumentText.ordered(document).filter { text.sends($0.attachment) }
        let json = try text.bytes(document, in: snapshot, of: served, known)
        guard !sent.isEmpty else {
            return MultipartBody.Part(headers: ["Content-Type": "application/json"], body: .bytes(json))
        }
        let boundary = RandomText.hexadecimal(bytes: 16)
        var parts = [MultipartBody.Part(headers: ["Content-Type": "application/json"], body: .bytes(json))]
        for (name, attachment) in sent {
            let gzip = try text.sentGzip(attachment, served.database)
            let length = gzip?.length ?? attachment.length
            var headers: HTTPHeaders = [
                "Content-Disposition": ContentDisposition.attachment(name),
                "Content-Type": attachment.contentType ?? "application/octet-stream",
                "Content-Length": String(length),
            ]
            if gzip != nil { headers["Content-Encoding"] = "gzip" }
            let body =
                gzip.map { BlobBody(served.database, $0) } ?? BlobBody(served.database, attachment)
            parts.append(MultipartBody.Part(headers: headers, body: .stream(body, length: length)))
        }
        return MultipartBody.Part(
            headers: ["Content-Type": "multipart/related; boundary=\"\(boundary)\""],
            body: .stream(
                MultipartBody(boundary: boundary, parts),
                length: MultipartBody.length(boundary: boundary, parts)))
    }

    /// A revision that is not here.
    static func missing(_ revision: String) -> MultipartBody.Part {
        MultipartBody.Part(
            headers: ["Content-Type": "application/json; error=\"true\""],
            body: .bytes((["missing": .string(revision)] as JSON).bytes))
    }
}
