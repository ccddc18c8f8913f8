import Fleece
import Roost
import RoostCrypto
import RoostWire

/// One document.
enum DocumentRoutes {
    static func respond(_ target: DatabaseContext, _ id: String) async throws -> HTTPResponse {
        let context = target.context
        try context.allow("GET", "PUT", "DELETE", "COPY")
        switch context.method {
        case "PUT": return try await put(target, id)
        case "DELETE":
            guard try target.takesLong(toRead: id, at: try target.collection.snapshot()) else {
                return try await delete(target, id)
            }
            return try await context.work.respond { try await delete(target, id) }
        case "COPY": return try await copy(target, id)
        default: return try await DocumentReading.get(target, id)
        }
    }

    private static func put(_ target: DatabaseContext, _ id: String) async throws -> HTTPResponse {
        let context = target.context
        var document: RequestDocument
        if let type = MediaType(context.headers["Content-Type"]), type.essence == "multipart/related" {
            document = try await MultipartDocument.read(try context.body, type, target)
        } else {
            document = try RequestDocument(try await context.uncheckedJSON(perValue: bytesPerValue).root)
        }
        // What the body says of the ID does not count, as in CouchDB: clients send only the last part of a design document's.
        let saving = DocumentSaving(target)
        guard try context.query.flag("new_edits", default: true) else {
            try document.takeRevision(context)
            let revision = try await saving.insertAlone(document, id: id)
            return saved(target, id, revision, status: document.isDeleted ? 200 : 201)
        }
        let revision = try await saving.saveAlone(document, id: id, base: try document.base(context))
        if isBatch(target) { return accepted(target, id) }
        return saved(target, id, revision, status: document.isDeleted ? 200 : 201)
    }

    /// What a value of a document takes while that is prepared and saved, such as its place among sorted members.
    private static let bytesPerValue = 24

    /// A new document, whose ID is made where it has none.
    static func post(_ target: DatabaseContext) async throws -> HTTPResponse {
        let context = target.context
        let value = try await context.json(perValue: bytesPerValue).root
        if let name = value["_id"].string?.removing(prefix: "_local/") {
            return try await LocalRoutes.save(target, name, value)
        }
        let document = try RequestDocument(value)
        let id = document.id ?? RandomText.hexadecimal(bytes: 16)
        let revision = try await DocumentSaving(target).saveAlone(document, id: id, base: document.revision)
        return isBatch(target) ? accepted(target, id) : saved(target, id, revision, status: 201)
    }

    private static func delete(_ target: DatabaseContext, _ id: String) async throws -> HTTPResponse {
        let context = target.context
        let base = try RequestDocument(FleeceDocument(json: "{}").root).base(context)
        let visibility = try target.visibility(of: try target.collection.snapshot())
        guard let present = try visibility.winningRevision(id) else { throw HTTPFailure.missing }
        if present.isDeleted { throw HTTPFailure.deleted }
        guard let base else { throw HTTPFailure.conflict }
        let tombstone = try RequestDocument(FleeceDocument(json: #"{"_deleted":true}"#).root)
        let revision = try await DocumentSaving(target).saveAlone(tombstone, id: id, base: base)
        return saved(target, id, revision, status: 200)
    }

    private static func copy(_ target: DatabaseContext, _ id: String) async throws -> HTTPResponse {
        let context = target.context
        guard let destination = context.headers["Destination"] else {
            throw HTTPFailure.badRequest("Destination header is mandatory for COPY.")
        }
        let parts = destination.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard !destination.begins(with: "http"), let other = PercentEncoding.decode(parts[0]), !other.isEmpty
        else {
            throw HTTPFailure.badRequest(
                "Destination URL must be a document ID, with ?rev= where it is there already.")
        }
        let query = try QueryParameters(parts.count > 1 ? parts[1] : "")
        let base = try RevisionID.base(query["rev"])
        let source = try DocumentReading.document(
            id, context.query, try target.visibility(of: try target.collection.snapshot()))
        let revision = try await DocumentSaving(target).saveAlone(
            RequestDocument(copying: source), id: other, base: base)
        return saved(target, other, revision, status: 201)
    }

    /// Whether the client would not wait for its document to be durable, and so expects no revision.
    private static func isBatch(_ target: DatabaseContext) -> Bool { target.query["batch"] == "ok" }

    private static func accepted(_ target: DatabaseContext, _ id: String) -> HTTPResponse {
        target.context.answer(
            202, ["ok": true, "id": .string(id)], headers: ["Location": location(target, id)])
    }

    static func saved(
        _ target: DatabaseContext, _ id: String, _ revision: RevisionID, status: Int
    ) -> HTTPResponse {
        target.context.answer(
            status, ["ok": true, "id": .string(id), "rev": .string(revision.description)],
            headers: [
                "Location": location(target, id), "ETag": "\"\(revision)\"",
                "X-Couch-Update-NewRev": "\(revision)",
            ])
    }

    /// The absolute address of a document, or of what `suffix` names below it.
    static func location(_ target: DatabaseContext, _ id: String, _ suffix: String = "") -> String {
        let path =
            id.removing(prefix: "_design/").map { "_design/" + PercentEncoding.encode($0) }
            ?? PercentEncoding.encode(id)
        return target.context.address("/\(PercentEncoding.encode(target.served.name.text))/\(path)\(suffix)")
    }
}

/// Documents that are never replicated: `_local/…`. Their revisions are `0-N`.
enum LocalRoutes {
    static func respond(_ target: DatabaseContext, _ name: String) async throws -> HTTPResponse {
        let context = target.context
        try context.allow("GET", "PUT", "DELETE", "COPY")
        switch context.method {
        case "PUT": return try await save(target, name, try await context.uncheckedJSON().root)
        case "DELETE":
            let base = try base(context.query["rev"] ?? EntityTag.revision(context.headers["If-Match"]))
            try await delete(target.served, try target.localName(name), base)
            return answer(context, name, 0, status: 200)
        case "COPY": throw HTTPFailure.notImplemented("COPY of a local document")
        default:
            guard let document = try target.collection.localDocument(try target.localName(name)) else {
                throw HTTPFailure.missing
            }
            return try context.answer(.text(text(document, name)), tag: "\"0-\(document.revision)\"")
        }
    }

    /// A local document as JSON, under the name that the user knows it by.
    static func text(_ document: LocalDocument, _ name: String) -> [UInt8] {
        var text =
            (["_id": .string("_local/\(name)"), "_rev": .string("0-\(document.revision)")] as JSON)
            .bytes
        let properties = document.json()
        if properties.utf8.count > 2 {
            text[text.count - 1] = UInt8(ascii: ",")
            text += properties.utf8.dropFirst()
        }
        return text
    }

    /// Saves what a client sent under a name, and answers it.
    static func save(
        _ target: DatabaseContext, _ name: String, _ value: FleeceValue
    ) async throws -> HTTPResponse {
        let revision = try await save(target.served, try target.localName(name), value)
        return answer(target.context, name, revision, status: revision == 0 ? 200 : 201)
    }

    /// Saves what a client sent under a name.
    ///
    /// - Returns: The new revision's number; 0 when it was a deletion.
    static func save(_ served: ServedDatabase, _ name: String, _ value: FleeceValue) async throws -> UInt64 {
        guard let members = value.dictionary else {
            throw HTTPFailure.badRequest("Document must be a JSON object")
        }
        let base = try base(value["_rev"].string)
        if value["_deleted"].bool == true {
            try await delete(served, name, base)
            return 0
        }
        var writer = FleeceWriter()
        writer.beginDictionary()
        for (key, member) in members where !key.begins(with: "_") {
            writer.key(key)
            writer.write(member)
        }
        writer.endDictionary()
        let json = FleeceDocument(trusting: try writer.finish()).root.json()
        return try await served.database.write { batch in
            try batch.saveLocalDocument(json: json, name: name, in: served.collection, expecting: base)
                .revision
        }
    }

    private static func delete(_ served: ServedDatabase, _ name: String, _ base: UInt64) async throws {
        let wasThere = try await served.database.write { batch in
            guard try served.collection.localDocument(name) != nil else { return false }
            guard base > 0 else { throw HTTPFailure.conflict }
            return try batch.deleteLocalDocument(name, in: served.collection, expecting: base)
        }
        if !wasThere { throw HTTPFailure.missing }
    }

    /// The number of `0-N`; 0 for none, which only fits where there is no document.
    private static func base(_ revision: String?) throws -> UInt64 {
        guard let revision else { return 0 }
        guard let number = revision.removing(prefix: "0-").flatMap({ UInt64($0) }) else {
            throw HTTPFailure.invalidRevision
        }
        return number
    }

    private static func answer(
        _ context: RequestContext, _ name: String, _ revision: UInt64, status: Int = 201
    ) -> HTTPResponse {
        context.answer(
            status, ["ok": true, "id": .string("_local/\(name)"), "rev": .string("0-\(revision)")],
            headers: ["ETag": "\"0-\(revision)\""])
    }
}
