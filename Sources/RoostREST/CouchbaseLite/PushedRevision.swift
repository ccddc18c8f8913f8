import Fleece
import Roost
import RoostBLIP
import RoostBytes
import RoostCrypto
import RoostSync

/// A `rev` that a Couchbase Lite client sends: saved with its history, after its blobs have been fetched, and answered once it is
/// durable.
struct PushedRevision: Sendable {
    let collection: SyncedCollection
    let target: DatabaseContext
    let blip: BLIPSession

    private var database: Database { target.served.database }

    /// Whether a client may send a document of this ID.
    static func isPossible(_ id: String) -> Bool { !id.isEmpty && !id.begins(with: "_") }

    func save(_ request: BLIPSession.Request) async throws {
        let properties = request.properties
        // Deltas were not offered; the client sends the whole revision instead.
        guard properties["deltaSrc"] == nil else {
            throw HTTPFailure(422, "unprocessable", "Deltas are not supported.")
        }
        guard let id = properties["id"], Self.isPossible(id), let name = properties["rev"] else {
            throw HTTPFailure.badRequest("A revision needs `id` and `rev`.")
        }
        let names = try TreeNames(of: id, in: try target.collection.snapshot())
        let lineage = try Self.lineage(name, properties["history"], names)
        let text = try await target.context.memory.collect(
            request.body, limit: target.context.router.options.longestJSON, length: nil)
        let body = try await target.context.parse(text)
        target.context.memory.release(text.count)
        var document = try RequestDocument(
            body.root, history: lineage, isDeleted: properties.flag("deleted"))
        let saving = DocumentSaving(target)
        document = try await saving.prepare(document, id: id, base: nil, isEdit: false)
        document.blobs = try await obtainBlobs(&document, id)
        try await saving.insertPrepared(document, id: id, replacesWinner: true)
    }

    private static func lineage(
        _ name: String, _ history: String?, _ names: TreeNames
    ) throws -> [RevisionID] {
        do throws(TreeNames.Failure) {
            return try names.lineage(name, history)
        } catch {
            switch error {
            case .malformed: throw HTTPFailure.invalidRevision
            case .disordered: throw HTTPFailure.badRequest("The history is not in order.")
            }
        }
    }

    // MARK: Blobs

    /// Gets the content that a revision names and that the database does not have, or that the client has not shown to have.
    ///
    /// - Returns: What the client has sent, which goes unless the document that names it is saved.
    private func obtainBlobs(_ document: inout RequestDocument, _ id: String) async throws -> [Blob] {
        let references = BlobReferences(document.properties.root)
        document.detachAll { references.isRepeated($0, $1) }
        let stubs = document.attachments.filter {
            $0.value["digest"].string.map(BlobReferences.isDigest) == true
        }
        guard !references.blobs.isEmpty || !stubs.isEmpty else { return [] }
        let visibility = try target.visibility(of: try target.collection.snapshot())
        let winner = try visibility.winner(id)
        let own = winner.map { BlobReferences($0).digests } ?? []
        var held: [Blob] = []
        for blob in references.blobs {
            guard let digest = blob["digest"].string, !own.contains(ByteKey(digest)) else { continue }
            // One that is here already may be another revision's that is not saved in the end.
            let stored = try await obtain(digest, blob["content_type"].string, id) ?? Blob(blob)
            if let stored { held.append(stored) }
        }
        for (name, value) in stubs {
            guard let digest = value["digest"].string,
                winner?.attachments[name]?.digest.isIdentical(to: digest) != true
            else { continue }
            let type = value["content_type"].string
            if !own.contains(ByteKey(digest)), let stored = try await obtain(digest, type, id) {
                held.append(stored)
            }
            guard let length = try database.blobReader(digest)?.length else { throw HTTPFailure.noAttachment }
            document.contents[name] = try Attachment(digest: digest, length: length, contentType: type)
        }
        return held
    }

    /// Gets the content of a blob from the client, unless the database has it and the client is to be believed that it has it, too.
    ///
    /// - Returns: The blob, if the client sent it.
    private func obtain(_ digest: String, _ type: String?, _ id: String) async throws -> Blob? {
        if try database.blobReader(digest) != nil {
            // Who sees everything could read it anyway.
            guard target.isLimited else { return nil }
            if try await isProved(digest) { return nil }
        }
        let request = collection.message("getAttachment", ["digest": digest, "docID": id])
        let response = try await blip.response(to: request)
        do {
            guard !response.isError else {
                throw HTTPFailure(404, "not_found", "The client has no blob \(digest).")
            }
            let stored = try await database.store(
                response.body, contentType: type, isCompressed: false,
                limit: target.context.router.options.longestAttachment, target.context.memory
            ).blob
            guard stored.digest.isIdentical(to: digest) else {
                throw HTTPFailure.badRequest("The content of the blob \(digest) has another digest.")
            }
            await blip.discard(response)
            return stored
        } catch {
            await blip.discard(response)
            throw error
        }
    }

    /// Whether the client has the content of a digest: it hashes it together with what only this question has.
    private func isProved(_ digest: String) async throws -> Bool {
        let nonce = SystemRandom.bytes(count: 16)
        let request = collection.message("proveAttachment", ["digest": digest], body: nonce)
        let (reply, isError) = try await blip.reply(to: request, limit: 1 << 10)
        guard !isError, let reader = try database.blobReader(digest) else { return false }
        var hash = SHA1()
        let start = [UInt8(nonce.count)] + nonce
        unsafe start.withUnsafeBytes { unsafe hash.update($0) }
        unsafe try reader.forEachPiece { unsafe hash.update($0) }
        return reply.body == Array("sha1-\(Base64.encode(hash.finalize().bytes))".utf8)
    }
}

extension Attachment {
    /// An attachment of content that the database has.
    init(digest: String, length: UInt64, contentType: String?) throws {
        var fields: NamedValues<DocumentValue> = [
            "@type": "blob", "digest": .string(digest), "length": .integer(Int64(clamping: length)),
        ]
        if let contentType { fields["content_type"] = .string(contentType) }
        guard let blob = Blob(.dictionary(fields)) else { throw HTTPFailure.noAttachment }
        self.init(blob)
    }
}

/// `proposeChanges`: which of a client's revisions may be sent.
struct Proposals: Sendable {
    let target: DatabaseContext
    /// The most revisions in one message; Couchbase Lite proposes 200.
    private static let mostProposals = 10_000

    func answer(_ request: BLIPSession.Request) async throws -> BLIPSession.Answer {
        let memory = target.context.memory
        let text = try await memory.collect(
            request.body, limit: target.context.router.options.longestJSON, length: nil)
        guard let items = try await target.context.parse(text).root.array, items.count <= Self.mostProposals
        else { throw BLIPFailure(400, "The proposals must be an array of at most \(Self.mostProposals).") }
        let visibility = try target.visibility(of: try target.collection.snapshot())
        let tellsRevision = request.properties.flag("conflictIncludesRev")
        var answers: [JSON] = []
        var count = 0
        for item in items {
            try Task.checkCancellation()
            let verdict = try verdict(on: item, visibility)
            if case .conflict(let revision) = verdict, tellsRevision {
                answers.append(["status": 409, "rev": .string(revision)])
            } else {
                answers.append(.number(verdict.status))
            }
            if verdict.status != 0 { count = answers.count }
        }
        // Zeros at the end go without saying.
        let body = JSON.array(Array(answers.prefix(count))).bytes
        return .message(BLIPMessage(["blobs": "true"], body: body), .compressed)
    }

    private enum Verdict {
        case wanted
        case known
        case conflict(String)
        case refused(Int)

        var status: Int {
            switch self {
            case .wanted: 0
            case .known: 304
            case .conflict: 409
            case .refused(let status): status
            }
        }
    }

    /// - Parameter item: `[document, revision, the server's revision that it replaces, size]`.
    private func verdict(on item: FleeceValue, _ visibility: Visibility) throws -> Verdict {
        guard let id = item[0].string, PushedRevision.isPossible(id) else { return .refused(400) }
        guard let winner = try visibility.winningRevision(id) else { return .wanted }
        let current = TreeNames.text(winner.revision)
        if item[1].string.map({ current.isIdentical(to: $0) }) == true { return .known }
        let parent = item[2].string ?? ""
        if parent.isEmpty ? winner.isDeleted : current.isIdentical(to: parent) { return .wanted }
        return .conflict(current)
    }
}
