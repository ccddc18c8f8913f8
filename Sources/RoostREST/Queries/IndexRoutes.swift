import Fleece
import Roost
import RoostCrypto
import RoostQuery
import RoostWire

/// `_index`: indexes for `_find`, kept as design documents, as CouchDB keeps them, so that they replicate.
enum IndexRoutes {
    static func respond(_ target: DatabaseContext, _ path: [String]) async throws -> HTTPResponse {
        let context = target.context
        if path == ["_bulk_delete"] {
            try context.allow("POST")
            return try await deleteAll(target)
        }
        if path.isEmpty {
            try context.allow("GET", "POST")
            return context.method == "GET" ? try list(target) : try await create(target)
        }
        // `_design/x/json/y`, or without the first part.
        var path = path
        if path.first == "_design" { path.removeFirst() }
        guard path.count == 3 else { throw HTTPFailure.missing }
        try context.allow("DELETE")
        guard path[1] == "json" else { throw HTTPFailure.missing }
        let design = path[0].begins(with: "_design/") ? path[0] : "_design/\(path[0])"
        try await delete(design, name: path[2], target)
        return context.answer(["ok": true])
    }

    // MARK: Listing

    private static func list(_ target: DatabaseContext) throws -> HTTPResponse {
        let indexes = try [allDocuments] + target.collection.mangoIndexes().map(description)
        let limit = try number(target.query, "limit") ?? indexes.count
        let skip = try number(target.query, "skip") ?? 0
        guard limit > 0, skip >= 0 else {
            // With CouchDB's status, too.
            throw HTTPFailure(500, "invalid_list_index_params", "limit is 1 or more, and skip 0 or more.")
        }
        let page = indexes.dropFirst(skip).prefix(limit)
        return target.context.answer([
            "total_rows": .number(indexes.count), "indexes": .array(Array(page)),
        ])
    }

    private static func number(_ query: RequestQuery, _ name: String) throws -> Int? {
        guard let text = query[name] else { return nil }
        guard let number = Int(text) else {
            throw HTTPFailure.invalidQuery("Invalid value for \(name): \(text)")
        }
        return number
    }

    /// The index that there always is.
    static var allDocuments: JSON {
        [
            "ddoc": nil, "name": "_all_docs", "type": "special",
            "def": ["fields": [["_id": "asc"]]],
        ]
    }

    static func description(_ index: MangoIndex) -> JSON {
        var definition: [(String, JSON)] = [
            ("fields", .array(index.fields.map { .object([($0.name, .string($0.direction))]) }))
        ]
        if index.filter.exists {
            definition.append(("partial_filter_selector", .text(index.filter.jsonBytes())))
        }
        return [
            "ddoc": .string(index.design), "name": .string(index.name), "type": "json",
            "partitioned": false, "def": .object(definition),
        ]
    }

    // MARK: Making

    private static func create(_ target: DatabaseContext) async throws -> HTTPResponse {
        let context = target.context
        let body = try await context.object(perValue: FindRoutes.bytesPerValue).root
        let type = body["type"]
        if let name = type.string, name == "text" || name == "nouveau" {
            throw HTTPFailure.notImplemented("The index type \(name)")
        }
        guard !type.exists || type.string == "json" else {
            let word = type.string == nil ? "invalid_string" : "invalid_index"
            throw HTTPFailure(400, word, "Unknown index type: \(type.json())")
        }
        let definition = body["index"]
        guard definition.exists else {
            throw HTTPFailure(400, "missing_required_key", "Missing required key: index")
        }
        guard definition.dictionary != nil else {
            throw HTTPFailure(400, "invalid_index", "`index` must be an object.")
        }
        try check(body, has: ["index", "type", "name", "ddoc", "w", "partitioned"])
        try check(definition, has: ["fields", "partial_filter_selector"])
        let fields = try fields(definition["fields"])
        let filter = definition["partial_filter_selector"]
        let map = JSON.object(fields.map { ($0.0, .string($0.1)) })
        // As CouchDB has it: the selector in its normal form, and besides what was given.
        let view: JSON = [
            "map": [
                "fields": map,
                "partial_filter_selector": filter.exists ? try normalized(filter, target) : [:],
            ],
            "reduce": "_count", "options": ["def": .text(definition.jsonBytes())],
        ]
        let given = try checkedName(body["name"])
        let digest = digest(fields, map, filter, given)
        let name = given ?? digest
        var design = try checkedName(body["ddoc"]) ?? digest
        if !design.begins(with: "_design/") { design = "_design/\(design)" }
        let old = try target.collection.document(design)
        let answer: (String) -> HTTPResponse = { result in
            context.answer([
                "result": .string(result), "id": .string(design), "name": .string(name),
            ])
        }
        if let old, old["language"].string != "query" {
            throw HTTPFailure(
                400, "invalid_index", "\(design) is a design document of another language.")
        }
        if try old?["views"][name] == FleeceDocument(json: view.bytes).root { return answer("exists") }
        var views: [(String, JSON)] = []
        for (other, value) in old?["views"].dictionary ?? .empty where !other.isIdentical(to: name) {
            views.append((other, .text(value.jsonBytes())))
        }
        try await save(design, views + [(name, view)], replacing: old, target)
        return answer("created")
    }

    /// - Throws: 400 for an object with members of other names.
    private static func check(_ object: FleeceValue, has names: [String]) throws {
        for (name, _) in object.dictionary ?? .empty where !names.contains(name) {
            throw HTTPFailure(400, "invalid_key", "Invalid key \(name) for this request.")
        }
    }

    /// What an index or its design document is to be called; `nil` where nothing is said.
    ///
    /// - Throws: 400.
    private static func checkedName(_ value: FleeceValue) throws -> String? {
        guard value.exists else { return nil }
        guard let name = value.string else {
            throw HTTPFailure(400, "invalid_string", "Invalid string: \(value.json())")
        }
        guard !name.isEmpty, name != "_design/" else {
            throw HTTPFailure(400, "invalid_empty_string", "Index name or ddoc cannot be empty string")
        }
        return name
    }

    /// The name of an index that was given none: the same for the same definition.
    private static func digest(
        _ fields: [(String, String)], _ map: JSON, _ filter: FleeceValue, _ name: String?
    ) -> String {
        let identity: JSON = [
            "map": [
                "fields": map, "partial_filter_selector": filter.exists ? .text(filter.jsonBytes()) : [:],
            ],
            "reduce": "_count",
            "options": ["def": ["fields": .array(fields.map { .object([($0.0, .string($0.1))]) })]],
        ]
        return RandomText.text(Array(SHA256.hash(identity.bytes + (name ?? "").utf8).bytes.prefix(20)))
    }

    /// The fields of a definition, with their directions.
    private static func fields(_ value: FleeceValue) throws -> [(String, String)] {
        let fields = value.array?.map { item -> (String, String)? in
            if let name = item.string { return (name, "asc") }
            guard let member = item.dictionary?.first, item.dictionary?.count == 1,
                let direction = member.value.string, ["asc", "desc"].contains(direction)
            else { return nil }
            return (member.key, direction)
        }
        guard let fields, !fields.isEmpty, !fields.contains(where: { $0?.0.isEmpty != false }) else {
            throw HTTPFailure(
                400, value.array == nil ? "invalid_sort_json" : "invalid_sort_field",
                "`fields` must be an array of names, or of objects of a name and \"asc\" or \"desc\".")
        }
        let found = fields.compactMap { $0 }
        guard found.count <= MangoIndex.mostFields else {
            throw HTTPFailure(
                400, "invalid_sort_json", "An index has at most \(MangoIndex.mostFields) fields.")
        }
        guard Set(found.map(\.1)).count == 1 else {
            throw HTTPFailure(
                400, "unsupported_mixed_sort", "Sorts currently only support a single direction")
        }
        return found
    }

    /// A selector as CouchDB keeps it.
    private static func normalized(_ filter: FleeceValue, _ target: DatabaseContext) throws -> JSON {
        let filter = try MangoFilter(DocumentValue(filter) ?? nil, of: target.collection)
        return .text(Array(try filter.normalForm.json().utf8))
    }

    private static func save(
        _ design: String, _ views: [(String, JSON)], replacing old: Document?, _ target: DatabaseContext
    ) async throws {
        let text: JSON = ["language": "query", "views": .object(views)]
        let document = try RequestDocument(FleeceDocument(json: text.bytes).root)
        _ = try await DocumentSaving(target).saveAlone(document, id: design, base: old?.revision)
    }

    // MARK: Deleting

    /// Takes an index out of its design document, which goes with the last one.
    private static func delete(_ design: String, name: String?, _ target: DatabaseContext) async throws {
        guard let old = try target.collection.document(design), old["language"].string == "query",
            name.map({ old["views"][$0].exists }) ?? true
        else { throw HTTPFailure.missing }
        var views: [(String, JSON)] = []
        for (other, value) in old["views"].dictionary ?? .empty
        where name.map({ !other.isIdentical(to: $0) }) ?? false {
            views.append((other, .text(value.jsonBytes())))
        }
        if views.isEmpty {
            let tombstone = try RequestDocument(FleeceDocument(json: #"{"_deleted":true}"#).root)
            _ = try await DocumentSaving(target).saveAlone(tombstone, id: design, base: old.revision)
        } else {
            try await save(design, views, replacing: old, target)
        }
    }

    private static func deleteAll(_ target: DatabaseContext) async throws -> HTTPResponse {
        let docids = try await target.context.object().root["docids"]
        guard docids.exists else {
            throw HTTPFailure(400, "missing_required_key", "Missing required key: docids")
        }
        guard let names = docids.array else {
            throw HTTPFailure(400, "invalid_bulk_docs", "`docids` member must be an array.")
        }
        var (done, failed): ([JSON], [JSON]) = ([], [])
        for case let name? in names.map(\.string) {
            let design = name.begins(with: "_design/") ? name : "_design/\(name)"
            do {
                try await delete(design, name: nil, target)
                done.append(["id": .string(design), "ok": true])
            } catch {
                let failure = HTTPFailure(error)
                failed.append([
                    "id": .string(design), "error": .string(failure.error), "reason": .string(failure.reason),
                ])
            }
        }
        return target.context.answer(["success": .array(done), "fail": .array(failed)])
    }
}
