import Fleece
import Roost
import RoostBytes
import RoostCrypto
import RoostWire

/// Reading one document, or several revisions of it.
enum DocumentReading {
    static func get(_ target: DatabaseContext, _ id: String) async throws -> HTTPResponse {
        let snapshot = try target.collection.snapshot()
        guard !target.isLimited, target.context.query["rev"] == nil, target.context.query["open_revs"] == nil
        else {
            guard try target.takesLong(toRead: id, at: snapshot) else {
                return try await get(target, id, snapshot)
            }
            return try await target.context.work.respond { try await get(target, id, snapshot) }
        }
        let visibility = try target.visibility(of: snapshot)
        switch try visibility.winner(id, upTo: RequestWork.mostAtOnce) {
        case nil: throw HTTPFailure.missing
        case .read(let winner)?: return try response(target, try live(winner), snapshot)
        case .larger?: return try await target.context.work.respond { try await get(target, id, snapshot) }
        }
    }

    private static func get(
        _ target: DatabaseContext, _ id: String, _ snapshot: CollectionSnapshot
    ) async throws -> HTTPResponse {
        let visibility = try target.visibility(of: snapshot)
        if let asked = target.context.query["open_revs"] {
            return try await openRevisions(target, id, asked, visibility)
        }
        return try response(target, try document(id, target.context.query, visibility), snapshot)
    }

    private static func response(
        _ target: DatabaseContext, _ document: Document, _ snapshot: CollectionSnapshot
    ) throws -> HTTPResponse {
        let context = target.context
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
        _ id: String, _ query: RequestQuery, _ visibility: Visibility
    ) throws -> Document {
        guard let text = query["rev"] else {
            guard let document = try visibility.winner(id) else { throw HTTPFailure.missing }
            return try live(document)
        }
        let seen = try SeenDocument(id, visibility)
        guard case .revision(let revision)? = try seen.find([text], latest: query.flag("latest")).first,
            let document = try seen.document(revision)
        else { throw HTTPFailure.missing }
        return document
    }

    /// - Throws: 404 for a tombstone.
    private static func live(_ document: Document) throws -> Document {
        if document.isDeleted { throw HTTPFailure.deleted }
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
        _ target: DatabaseContext, _ id: String, _ asked: String, _ visibility: Visibility
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
            let seen = try SeenDocument(id, visibility)
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

/// Writes documents as clients get them.
struct DocumentText: Sendable {
    /// What is said besides the properties.
    var revisions = false
    var revisionInfo = false
    var conflicts = false
    var deletedConflicts = false
    var localSequence = false
    /// Whether the content of attachments comes with it, in base64.
    var attachments = false
    /// Whether the content follows in other parts of a multipart body.
    var attachmentsFollow = false
    /// Whether the text says that content is stored as gzip.
    var encodingInfo = false
    /// Attachments that a leaf's known ancestors had already stay stubs: those up to this generation.
    var attachmentsSince: UInt64 = 0
    /// Where what is long is reserved.
    private let memory: RequestMemory
    /// How long a document may be that is not counted, in bytes.
    private static let uncounted = 16 << 10

    /// The parts that a query requests.
    init(_ query: RequestQuery, _ memory: RequestMemory) throws {
        self.memory = memory
        let meta = try query.flag("meta")
        revisions = try query.flag("revs")
        revisionInfo = try query.flag("revs_info") || meta
        conflicts = try query.flag("conflicts") || meta
        deletedConflicts = try query.flag("deleted_conflicts") || meta
        localSequence = try query.flag("local_seq")
        attachments = try query.flag("attachments")
        encodingInfo = try query.flag("att_encoding_info")
    }

    /// The same without what is said of the document's other revisions.
    var ofOneRevision: DocumentText {
        var text = self
        (text.revisionInfo, text.conflicts, text.deletedConflicts) = (false, false, false)
        return text
    }

    /// Whether what is written follows from the revision alone.
    var isPlain: Bool {
        !(revisions || revisionInfo || conflicts || deletedConflicts || localSequence || attachments)
    }

    /// The document as JSON.
    ///
    /// - Parameter known: The document's revisions, where they have been decoded already.
    func bytes(
        _ document: Document, in snapshot: CollectionSnapshot, of served: ServedDatabase,
        _ known: DocumentRevisions? = nil
    ) throws -> [UInt8] {
        var members: [(String, JSON)] = [
            ("_id", .string(document.id)), ("_rev", .string(document.revision.description)),
        ]
        if document.isDeleted { members.append(("_deleted", true)) }
        if revisions {
            members.append(("_revisions", Self.revisions(try Self.history(document, snapshot, known))))
        }
        if revisionInfo || conflicts || deletedConflicts {
            try addTree(document, snapshot, to: &members)
        }
        if localSequence { members.append(("_local_seq", .string(served.token(document.sequence)))) }
        if document.hasAttachments {
            members.append(("_attachments", try list(document, served.database)))
        }
        var text = JSON.object(members).bytes
        let properties = document.jsonBytes()
        // With the copy in the row or the answer that it becomes a part of.
        if properties.count > Self.uncounted { try memory.reserveAnswer(properties.count * 2) }
        if properties.count > 2 {
            text[text.count - 1] = UInt8(ascii: ",")
            text += properties.dropFirst()
        }
        return text
    }

    /// `{"start","ids"}` of a revision and its ancestors.
    static func revisions(_ history: [RevisionID]) -> JSON {
        [
            "start": .number(history.first?.generation ?? 0),
            "ids": .strings(history.map { String($0.description.drop { $0 != "-" }.dropFirst()) }),
        ]
    }

    private func addTree(
        _ document: Document, _ snapshot: CollectionSnapshot, to members: inout [(String, JSON)]
    ) throws {
        let all = try snapshot.revisions(of: document.id)
        if revisionInfo {
            let known = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
            let earlier = try snapshot.earlierRevisions(of: document.id)
            let rows: [JSON] = try snapshot.history(of: document.id, revision: document.revision).map { id in
                let info = known[id]
                let isThere = info?.isLeaf == true || earlier.contains(id)
                let status = !isThere ? "missing" : info?.isDeleted == true ? "deleted" : "available"
                return ["rev": .string(id.description), "status": .string(status)]
            }
            members.append(("_revs_info", .array(rows)))
        }
        let others = all.filter { $0.isLeaf && $0.id != document.revision }
        for (isAsked, name, isDeleted) in [
            (conflicts, "_conflicts", false), (deletedConflicts, "_deleted_conflicts", true),
        ] where isAsked {
            let found = others.filter { $0.isDeleted == isDeleted }
            if !found.isEmpty { members.append((name, .strings(found.map(\.id.description)))) }
        }
    }

    /// The attachments in the order in which their contents follow.
    static func ordered(_ document: Document) -> [(name: String, attachment: Attachment)] {
        document.attachments.map { ($0.key, $0.value) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The digest by which clients know an attachment: the MD5 of its content.
    static func digest(_ attachment: Attachment) -> String { attachment.md5 ?? attachment.digest }

    /// Whether the content of an attachment is sent.
    func sends(_ attachment: Attachment) -> Bool {
        (attachments || attachmentsFollow) && attachment.revisionPosition > attachmentsSince
    }

    /// The gzip that is sent for an attachment besides the text; `nil` where its content is sent as it is. Clients that did not request
    /// what is said of it gets none: clients take the length for that of what they get.
    func sentGzip(_ attachment: Attachment, _ database: Database) throws -> StoredGzip? {
        guard encodingInfo, attachmentsFollow, sends(attachment) else { return nil }
        return try StoredGzip(attachment, in: database)
    }

    private func list(_ document: Document, _ database: Database) throws -> JSON {
        var members: [(String, JSON)] = []
        for (name, attachment) in Self.ordered(document) {
            let gzip = try sentGzip(attachment, database)
            var fields: [(String, JSON)] = [
                ("content_type", .string(attachment.contentType ?? "application/octet-stream")),
                ("revpos", .number(attachment.revisionPosition)),
                // Of what is sent, which CouchDB compares it with.
                ("digest", .string(gzip?.md5 ?? Self.digest(attachment))),
            ]
            if !sends(attachment) {
                fields += [("length", .number(attachment.length)), ("stub", true)]
                if encodingInfo, let length = attachment.encodedLength {
                    fields += [("encoding", "gzip"), ("encoded_length", .number(length))]
                }
            } else if attachmentsFollow {
                fields += [("length", .number(attachment.length)), ("follows", true)]
                if let gzip { fields += [("encoding", "gzip"), ("encoded_length", .number(gzip.length))] }
            } else {
                guard let reader = try database.blobReader(attachment) else { throw HTTPFailure.noAttachment }
                // The content, its base64, and the copies in what that becomes a part of.
                let (cost, isTooLarge) = attachment.length.multipliedReportingOverflow(by: 5)
                try memory.reserveAnswer(isTooLarge ? .max : Int(clamping: cost))
                fields.append(("data", .string(Base64.encode(try reader.readAll()))))
            }
            members.append((name, .object(fields)))
        }
        return .object(members)
    }

    /// The generation of the newest of `known` that is an ancestor of `document`; 0 without one.
    ///
    /// - Parameter revisions: The document's, where they have been decoded already.
    static func newestKnown(
        _ known: FleeceValue?, of document: Document, in snapshot: CollectionSnapshot,
        _ revisions: DocumentRevisions? = nil
    ) throws -> UInt64 {
        let known = Set(known?.array?.compactMap { $0.string.flatMap { RevisionID($0) } } ?? [])
        guard !known.isEmpty else { return 0 }
        return try history(document, snapshot, revisions).first(where: known.contains)?.generation ?? 0
    }

    private static func history(
        _ document: Document, _ snapshot: CollectionSnapshot, _ known: DocumentRevisions?
    ) throws -> [RevisionID] {
        try known?.history(of: document.revision)
            ?? snapshot.history(of: document.id, revision: document.revision)
    }
}
