import Fleece
import Roost
import RoostBLIP
import RoostBytes
import RoostCrypto
import RoostWire

/// The server's requests.
extension CouchbaseLink {
    func answer(_ request: BLIPSession.Request) async -> BLIPSession.Answer {
        do {
            guard request.profile != "changes" else {
                return .message(try await takeChanges(request), .compressed)
            }
            place(nil, at: request.number)
            switch request.profile {
            case "rev":
                try await takeRevision(request)
                return .done
            case "norev":
                takeAbsence(request.properties)
                return .done
            case "getAttachment": return try attachment(request.properties)
            case "proveAttachment": return .message(BLIPMessage(body: try await proof(request)))
            case "PING": return .done
            default: return .failure(BLIPMessage(errorIn: "BLIP", code: 404, "No handler for BLIP request"))
            }
        } catch let error as RemoteError {
            return .failure(BLIPMessage(errorIn: "HTTP", code: error.status, error.reason))
        } catch {
            return .failure(BLIPMessage(errorIn: "HTTP", code: 503, error.sentence))
        }
    }

    private func takeChanges(_ request: BLIPSession.Request) async throws -> BLIPMessage {
        let rows: [Row]
        do {
            let text = try await request.body.collect(limit: Self.longestList)
            rows = try Self.rows(text)
        } catch let close as WebSocketClose {
            throw close
        } catch {
            try Task.checkCancellation()
            let error = malformed("a list of its changes can't be read")
            fail(error)
            blip.close(WebSocketClose(1002, "A list of changes can't be read."))
            throw error
        }
        guard !rows.isEmpty else {
            place(.end, at: request.number)
            return BLIPMessage()
        }
        let offer = Offer(rows: rows, answer: Promise())
        openLists += 1
        defer { openLists -= 1 }
        place(.offer(offer), at: request.number)
        return try await offer.answer.value()
    }

    private struct UnreadableList: Error {}

    private static func rows(_ text: [UInt8]) throws -> [Row] {
        guard let rows = try FleeceDocument(json: text).root.array else { throw UnreadableList() }
        return try rows.map { row in
            guard row[0].exists, let id = row[1].string, let revision = row[2].string else {
                throw UnreadableList()
            }
            let flags = row[3].int ?? (row[3].bool == true ? 1 : 0)
            return Row(sequence: row[0].json(), id: id, revision: revision, isRemoved: flags & 6 != 0)
        }
    }

    private func takeRevision(_ request: BLIPSession.Request) async throws {
        let properties = request.properties
        guard let id = properties["id"], let revision = properties["rev"],
            expected.contains(Key(id, revision))
        else {
            throw RemoteError(status: 400, "bad_request", "This revision was not requested.", server.label)
        }
        let promise = Promise<RemoteError?>()
        openRevisions += 1
        var held = 0
        defer {
            openRevisions -= 1
            memory.release(held)
        }
        let content: Result<Arrival.Content, RemoteError>
        if properties["deltaSrc"] == nil {
            var body: [UInt8] = []
            while let piece = try await request.body.next(), body.count <= Self.longestRevision {
                try await memory.reserve(piece.count)
                held += piece.count
                body += piece
            }
            content =
                body.count <= Self.longestRevision
                ? .success(
                    Arrival.Content(
                        history: properties["history"], isDeleted: properties.flag("deleted"), body: body))
                : .failure(
                    RemoteError(
                        status: 413, "too_large",
                        "The revision has more than \(Self.longestRevision) bytes, the most that is pulled.",
                        server.label))
        } else {
            content = .failure(
                RemoteError(status: 422, "unprocessable", "Deltas were not offered.", server.label))
        }
        if let failure { throw failure }
        guard expected.remove(Key(id, revision)) != nil else {
            throw RemoteError(status: 400, "bad_request", "This revision came before.", server.label)
        }
        arrive(Arrival(id: id, revision: revision, content: content, answer: promise))
        if let refusal = try await promise.value() { throw refusal }
    }

    private func takeAbsence(_ properties: BLIPProperties) {
        guard let id = properties["id"], let revision = properties["rev"],
            expected.remove(Key(id, revision)) != nil
        else { return }
        let reason = String((properties["reason"] ?? "").prefix(500))
        let error = RemoteError(
            // Whatever the status, it concerns this document alone.
            status: 200, "norev",
            "The server did not give this revision: \((properties["error"] ?? "").prefix(20)) \(reason)",
            server.label)
        arrive(Arrival(id: id, revision: revision, content: .failure(error), answer: Promise()))
    }

    // MARK: Blobs that the server may fetch

    func absence(_ reason: String) -> RemoteError {
        RemoteError(status: 404, "not_found", reason, server.label)
    }

    /// Notes the blobs of a revision that is being sent.
    func note(_ id: String, _ digests: Set<ByteKey>) { sent[ByteKey(id)] = digests }

    func forget(_ id: String) { sent[ByteKey(id)] = nil }

    /// A blob of a revision that is being sent. No others are shown, nor is whether there are any.
    private func blob(_ properties: BLIPProperties) throws -> (digest: String, length: UInt64) {
        guard let digest = properties["digest"],
            sent.contains(where: { document, digests in
                properties["docID"].map { ByteKey($0) == document } ?? true
                    && digests.contains(ByteKey(digest))
            }),
            let reader = try local.database.blobReader(digest)
        else { throw absence("There is no such blob.") }
        return (digest, reader.length)
    }

    private func attachment(_ properties: BLIPProperties) throws -> BLIPSession.Answer {
        let (digest, _) = try blob(properties)
        guard let reader = try local.database.blobReader(digest) else {
            throw absence("There is no such blob.")
        }
        return .stream(BLIPMessage(), BlobBody(reader), properties.flag("compress") ? .compressed : [])
    }

    /// Shows that this side has the content of a blob: hashes it with what only this question has.
    private func proof(_ request: BLIPSession.Request) async throws -> [UInt8] {
        let (digest, _) = try blob(request.properties)
        let nonce = try await request.body.collect(limit: 255)
        guard !nonce.isEmpty else {
            throw RemoteError(status: 400, "bad_request", "A proof needs a nonce.", server.label)
        }
        let database = local.database
        let hash = try await database.perform { () throws -> [UInt8] in
            guard let reader = try database.blobReader(digest) else { return [] }
            var hash = SHA1()
            let start = [UInt8(nonce.count)] + nonce
            unsafe start.withUnsafeBytes { unsafe hash.update($0) }
            unsafe try reader.forEachPiece { unsafe hash.update($0) }
            return hash.finalize().bytes
        }
        return Array("sha1-\(Base64.encode(hash))".utf8)
    }
}

/// The content of a blob that comes from a server.
actor ContentBody: BodyStream {
    private let blip: BLIPSession
    private let server: CouchbaseServer
    private var response: BLIPSession.Response?

    init(_ blip: BLIPSession, _ response: BLIPSession.Response, _ server: CouchbaseServer) {
        (self.blip, self.response, self.server) = (blip, response, server)
    }

    deinit {
        guard let response else { return }
        Task { [blip] in await blip.discard(response) }
    }

    func next() async throws -> [UInt8]? {
        guard let response else { return nil }
        let blip = blip
        do {
            let bytes = try await withTaskCancellationHandler {
                try await response.body.next()
            } onCancel: {
                blip.close(.normal)
            }
            if let bytes { return bytes }
            self.response = nil
            await blip.discard(response)
            return nil
        } catch let close as WebSocketClose {
            try Task.checkCancellation()
            throw server.error(close)
        }
    }
}
