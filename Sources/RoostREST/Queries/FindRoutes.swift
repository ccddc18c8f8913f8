import Fleece
import Roost
import RoostQuery
import RoostWire

/// `_find` and `_explain`: documents by a Mango selector.
enum FindRoutes {
    /// A request as `RoostQuery` takes it, and what of it belongs to HTTP.
    private struct Request {
        var members: DocumentValue
        let skip: Int
        let limit: Int

        init(_ body: FleeceValue) throws {
            guard let members = DocumentValue(body) else {
                throw HTTPFailure.badRequest("invalid UTF-8 JSON")
            }
            self.members = members
            guard members["selector"] != nil else {
                throw HTTPFailure(400, "missing_required_key", "Missing required key: selector")
            }
            limit = members["limit"]?.int ?? 25
            var skip = members["skip"]?.int ?? 0
            if let bookmark = members["bookmark"]?.string, bookmark != "", bookmark != "nil" {
                guard let place = Int(bookmark), place >= 0 else {
                    throw HTTPFailure(400, "invalid_bookmark", "Invalid bookmark value: \(bookmark)")
                }
                skip = place
                self.members["skip"] = .integer(Int64(place))
            }
            self.members["bookmark"] = nil
            self.skip = skip
        }
    }

    static func find(_ target: DatabaseContext) async throws -> HTTPResponse {
        let context = target.context
        let request = try Request(try await context.object().root)
        let page = SeenPage(skip: request.skip, limit: request.limit)
        return try await context.stream(FindBody(target, request.members, page))
    }

    static func explain(_ target: DatabaseContext) async throws -> HTTPResponse {
        let (context, collection) = (target.context, target.collection)
        let request = try Request(try await context.object().root)
        let members = request.members
        let (explanation, indexes) = try await context.router.workers.run {
            try collection.prepareMangoIndexes()
            return (try collection.explainFind(members), try collection.mangoIndexes())
        }
        let used = explanation.steps.lazy.compactMap(\.index).first
        let index = indexes.first { "mango/\($0.design)/\($0.name)" == used }
        let fields = members["fields"].map { JSON.text(Array($0.description.utf8)) }
        return context.answer([
            "dbname": .string(target.served.name.text),
            "index": index.map(IndexRoutes.description) ?? IndexRoutes.allDocuments,
            "selector": try text(members["selector"]), "limit": .number(request.limit),
            "skip": .number(request.skip), "fields": fields ?? "all_fields",
            "opts": [
                "use_index": [], "bookmark": "nil", "limit": .number(request.limit),
                "skip": .number(request.skip), "sort": try text(members["sort"]),
                "fields": fields ?? "all_fields",
            ],
            "plan": .strings(explanation.description.split(separator: "\n").map(String.init)),
        ])
    }

    private static func text(_ value: DocumentValue?) throws -> JSON {
        .text(Array(try (value ?? [:]).json().utf8))
    }
}
