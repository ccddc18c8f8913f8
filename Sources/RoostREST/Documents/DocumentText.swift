import Fleece
import Roost
import RoostBytes

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
    /// Whether it is told that content is stored as gzip.
    var encodingInfo = false
    /// Attachments that a leaf's known ancestors had already stay stubs: those up to this generation.
    var attachmentsSince: UInt64 = 0
    /// Where what is long is reserved.
    private let memory: RequestMemory
    /// How long a document may be that is not counted, in bytes.
    private static let uncounted = 16 << 10

    /// What a query asks for.
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
    func bytes(
        _ document: Document, in snapshot: CollectionSnapshot, of served: ServedDatabase
    ) throws -> [UInt8] {
        var members: [(String, JSON)] = [
            ("_id", .string(document.id)), ("_rev", .string(document.revision.description)),
        ]
        if document.isDeleted { members.append(("_deleted", true)) }
        if revisions {
            let history = try snapshot.history(of: document.id, revision: document.revision)
            members.append(("_revisions", Self.revisions(history)))
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

    /// The gzip that is sent of an attachment beside the text; `nil` where its content is sent as it is. Who did not ask for
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
    static func newestKnown(
        _ known: FleeceValue?, of document: Document, in snapshot: CollectionSnapshot
    ) throws -> UInt64 {
        let known = Set(known?.array?.compactMap { $0.string.flatMap { RevisionID($0) } } ?? [])
        guard !known.isEmpty else { return 0 }
        let history = try snapshot.history(of: document.id, revision: document.revision)
        return history.first(where: known.contains)?.generation ?? 0
    }
}
