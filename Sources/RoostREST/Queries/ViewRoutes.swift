import Fleece
import Roost
import RoostCrypto
import RoostQuery
import RoostWire

/// The functions of design documents.
enum DesignRoutes {
    static func respond(
        _ target: DatabaseContext, _ id: String, _ path: [String]
    ) async throws -> HTTPResponse {
        switch path[0] {
        case "_view": return try await ViewRoutes.respond(target, id, Array(path.dropFirst()))
        case "_info": return try await ViewRoutes.information(target, id)
        case "_show", "_list", "_update", "_rewrite", "_search", "_search_info", "_nouveau", "_nouveau_info":
            throw HTTPFailure.notImplemented("\(path[0]) of a design document")
        default: throw HTTPFailure.missing
        }
    }
}

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
        let visibility = try target.visibility(of: try target.collection.snapshot())
        guard let queries else {
            let body = try body(view, query, keys, target, visibility)
            guard body.isPresent else { return try await context.stream(body) }
            return try await context.stream(body, of: target, at: visibility.snapshot)
        }
        let answer = { @Sendable (index: Int) in
            let value = queries[index]
            let query = context.query.overridden(by: value.dictionary ?? .empty)
            return try body(view, query, list(value["keys"]), target, visibility)
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
        _ visibility: Visibility
    ) throws -> ViewBody {
        var query = query
        // Those of a body have been read, and may be longer than a parameter's text should be.
        if keys != nil { query = query.without("keys") }
        let parameters = try ViewQuery(query, keys: keys, isReduced: view.isReduced)
        return try ViewBody(view, parameters, target, query, visibility)
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

extension ViewQuery {
    /// What the parameters of a request ask a view for.
    ///
    /// - Parameters:
    ///   - keys: Those of the request's body.
    ///   - isReduced: Whether the view has a reduction.
    /// - Throws: 400 `query_parse_error` for what can't be, or does not go together.
    init(_ query: RequestQuery, keys: [FleeceValue]?, isReduced: Bool) throws {
        self.init()
        start = try query.json("startkey", "start_key")?.root
        end = try query.json("endkey", "end_key")?.root
        startID = query["startkey_docid"] ?? query["start_key_doc_id"]
        endID = query["endkey_docid"] ?? query["end_key_doc_id"]
        includesEnd = try query.flag("inclusive_end", default: true)
        isDescending = try query.flag("descending")
        skip = try query.count("skip") ?? 0
        limit = try query.count("limit") ?? .max
        includesDocuments = try query.flag("include_docs")
        isSorted = try query.flag("sorted", default: true)
        if query["reduce"] != nil { reduces = try query.flag("reduce") }
        grouping = try Self.grouping(query)
        update = try Self.update(query)
        self.keys = keys
        if let list = try query.json("keys")?.root {
            guard let list = list.array else {
                throw HTTPFailure.invalidQuery("`keys` must be an array of keys.")
            }
            self.keys = Array(list)
        }
        if let key = try query.json("key")?.root {
            guard self.keys == nil else {
                throw HTTPFailure.invalidQuery("`keys` is incompatible with `key`")
            }
            self.keys = [key]
        }
        // A document without a key says nothing, as in CouchDB.
        if start == nil, self.keys == nil { startID = nil }
        if end == nil, self.keys == nil { endID = nil }
        try check(isReduced: isReduced)
    }

    /// What parameters can't be together, in the words that clients know.
    private mutating func check(isReduced: Bool) throws {
        guard isReduced else {
            if reduces == true { throw HTTPFailure.invalidQuery("`reduce` is invalid for map-only views.") }
            if grouping != .all { throw HTTPFailure.invalidQuery("Invalid use of grouping on a map view.") }
            return
        }
        guard reduces != false else {
            if grouping != .all { throw HTTPFailure.invalidQuery("Invalid use of grouping on a map view.") }
            return
        }
        if includesDocuments { throw HTTPFailure.invalidQuery("`include_docs` is invalid for reduce") }
        if let keys, keys.count != 1, grouping != .exact {
            throw HTTPFailure.invalidQuery("Multi-key fetches for reduce views must use `group=true`")
        }
    }

    private static func grouping(_ query: RequestQuery) throws -> Grouping {
        if let level = try query.count("group_level"), level > 0 { return .level(level) }
        return try query.flag("group") ? .exact : .all
    }

    private static func update(_ query: RequestQuery) throws -> Update {
        switch (query["update"], query["stale"]) {
        case (nil, nil), ("true", _): .now
        case ("false", _), (nil, "ok"): .never
        case ("lazy", _), (nil, "update_after"): .later
        case (let update?, _): throw HTTPFailure.invalidQuery("Invalid value for update: \(update)")
        case (_, let stale?): throw HTTPFailure.invalidQuery("Invalid value for stale: \(stale)")
        }
    }
}
