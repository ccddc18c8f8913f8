import Fleece
import Roost
import RoostCrypto
import RoostWire

extension RemotePeer {
    /// How many bytes of documents go in one request.
    private static let bulkSize = 4 << 20
    /// How many documents with attachments are sent at a time: each waits for the server to have it on its medium.
    private static let parallelDocuments = 4

    package func write(_ revisions: [CarriedRevision]) async throws -> [ReplicationProblem] {
        var problems: [ReplicationProblem] = []
        var failures = ServerFailures()
        var bulk: [(CarriedRevision, [UInt8])] = []
        var size = 0
        var following: [CarriedRevision] = []
        for revision in revisions {
            do {
                let (text, attachments) = try Self.said(revision, newerThan: revision.knownGeneration)
                guard attachments.isEmpty else {
                    following.append(revision)
                    continue
                }
                bulk.append((revision, text))
                size += text.count
                if size >= Self.bulkSize {
                    problems += try await post(bulk, &failures)
                    (bulk, size) = ([], 0)
                }
            } catch {
                guard error.isOfOneDocument else { throw error }
                problems.append(ReplicationProblem(revision.id, revision.revision, error))
            }
        }
        problems += try await post(bulk, &failures)
        let alone = SharedServerFailures(hasAnswered: failures.hasAnswered)
        problems += try await concurrently(following, limit: Self.parallelDocuments) {
            [self] revision -> ReplicationProblem? in
            do {
                _ = try await alone.run(revision.id, revision.revision) { try await put(revision) }
                return nil
            } catch {
                guard error.isOfOneDocument else { throw error }
                return ReplicationProblem(revision.id, revision.revision, error)
            }
        }.compactMap(\.self)
        failures.hasAnswered = alone.hasAnswered
        return try problems + failures.problems() + alone.problems()
    }

    /// Sends documents without attachments that follow. Halves them where they are too many for the server, or where it refuses all
    /// for what one of them is, or fails at one of them, until that one is alone. At that one it has to fail each of some times.
    private func post(
        _ bulk: [(CarriedRevision, [UInt8])], _ failures: inout ServerFailures, tries: Int = 1
    ) async throws -> [ReplicationProblem] {
        guard !bulk.isEmpty else { return [] }
        var body = Array(#"{"new_edits":false,"docs":["#.utf8)
        body.reserveCapacity(bulk.reduce(body.count + 2) { $0 + $1.1.count + 1 })
        for (index, (_, text)) in bulk.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += text
        }
        body += Array("]}".utf8)
        let answer: FleeceValue
        do {
            answer = try await client.json(client.post("/_bulk_docs", body))
        } catch let error as RemoteError where error.mayBeOfOneDocument || error.isServerFailure {
            guard bulk.count > 1 else {
                guard error.isServerFailure else { return try await sendAlone(bulk[0], refusedWith: error) }
                guard tries >= ServerFailures.tries else {
                    return try await post(bulk, &failures, tries: tries + 1)
                }
                let revision = bulk[0].0
                try failures.add(ReplicationProblem(revision.id, revision.revision, error))
                return []
            }
            let middle = bulk.count / 2
            return try await post(Array(bulk[..<middle]), &failures)
                + post(Array(bulk[middle...]), &failures)
        }
        failures.hasAnswered = true
        var problems: [ReplicationProblem] = []
        for row in answer.array ?? FleeceArray.empty where row["error"].exists {
            let revision = bulk.first { revision, _ in
                row["id"].string == revision.id
                    && row["rev"].string ?? "\(revision.revision)" == "\(revision.revision)"
            }?.0
            let error = RemoteError(row, status: 200, database: client.label)
            if let revision {
                problems += try await retry(revision, refusedWith: error)
            } else {
                problems.append(ReplicationProblem(row["id"].string ?? "?", nil, error))
            }
        }
        return problems
    }

    /// Sends a document that was refused in the list by a request of its own, in which it is nested less deeply.
    private func sendAlone(
        _ document: (revision: CarriedRevision, text: [UInt8]), refusedWith refusal: RemoteError
    ) async throws -> [ReplicationProblem] {
        let (revision, text) = document
        guard refusal.status == 400 else { return try await retry(revision, refusedWith: refusal) }
        do {
            let headers: HTTPHeaders = [
                "Content-Type": "application/json", "Content-Length": "\(text.count)",
            ]
            let path = RemoteClient.path(revision.id) + "?new_edits=false"
            _ = try await client.json(client.put(path, headers: headers) { BytesBody(text) })
            return []
        } catch let error as RemoteError where error.isOfOneDocument {
            return try await retry(revision, refusedWith: error)
        }
    }

    /// Sends a document alone, with all of its contents, where it was refused for want of one.
    private func retry(
        _ revision: CarriedRevision, refusedWith refusal: RemoteError
    ) async throws -> [ReplicationProblem] {
        guard refusal.kind == "missing_stub" else {
            return [ReplicationProblem(revision.id, revision.revision, refusal)]
        }
        do {
            try await putWhole(revision)
            return []
        } catch {
            guard error.isOfOneDocument else { throw error }
            return [ReplicationProblem(revision.id, revision.revision, error)]
        }
    }

    /// Sends a document with content that follows.
    private func put(_ revision: CarriedRevision) async throws {
        do {
            let (text, attachments) = try await following(
                revision, newerThan: revision.knownGeneration)
            try await send(revision, text, attachments)
        } catch let error as RemoteError where error.kind == "missing_stub" {
            try await putWhole(revision)
        }
    }

    /// Sends a document with the content of all its attachments.
    private func putWhole(_ revision: CarriedRevision) async throws {
        let (text, attachments) = try await following(revision, newerThan: 0)
        try await send(revision, text, attachments)
    }

    /// A revision's text and the attachments that follow it, with the lengths that their contents really have: a multipart
    /// body's has to be known before, and CouchDB's are those of the gzip where a content was put there as gzip.
    private func following(
        _ revision: CarriedRevision, newerThan generation: UInt64
    ) async throws -> (text: [UInt8], attachments: [AttachmentText]) {
        let said = try Self.said(revision, newerThan: generation)
        guard case .json = revision.content else { return said }
        var lengths = NamedValues<UInt64>()
        for attachment in said.attachments where attachment.isEncoded {
            lengths[attachment.name] = try await length(of: attachment.name, of: revision)
        }
        return lengths.isEmpty
            ? said
            : try AttachmentText.following(revision.json(), newerThan: generation, lengths: lengths)
    }

    /// A revision's text and the attachments that follow it, as the text says.
    private static func said(
        _ revision: CarriedRevision, newerThan generation: UInt64
    ) throws -> (text: [UInt8], attachments: [AttachmentText]) {
        let json = try revision.json()
        if case .stored(let document, _, _) = revision.content, document.attachments.isEmpty {
            return (json, [])
        }
        return try AttachmentText.following(json, newerThan: generation)
    }

    /// The most bytes of a content that is read only to know how long it is.
    private static let longestCounted: UInt64 = 1 << 30

    /// How long a content is, read once for that.
    private func length(of name: String, of revision: CarriedRevision) async throws -> UInt64 {
        let stream = try await revision.attachment(name)
        var length: UInt64 = 0
        while let bytes = try await stream.next() {
            length += UInt64(bytes.count)
            guard length <= Self.longestCounted else {
                throw DatabaseError(
                    .limitExceeded, "The attachment \(name) is longer than any that is carried.")
            }
        }
        return length
    }

    private func send(
        _ revision: CarriedRevision, _ text: [UInt8], _ attachments: [AttachmentText]
    ) async throws {
        let parts = { @Sendable in
            [MultipartBody.Part(headers: ["Content-Type": "application/json"], body: .bytes(text))]
                + attachments.map { Self.part($0, of: revision) }
        }
        let boundary = RandomText.hexadecimal(bytes: 16)
        var headers: HTTPHeaders = ["Content-Type": "multipart/related; boundary=\"\(boundary)\""]
        // CouchDB does not take such bodies in chunks.
        if let length = MultipartBody.length(boundary: boundary, parts()) {
            headers["Content-Length"] = "\(length)"
        }
        _ = try await client.json(
            client.put(RemoteClient.path(revision.id) + "?new_edits=false", headers: headers) {
                MultipartBody(boundary: boundary, parts())
            })
    }

    private static func part(_ attachment: AttachmentText, of revision: CarriedRevision) -> MultipartBody.Part
    {
        var headers = HTTPHeaders()
        headers["Content-Disposition"] = ContentDisposition.attachment(attachment.name)
        headers["Content-Type"] = attachment.contentType ?? "application/octet-stream"
        if let length = attachment.length { headers["Content-Length"] = "\(length)" }
        let body = DeferredBody { try await revision.attachment(attachment.name) }
        return MultipartBody.Part(headers: headers, body: .stream(body, length: attachment.length))
    }
}

/// A stream that is opened when it is first read.
private actor DeferredBody: BodyStream {
    private let open: @Sendable () async throws -> any BodyStream
    private var stream: (any BodyStream)?

    init(_ open: @escaping @Sendable () async throws -> any BodyStream) { self.open = open }

    func next() async throws -> [UInt8]? {
        if stream == nil { stream = try await open() }
        return try await stream?.next()
    }
}
