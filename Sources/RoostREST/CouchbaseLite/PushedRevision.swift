import Fleece
import Roost
import RoostBLIP
import RoostBytes
import RoostCrypto

/// A `rev` that a Couchbase Lite client sends: saved with its history, after its blobs have been asked for, and answered once it is
/// durable.
struct PushedRevision: Sendable {
    /// What begins the names of attachments that only repeat a blob of the properties.
    static let blobPrefix = "blob_/"
    /// How many ancestors that a client has dropped from a history are put in their places.
    private static let mostMissing: UInt64 = 1_000

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

    // MARK: History

    /// A revision and its ancestors. Clients drop ancestors from long histories; these get names that follow from their descendants', so
    /// that the history has no gaps and is the same whenever it is sent.
    private static func lineage(
        _ name: String, _ history: String?, _ names: TreeNames
    ) throws -> [RevisionID] {
        let texts = [name[...]] + (history?.split(separator: ",") ?? [])
        var lineage: [RevisionID] = []
        for text in texts {
            guard let revision = names.revision(text.drop { $0 == " " }) else {
                throw HTTPFailure.invalidRevision
            }
            guard let child = lineage.last else {
                lineage.append(revision)
                continue
            }
            guard revision.generation < child.generation else {
                throw HTTPFailure.badRequest("The history is not in order.")
            }
            guard child.generation - revision.generation <= mostMissing else { break }
            var next = child
            while next.generation > revision.generation + 1 {
                let digest = RandomText.text(Array(SHA1.hash(Array("before \(next)".utf8)).bytes.prefix(16)))
                guard let missing = RevisionID("\(next.generation - 1)-\(digest)") else { break }
                lineage.append(missing)
                next = missing
            }
            lineage.append(revision)
        }
        return lineage
    }

    // MARK: Blobs

    /// Gets the content that a revision names and that the database does not have, or that the client has not shown to have.
    ///
    /// - Returns: What the client has sent, which goes unless the document that names it is saved.
    private func obtainBlobs(_ document: inout RequestDocument, _ id: String) async throws -> [Blob] {
        let references = BlobReferences(document.properties.root)
        document.detachAll { name, value in
            name.begins(with: Self.blobPrefix)
                && value["digest"].string.map { references.digests.contains(ByteKey($0)) } == true
        }
        let stubs = document.attachments.filter {
            $0.value["digest"].string.map(BlobReferences.isDigest) == true
        }
        guard !references.blobs.isEmpty || !stubs.isEmpty else { return [] }
        let sight = try target.sight(of: try target.collection.snapshot())
        let winner = try sight.winner(id)
        let own = winner.map { BlobReferences($0).digests } ?? []
        var held: [Blob] = []
        for blob in references.blobs {
            guard let digest = blob["digest"].string, !own.contains(ByteKey(digest)) else { continue }
            if let stored = try await obtain(digest, blob["content_type"].string, id) { held.append(stored) }
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
