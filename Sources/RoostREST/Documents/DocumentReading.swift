import Fleece
import Roost
import RoostCrypto
import RoostWire

/// Reading one document, or several revisions of it.
enum DocumentReading {
    static func get(_ target: DatabaseContext, _ id: String) async throws -> HTTPResponse {
        let snapshot = try target.collection.snapshot()
        guard try snapshot.storedLength(of: id) ?? 0 > RequestWork.mostAtOnce else {
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
        _ id: String, _ query: RequestQuery, _ sight: Sight
    ) throws -> Document {
        guard let text = query["rev"] else {
            guard let document = try sight.winner(id) else { throw HTTPFailure.missing }
            if document.isDeleted { throw HTTPFailure.deleted }
            return document
        }
        guard case .document(let document)? = try find(id, [text], latest: query.flag("latest"), sight).first
        else { throw HTTPFailure.missing }
        return document
    }

    /// What is found of the revisions that are asked for.
    enum Found {
        case document(Document)
        case missing(String)
        /// One by which the document left what the user sees.
        case removed(RemovedDocument)
    }

    /// The documents at the revisions that `revisions` name; with `latest`, the leaves that came of them.
    static func find(
        _ id: String, _ revisions: [String], latest: Bool, _ sight: Sight
    ) throws -> [Found] {
        let look = try sight.look(at: id)
        var found: [Found] = []
        var seen: Set<RevisionID> = []
        for text in revisions {
            guard let revision = try RevisionID.possible(text) else {
                found.append(.missing(text))
                continue
            }
            var leaves = [revision]
            if latest, !look.isHidden {
                leaves = try sight.snapshot.leaves(of: id, descendingFrom: revision).map(\.id)
            }
            let documents = try leaves.filter(look.sees).compactMap {
                try sight.snapshot.document(id, revision: $0)
            }
            if documents.isEmpty {
                found.append(
                    look.saw(leaveBy: revision)
                        ? .removed(RemovedDocument(id: id, revision: revision)) : .missing(text))
            }
            for document in documents where seen.insert(document.revision).inserted {
                found.append(.document(document))
            }
        }
        return found
    }

    private static func row(
        _ entry: Found, _ text: DocumentText, _ known: FleeceValue?, _ snapshot: CollectionSnapshot,
        _ served: ServedDatabase
    ) throws -> JSON {
        switch entry {
        case .missing(let revision): return ["missing": .string(revision)]
        case .removed(let removed): return ["ok": .text(try removed.text(in: snapshot))]
        case .document(let document):
            var text = text
            text.attachmentsSince = try DocumentText.newestKnown(known, of: document, in: snapshot)
            return ["ok": .text(try text.bytes(document, in: snapshot, of: served))]
        }
    }

    private static func openRevisions(
        _ target: DatabaseContext, _ id: String, _ asked: String, _ sight: Sight
    ) async throws -> HTTPResponse {
        let context = target.context
        let snapshot = sight.snapshot
        let found: [Found]
        if asked == "all" {
            found = try sight.leaves(id).map { .document($0) }
            if found.isEmpty { throw HTTPFailure.missing }
        } else {
            guard let list = try context.query.json("open_revs")?.root.array else {
                throw HTTPFailure.badRequest("open_revs must be \"all\" or a JSON array of revisions")
            }
            found = try find(id, list.compactMap(\.string), latest: context.query.flag("latest"), sight)
        }
        let known = try context.query.json("atts_since")?.root
        // As in CouchDB, nothing is said of the other revisions with each: that would be quadratic in their number.
        var text = try DocumentText(context.query, context.memory).ofOneRevision
        text.attachments = text.attachments || known != nil
        let accept = context.headers["Accept"]
        let takesJSON = MediaType.accepts(accept ?? "", "application/json", wildcards: false)
        if takesJSON || !MediaType.accepts(accept, "multipart/mixed") {
            let (text, served) = (text, target.served)
            let rows = GeneratedBody {
                var index = 0
                return {
                    guard index <= found.count else { return nil }
                    var bytes: [UInt8] = index == 0 ? [UInt8(ascii: "[")] : []
                    while index < found.count, bytes.count < 32 << 10 {
                        if index > 0 { bytes.append(UInt8(ascii: ",")) }
                        try row(found[index], text, known, snapshot, served).write(to: &bytes)
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
        let served = target.served
        let boundary = RandomText.hexadecimal(bytes: 16)
        let parts: [MultipartBody.Part] = try found.map { entry in
            switch entry {
            case .missing(let revision): return MultipartDocument.missing(revision)
            case .removed(let removed): return try removed.part(in: snapshot)
            case .document(let document):
                var text = text
                text.attachmentsFollow = true
                text.attachmentsSince = try DocumentText.newestKnown(known, of: document, in: snapshot)
                return try MultipartDocument.part(document, text, snapshot, served)
            }
        }
        return HTTPResponse(
            200, headers: ["Content-Type": "multipart/mixed; boundary=\"\(boundary)\""],
            body: .stream(
                MultipartBody(boundary: boundary, parts),
                length: MultipartBody.length(boundary: boundary, parts)))
    }
}

extension RequestContext {
    func answer(_ json: JSON) -> HTTPResponse { answer(200, json) }
}
