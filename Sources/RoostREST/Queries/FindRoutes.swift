import Fleece
import Roost
import RoostQuery
import RoostWire

/// `_find` and `_explain`: documents by a Mango selector.
enum FindRoutes {
    /// A request as `RoostQuery` takes it, and what of it belongs to HTTP.
    private struct Request {
        var members: DocumentValue
        /// How many documents come before the page, those of earlier pages among them.
        let skip: Int
        let limit: Int
        /// Where the page begins, as the page before told it.
        let bookmark: String

        init(_ body: FleeceValue) throws {
            guard let members = DocumentValue(body) else {
                throw HTTPFailure.badRequest("invalid UTF-8 JSON")
            }
            self.members = members
            guard members["selector"] != nil else {
                throw HTTPFailure(400, "missing_required_key", "Missing required key: selector")
            }
            limit = members["limit"]?.int ?? 25
            bookmark = try Self.bookmark(members["bookmark"])
            self.members["bookmark"] = nil
            let skip = members["skip"]?.int ?? 0
            guard bookmark != Self.noBookmark else {
                self.skip = skip
                return
            }
            guard let place = Int(bookmark), place >= 0,
                case let (sum, overflow) = place.addingReportingOverflow(skip), !overflow
            else { throw HTTPFailure(400, "invalid_bookmark", "Invalid bookmark value: \(bookmark)") }
            self.skip = sum
            self.members["skip"] = .integer(Int64(sum))
        }

        /// What stands for the beginning.
        private static let noBookmark = "nil"

        private static func bookmark(_ value: DocumentValue?) throws -> String {
            guard let value, !value.isNull, value != "" else { return noBookmark }
            guard let text = value.string else {
                throw HTTPFailure(400, "invalid_bookmark", "Invalid bookmark value: \(value)")
            }
            return text
        }
    }

    static func find(_ target: DatabaseContext) async throws -> HTTPResponse {
        let context = target.context
        let request = try Request(try await context.object().root)
        let page = SeenPage(skip: request.skip, limit: request.limit)
        return try await context.stream(FindBody(target, request.members, page, bookmark: request.bookmark))
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
                "use_index": [], "bookmark": .string(request.bookmark), "limit": .number(request.limit),
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
