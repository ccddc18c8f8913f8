import Fleece
import RoostQuery

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
