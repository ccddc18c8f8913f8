import Fleece
import Roost
import RoostCrypto
import RoostWire

/// Reading one document, or several revisions of it.
enum DocumentReading {
    static func get(_ target: DatabaseContext, _ id: String) async throws -> HTTPResponse {
        let snapshot = try target.collection.snapshot()
        guard try target.takesLong(toRead: id, at: snapshot) else {
            return try await get(target, id, snapshot)
        }
        return try await target.context.work.respond { try await get(target, id, snapshot) }
    }

    private static func get(
        _ target: DatabaseContext, _ id: String, _ snapshot: CollectionSnapshot
    ) async throws -> HTTPResponse {
        let context = target.context
        let sight = try target.sight(of: snapshot)
        if let asked = context.query["open_revs"] {
            return try await openRevisions(target, id, asked, sight)
        }
        let document = try document(id, context.query, sight)
        var text = try DocumentText(context.query, context.memory)
        text.attachmentsSince = try DocumentText.newestKnown(
            context.query.json("atts_since")?.root, of: document, in: snapshot)
        if text.attachmentsSince > 0 || context.query["atts_since"] != nil { text.attachments = true }
        let sends = document.attachments.contains { text.sends($0.value) }
        if sends, MediaType.accepts(context.headers["Accept"], "multipart/related") {
            text.attachmentsFollow = true
            return try MultipartDocument.response(document, text, snapshot, target.served)
        }
        let tag = "\"\(document.revision)\""
        let headers: HTTPHeaders = text.isPlain ? ["ETag": tag] : [:]
        if text.isPlain, let answer = try context.unmodified(tag, headers) { return answer }
        return context.answer(
            200, .text(try text.bytes(document, in: snapshot, of: target.served)), headers: headers)
    }

    /// The document that a query means: the winner, or the revision it names; with `latest`, the leaf that came of that.
    ///
    /// - Throws: 404.
    static func document(
        _ id: String, _ query: Query, _ sight: Sight
    ) throws -> Document {
        guard let text = query["rev"] else {
            guard let document = try sight.winner(id) else { throw HTTPFailure.missing }
            if document.isDeleted { throw HTTPFailure.deleted }
            return document
        }
        let seen = try SeenDocument(id, sight)
        guard case .revision(let revision)? = try seen.find([text], latest: query.flag("latest")).first,
            let document = try seen.document(revision)
        else { throw HTTPFailure.missing }
        return document
    }

    private static func row(
        _ entry: SeenDocument.Found, _ seen: SeenDocument, _ text: DocumentText, _ known: FleeceValue?,
        _ served: ServedDatabase
    ) throws -> JSON {
        switch entry {
        case .missing(let revision): return ["missing": .string(revision)]
        case .removed(let revision): return ["ok": .text(try seen.removed(revision).text)]
        case .revision(let revision):
            guard let document = try seen.document(revision) else {
                return ["missing": .string(revision.description)]
            }
            var text = text
            text.attachmentsSince = try DocumentText.newestKnown(
                known, of: document, in: seen.snapshot, seen.revisions)
            return ["ok": .text(try text.bytes(document, in: seen.snapshot, of: served, seen.revisions))]
        }
    }

    private static func openRevisions(
        _ target: DatabaseContext, _ id: String, _ asked: String, _ sight: Sight
    ) async throws -> HTTPResponse {
        let context = target.context
        // `nil` stands for all leaves.
        var revisions: [String]?
        if asked != "all" {
            guard let list = try context.query.json("open_revs")?.root.array else {
                throw HTTPFailure.badRequest("open_revs must be \"all\" or a JSON array of revisions")
            }
            revisions = list.compactMap(\.string)
        }
        let latest = try context.query.flag("latest")
        let wanted = revisions
        let find = { @Sendable () throws -> (SeenDocument, [SeenDocument.Found]) in
            let seen = try SeenDocument(id, sight)
            guard let wanted else {
                let leaves = seen.leaves
                if leaves.isEmpty { throw HTTPFailure.missing }
                return (seen, leaves.map { .revision($0) })
            }
            return (seen, try seen.find(wanted, latest: latest))
        }
        let known = try context.query.json("atts_since")?.root
        // As in CouchDB, nothing is said of the other revisions with each: that would be quadratic in their number.
        var text = try DocumentText(context.query, context.memory).ofOneRevision
        text.attachments = text.attachments || known != nil
        let accept = context.headers["Accept"]
        let takesJSON = MediaType.accepts(accept ?? "", "application/json", wildcards: false)
        if takesJSON || !MediaType.accepts(accept, "multipart/mixed") {
            let (text, served) = (text, target.served)
            // A body at a time is in memory.
            let rows = GeneratedBody {
                let (seen, found) = try find()
                var index = 0
                return {
                    guard index <= found.count else { return nil }
                    var bytes: [UInt8] = index == 0 ? [UInt8(ascii: "[")] : []
                    while index < found.count, bytes.count < 32 << 10 {
                        if index > 0 { bytes.append(UInt8(ascii: ",")) }
                        try row(found[index], seen, text, known, served).write(to: &bytes)
                        index += 1
                    }
                    if index == found.count {
                        index += 1
                        bytes += "]\n".utf8
                    }
                    return bytes
                }
            }
            return try await context.stream(rows)
        }
        let boundary = RandomText.hexadecimal(bytes: 16)
        let parts = try OpenRevisionParts(text, known, target.served, find)
        return HTTPResponse(
            200, headers: ["Content-Type": "multipart/mixed; boundary=\"\(boundary)\""],
            body: .stream(MultipartBody(boundary: boundary) { _ in try await parts.next() }, length: nil))
    }
}

/// Revisions of a document as the parts of a multipart body, of which one is in memory at a time.
private actor OpenRevisionParts {
    private let seen: SeenDocument
    private let found: [SeenDocument.Found]
    private let text: DocumentText
    private let known: FleeceValue?
    private let served: ServedDatabase
    private var index = 0

    /// - Throws: What `find` throws.
    init(
        _ text: DocumentText, _ known: FleeceValue?, _ served: ServedDatabase,
        _ find: () throws -> (SeenDocument, [SeenDocument.Found])
    ) throws {
        (seen, found) = try find()
        self.text = text
        self.known = known
        self.served = served
    }

    func next() throws -> MultipartBody.Part? {
        guard index < found.count else { return nil }
        index += 1
        switch found[index - 1] {
        case .missing(let revision): return MultipartDocument.missing(revision)
        case .removed(let revision): return try seen.removed(revision).part
        case .revision(let revision):
            guard let document = try seen.document(revision) else {
                return MultipartDocument.missing(revision.description)
            }
            var text = text
            text.attachmentsFollow = true
            text.attachmentsSince = try DocumentText.newestKnown(
                known, of: document, in: seen.snapshot, seen.revisions)
            return try MultipartDocument.part(document, text, seen.snapshot, served, seen.revisions)
        }
    }
}

extension RequestContext {
    func answer(_ json: JSON) -> HTTPResponse { answer(200, json) }
}
