import Fleece
import Roost
import RoostWire

extension RemotePeer {
    /// How many bytes of documents go in one request.
    private static let bulkSize = 4 << 20

    package func write(_ revisions: [CarriedRevision]) async throws -> [ReplicationProblem] {
        var problems: [ReplicationProblem] = []
        var bulk: [(CarriedRevision, [UInt8])] = []
        var size = 0
        for revision in revisions {
            do {
                let (text, attachments) = try AttachmentText.following(
                    try revision.json(), newerThan: revision.knownGeneration)
                guard attachments.isEmpty else {
                    try await put(revision, text, attachments)
                    continue
                }
                bulk.append((revision, text))
                size += text.count
                if size >= Self.bulkSize {
                    problems += try await post(bulk)
                    (bulk, size) = ([], 0)
                }
            } catch {
                guard error.isOfOneDocument else { throw error }
                problems.append(ReplicationProblem(revision.id, revision.revision, error))
            }
        }
        return try await problems + post(bulk)
    }

    /// Sends documents without attachments that follow; halves them where they are too many for the server.
    private func post(_ bulk: [(CarriedRevision, [UInt8])]) async throws -> [ReplicationProblem] {
        guard !bulk.isEmpty else { return [] }
        var body = Array(#"{"new_edits":false,"docs":["#.utf8)
        body += bulk.map(\.1).joined(separator: [UInt8(ascii: ",")])
        body += Array("]}".utf8)
        let answer: FleeceValue
        do {
            answer = try await client.json(client.post("/_bulk_docs", body))
        } catch let error as RemoteError where error.status == 413 {
            guard bulk.count > 1 else { return [ReplicationProblem(bulk[0].0.id, bulk[0].0.revision, error)] }
            let middle = bulk.count / 2
            return try await post(Array(bulk[..<middle])) + post(Array(bulk[middle...]))
        }
        var problems: [ReplicationProblem] = []
        for row in answer.array ?? FleeceArray.empty where row["error"].exists {
            let revision = bulk.first { $0.0.id == row["id"].string }?.0
            let error = RemoteError(row, status: 200, client)
            if error.kind == "missing_stub", let revision {
                do {
                    try await putWhole(revision)
                    continue
                } catch {
                    guard error.isOfOneDocument else { throw error }
                    problems.append(ReplicationProblem(revision.id, revision.revision, error))
                }
            } else {
                problems.append(ReplicationProblem(row["id"].string ?? "?", revision?.revision, error))
            }
        }
        return problems
    }

    /// Sends a document with content that follows.
    private func put(
        _ revision: CarriedRevision, _ text: [UInt8], _ attachments: [AttachmentText]
    ) async throws {
        do {
            try await send(revision, text, attachments)
        } catch let error as RemoteError where error.kind == "missing_stub" {
            try await putWhole(revision)
        }
    }

    /// Sends a document with the content of all its attachments.
    private func putWhole(_ revision: CarriedRevision) async throws {
        let (text, attachments) = try AttachmentText.following(try revision.json(), newerThan: 0)
        try await send(revision, text, attachments)
    }

    private func send(
        _ revision: CarriedRevision, _ text: [UInt8], _ attachments: [AttachmentText]
    ) async throws {
        var parts = [
            MultipartBody.Part(headers: ["Content-Type": "application/json"], body: .bytes(text))
        ]
        for attachment in attachments {
            var headers = HTTPHeaders()
            headers["Content-Disposition"] = ContentDisposition.attachment(attachment.name)
            headers["Content-Type"] = attachment.contentType ?? "application/octet-stream"
            if let length = attachment.length { headers["Content-Length"] = "\(length)" }
            let body = DeferredBody { try await revision.attachment(attachment.name) }
            parts.append(MultipartBody.Part(headers: headers, body: .stream(body, length: attachment.length)))
        }
        let boundary = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        var request = client.put(
            RemoteClient.path(revision.id) + "?new_edits=false", MultipartBody(boundary: boundary, parts))
        request.headers["Content-Type"] = "multipart/related; boundary=\"\(boundary)\""
        // CouchDB does not take such bodies in chunks.
        if let length = MultipartBody.length(boundary: boundary, parts) {
            request.headers["Content-Length"] = "\(length)"
        }
        _ = try await client.json(request)
    }
}

/// A stream that is opened when it is first asked for bytes.
private actor DeferredBody: BodyStream {
    private let open: @Sendable () async throws -> any BodyStream
    private var stream: (any BodyStream)?

    init(_ open: @escaping @Sendable () async throws -> any BodyStream) { self.open = open }

    func next() async throws -> [UInt8]? {
        if stream == nil { stream = try await open() }
        return try await stream?.next()
    }
}
