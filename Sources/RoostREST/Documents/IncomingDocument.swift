import Fleece
import Roost
import RoostWire

/// A document that a client sends: its properties, and what it says under names with an underscore.
struct RequestDocument: Sendable {
    private(set) var id: String?
    private(set) var revision: RevisionID?
    /// Whether its `_rev` is one that there can't be here, so that an edit of it is a conflict.
    private(set) var namesUnknownRevision = false
    /// The revision and its ancestors, newest first, of a document that was made elsewhere.
    private(set) var history: [RevisionID] = []
    private(set) var isDeleted = false
    /// The properties to be stored.
    private(set) var properties: FleeceDocument
    /// The members of `_attachments`, in the order of the parsed value.
    private(set) var attachments: [(name: String, value: FleeceValue)] = []
    /// The content of attachments that has been stored: it came besides the JSON or within it, or was stored before.
    var contents = NamedValues<Attachment>()
    /// What was stored for the document and is named in its properties.
    var blobs: [Blob] = []
    /// Whether the server has just made a password's record of the password that came with it.
    var hasNewPassword = false

    /// Names that say what is derived from a document; a client that sends them back means nothing by it.
    private static let derived = ["_revs_info", "_conflicts", "_deleted_conflicts", "_local_seq"]

    /// Reads a document.
    ///
    /// - Throws: 400 for what is no document.
    init(_ value: FleeceValue) throws {
        guard let members = value.dictionary else {
            throw HTTPFailure.badRequest("Document must be a JSON object")
        }
        var writer = FleeceWriter()
        var stated: [(String, FleeceValue)] = []
        writer.beginDictionary()
        for (name, member) in members {
            guard name.utf8.first == UInt8(ascii: "_"), !name.begins(with: "_replication_"), name != "_access"
            else {
                writer.key(name)
                writer.write(member)
                continue
            }
            if !Self.derived.contains(name) { stated.append((name, member)) }
        }
        writer.endDictionary()
        properties = FleeceDocument(trusting: try writer.finish())
        for (name, member) in stated { try take(name, member) }
        // Where they disagree, the history counts, as in CouchDB: PouchDB sends one that ends at an ancestor of the same digest.
        if let first = history.first { revision = first }
    }

    /// Reads a revision that a Couchbase Lite client sends. Of the members whose names begin with an underscore, only attachments count.
    ///
    /// - Parameters:
    ///   - value: The properties.
    ///   - history: The revision and its ancestors, newest first.
    /// - Throws: 400 for what is no document.
    init(_ value: FleeceValue, history: [RevisionID], isDeleted: Bool) throws {
        guard let members = value.dictionary else {
            throw HTTPFailure.badRequest("Document must be a JSON object")
        }
        var writer = FleeceWriter()
        writer.beginDictionary()
        for (name, member) in members where name.utf8.first != UInt8(ascii: "_") {
            writer.key(name)
            writer.write(member)
        }
        writer.endDictionary()
        properties = FleeceDocument(trusting: try writer.finish())
        if value["_attachments"].exists { try take("_attachments", value["_attachments"]) }
        self.history = history
        self.isDeleted = isDeleted
        revision = history.first
    }

    /// A copy of what is stored.
    init(copying document: Document) {
        properties = FleeceDocument(json: document)
        for (name, attachment) in document.attachments {
            attachments.append((name, .undefined))
            contents[name] = attachment
        }
    }

    private mutating func take(_ name: String, _ value: FleeceValue) throws {
        switch name {
        case "_id":
            guard let text = value.string else {
                throw HTTPFailure(400, "illegal_docid", "Document id must be a string")
            }
            id = text
        case "_rev":
            guard let text = value.string else { throw HTTPFailure.invalidRevision }
            revision = try RevisionID.possible(text)
            namesUnknownRevision = revision == nil
        case "_deleted":
            guard let flag = value.bool else { throw Self.badMember(name) }
            isDeleted = flag
        case "_revisions": history = try Self.history(value)
        case "_attachments":
            guard let members = value.dictionary else { throw Self.badMember(name) }
            for (name, attachment) in members {
                try Self.checkAttachmentName(name)
                attachments.append((name, attachment))
            }
        default: throw Self.badMember(name)
        }
    }

    private static func badMember(_ name: String) -> HTTPFailure {
        HTTPFailure(400, "doc_validation", "Bad special document member: \(name)")
    }

    private static func history(_ value: FleeceValue) throws -> [RevisionID] {
        guard let start = value["start"].int, let ids = value["ids"].array, start >= ids.count, !ids.isEmpty
        else { throw HTTPFailure(400, "doc_validation", "_revisions is not {\"start\",\"ids\"}") }
        return try ids.enumerated().map { index, id in
            guard let digest = id.string, let revision = RevisionID("\(start - index)-\(digest)") else {
                throw HTTPFailure.invalidRevision
            }
            return revision
        }
    }

    /// - Throws: 400 for what no document can be called.
    static func checkID(_ id: String) throws {
        if id.isEmpty { throw HTTPFailure(400, "illegal_docid", "Document id must not be empty") }
        guard !id.begins(with: "_") || id.begins(with: "_design/") || id.begins(with: "_local/") else {
            throw HTTPFailure(400, "illegal_docid", "Only reserved document ids may start with underscore.")
        }
    }

    /// The revision of a document that was made elsewhere.
    ///
    /// - Throws: 400 where there is none.
    @discardableResult
    func requireRevision() throws -> RevisionID {
        guard let revision else {
            if namesUnknownRevision { throw HTTPFailure.invalidRevision }
            throw HTTPFailure.badRequest(
                "When `new_edits: false`, the document needs `_rev` or `_revisions` specified")
        }
        return revision
    }

    /// The revision and its ancestors, as far as the document names them.
    var lineage: [RevisionID] { history.isEmpty ? revision.map { [$0] } ?? [] : history }

    /// - Throws: 400 in the words by which replicators know to pass the document over.
    static func checkAttachmentName(_ name: String) throws {
        if name.begins(with: "_") {
            throw HTTPFailure.badRequest("Attachment name '\(name)' starts with prohibited character '_'")
        }
        if name.isEmpty { throw HTTPFailure.badRequest("Attachment name is empty") }
    }

    /// The revision that the document is an edit of, which body, query and `If-Match` may name.
    ///
    /// - Throws: 400 where they disagree.
    func base(_ context: RequestContext) throws -> RevisionID? {
        var base = revision
        for text in [context.query["rev"], EntityTag.revision(context.headers["If-Match"])] {
            guard let named = try RevisionID.base(text) else { continue }
            guard base == nil || base == named else {
                throw HTTPFailure.badRequest(
                    "Document rev from request body and query string have different values")
            }
            base = named
        }
        return base
    }

    /// Takes the revision that the query or `If-Match` name, where the document names none itself.
    ///
    /// - Throws: 400 where they disagree.
    mutating func takeRevision(_ context: RequestContext) throws {
        if !namesUnknownRevision { revision = try base(context) }
    }

    /// The same without some properties and with others.
    func replacing(_ removed: [String], with members: [(String, JSON)]) throws -> RequestDocument {
        var writer = FleeceWriter()
        writer.beginDictionary()
        let names = Set((removed + members.map(\.0)).map { ByteKey($0) })
        for (name, value) in properties.root.dictionary ?? .empty where !names.contains(ByteKey(name)) {
            writer.key(name)
            writer.write(value)
        }
        for (name, value) in members {
            writer.key(name)
            try writer.write(json: value.bytes)
        }
        writer.endDictionary()
        var copy = self
        copy.properties = FleeceDocument(trusting: try writer.finish())
        return copy
    }

    /// What is to be stored under the reserved names. Attachments that are not named are gone, as in CouchDB.
    func reserved() throws -> FleeceDocument {
        var writer = FleeceWriter()
        writer.beginDictionary()
        writer.key("_attachments")
        writer.beginDictionary()
        for (name, value) in attachments {
            writer.key(name)
            guard let content = contents[name] else {
                writer.write(value)
                continue
            }
            writer.beginDictionary()
            writer.key("follows")
            writer.write(true)
            if let position = value["revpos"].int {
                writer.key("revpos")
                writer.write(position)
            }
            if let type = content.contentType ?? value["content_type"].string {
                writer.key("content_type")
                writer.write(type)
            }
            writer.endDictionary()
        }
        writer.endDictionary()
        if isDeleted {
            writer.key("_deleted")
            writer.write(true)
        }
        writer.endDictionary()
        return FleeceDocument(trusting: try writer.finish())
    }

    /// As hooks see it.
    func examined(_ id: String) -> ExaminedDocument {
        ExaminedDocument(id: id, isDeleted: isDeleted, properties: properties.root.dictionary ?? .empty)
    }

    /// As functions of design documents see it: JSON.
    ///
    /// - Parameter history: What they see as its revision and the ancestors.
    func text(_ id: String, _ history: [RevisionID]) -> [UInt8] {
        var members: [(String, JSON)] = [("_id", .string(id))]
        if let revision = history.first {
            members.append(("_rev", .string(revision.description)))
            members.append(("_revisions", DocumentText.revisions(history)))
        }
        if isDeleted { members.append(("_deleted", true)) }
        if !attachments.isEmpty {
            let list = attachments.map { name, value -> (String, JSON) in
                let type = contents[name]?.contentType ?? value["content_type"].string
                return (name, ["content_type": type.map { .string($0) } ?? .null, "stub": true])
            }
            members.append(("_attachments", .object(list)))
        }
        let text = JSON.object(members).bytes
        let properties = properties.root.jsonBytes()
        guard properties.count > 2 else { return text }
        return text.dropLast() + [UInt8(ascii: ",")] + properties.dropFirst()
    }

    /// The attachments that are said to be there already, with the digests that are claimed of them.
    var stubs: [(name: String, digest: String?)] {
        attachments.compactMap { name, value in
            contents[name] == nil && value["stub"].bool == true ? (name, value["digest"].string) : nil
        }
    }

    /// Adds an attachment, in place of one of that name.
    mutating func attach(_ name: String, _ blob: Blob) {
        attachments.removeAll { $0.name.isIdentical(to: name) }
        attachments.append((name, .undefined))
        contents[name] = Attachment(blob)
    }

    /// Removes the attachments of which `isRedundant` says so.
    mutating func detachAll(where isRedundant: (String, FleeceValue) -> Bool) {
        attachments.removeAll { isRedundant($0.name, $0.value) }
    }

    /// Removes an attachment; answers whether there was one.
    mutating func detach(_ name: String) -> Bool {
        let count = attachments.count
        attachments.removeAll { $0.name.isIdentical(to: name) }
        contents[name] = nil
        return attachments.count < count
    }
}

extension FleeceDocument {
    /// A copy of a document's properties in a body of its own.
    fileprivate init(json document: Document) {
        var writer = FleeceWriter()
        writer.write(document.value)
        // What was stored can be written again.
        self.init(trusting: (try? writer.finish()) ?? [0x70, 0x00])
    }
}

extension EntityTag {
    /// The revision within a tag, `"1-abc"`, or without quotation marks.
    static func revision(_ tag: String?) -> String? {
        tag.map { $0.filter { $0 != "\"" } }
    }
}

extension RevisionID {
    /// The revision that a client names; `nil` for one that CouchDB takes for a revision and that is none here, such as `1-`.
    ///
    /// - Throws: 400 for what CouchDB takes for none either.
    static func possible(_ text: String) throws -> RevisionID? {
        if let revision = RevisionID(text) { return revision }
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty,
            parts[0].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw HTTPFailure.invalidRevision }
        return nil
    }

    /// The revision that a client names as the one that it edits; `nil` where it names none.
    ///
    /// - Throws: 400 for what is no revision, 409 for what can be none here.
    static func base(_ text: String?) throws -> RevisionID? {
        guard let text else { return nil }
        guard let revision = try possible(text) else { throw HTTPFailure.conflict }
        return revision
    }

    /// The revisions that a client names, without those that are none here.
    ///
    /// - Throws: 400.
    static func named(_ texts: [String]) throws -> [RevisionID] {
        var revisions: [RevisionID] = []
        for text in texts {
            if let revision = try possible(text) { revisions.append(revision) }
        }
        return revisions
    }
}
