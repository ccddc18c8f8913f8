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
        case "DELETE": return try await delete(target, id)
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
        let sight = try target.sight(of: try target.collection.snapshot())
        guard let present = try sight.winner(id) else { throw HTTPFailure.missing }
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
            id, context.query, try target.sight(of: try target.collection.snapshot()))
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
