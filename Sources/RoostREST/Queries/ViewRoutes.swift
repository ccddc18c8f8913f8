import Fleece
import Roost
import RoostCrypto
import RoostQuery
import RoostWire

/// The views of a design document.
enum ViewRoutes {
    /// `_view/NAME` and `_view/NAME/queries`.
    static func respond(
        _ target: DatabaseContext, _ design: String, _ path: [String]
    ) async throws -> HTTPResponse {
        let context = target.context
        guard let name = path.first, path.count == 1 || path == [name, "queries"] else {
            throw HTTPFailure.missing
        }
        try context.allow("GET", "POST")
        context.router.statistics.viewReads.add()
        var query = context.query
        var keys: [FleeceValue]?
        var queries: FleeceArray?
        if context.method == "POST" {
            let body = try await context.object(perValue: bytesPerKey).root
            if path.count > 1 {
                guard let list = body["queries"].array else {
                    throw HTTPFailure.badRequest("POST body must include `queries` parameter.")
                }
                queries = list
            } else {
                query = query.completed(by: body.dictionary ?? .empty)
                let list = try list(body["keys"])
                if context.query["keys"] == nil { keys = list }
            }
        } else if path.count > 1 {
            throw HTTPFailure.method(["POST"])
        }
        let view = try view(name, design, target)
        let sight = try target.sight(of: try target.collection.snapshot())
        guard let queries else {
            let body = try body(view, query, keys, target, sight)
            guard body.isPresent else { return try await context.stream(body) }
            return try await context.stream(body, of: target, at: sight.snapshot)
        }
        let answer = { @Sendable (index: Int) in
            let value = queries[index]
            let query = context.query.overridden(by: value.dictionary ?? .empty)
            return try body(view, query, list(value["keys"]), target, sight)
        }
        // What is wrong with one of them is the answer to all.
        for index in queries.indices { _ = try answer(index) }
        return try await context.stream(ResultsBody(count: queries.count, answer))
    }

    /// What a key takes beside the body: its place in a list, and in the ranges that the view reads.
    private static let bytesPerKey = 4 * MemoryLayout<FleeceValue>.stride

    private static func list(_ keys: FleeceValue) throws -> [FleeceValue]? {
        guard keys.exists else { return nil }
        guard let list = keys.array else {
            throw HTTPFailure.badRequest("`keys` member must be an array.")
        }
        return Array(list)
    }

    private static func body(
        _ view: ViewBody.DesignView, _ query: RequestQuery, _ keys: [FleeceValue]?, _ target: DatabaseContext,
        _ sight: Sight
    ) throws -> ViewBody {
        var query = query
        // Those of a body have been read, and may be longer than a parameter's text should be.
        if keys != nil { query = query.without("keys") }
        let parameters = try ViewQuery(query, keys: keys, isReduced: view.isReduced)
        return try ViewBody(view, parameters, target, query, sight)
    }

    /// - Throws: 404 for what is not there, in CouchDB's words; 501 for a language that nothing here compiles.
    static func view(
        _ name: String, _ design: String, _ target: DatabaseContext
    ) throws -> ViewBody.DesignView {
        guard let document = try target.collection.document(design) else { throw HTTPFailure.missing }
        guard document["views"][name].exists else {
            throw HTTPFailure(404, "not_found", "missing_named_view")
        }
        return try target.collection.view(name, of: design)
    }

    /// `_info`.
    static func information(_ target: DatabaseContext, _ design: String) async throws -> HTTPResponse {
        let (context, collection) = (target.context, target.collection)
        try context.allow("GET")
        guard let document = try collection.document(design) else { throw HTTPFailure.missing }
        let found = try collection.designInformation(design)
        let signature = SHA256.hash(document["views"].jsonBytes()).bytes.prefix(16)
        let pending = JSON.number(found.pending)
        return context.answer([
            "name": .string(String(design.dropFirst("_design/".count))),
            "view_index": [
                "update_seq": .number(found.sequence), "purge_seq": 0,
                "updater_running": .bool(found.isUpdating), "compact_running": false,
                "waiting_commit": false, "waiting_clients": 0, "row_count": .number(found.rows),
                "updates_pending": ["minimum": pending, "preferred": pending, "total": pending],
                "sizes": [
                    "file": .number(found.bytes), "external": .number(found.bytes),
                    "active": .number(found.bytes),
                ],
                "language": .string(document["language"].string ?? "javascript"),
                "signature": .string(RandomText.text(Array(signature))),
            ],
        ])
    }
}
