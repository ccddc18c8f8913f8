import Fleece
import Roost
import RoostWire

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

    /// A local document as JSON, under the name that it has for who asks.
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
