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
            else {
                throw HTTPFailure(
                    400, "invalid_bookmark", "Invalid bookmark value: \(DocumentValue.string(bookmark))")
            }
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

    /// What a value of a request takes when it is read, and in the plan that it becomes a part of.
    static let bytesPerValue = 512
    /// What one answer may hold in memory to sort, group and join; the rest goes to disk.
    static let queryMemory = 8 << 20

    static func find(_ target: DatabaseContext) async throws -> HTTPResponse {
        let context = target.context
        let request = try Request(try await context.object(perValue: bytesPerValue).root)
        try await context.memory.reserve(queryMemory)
        return try await context.stream(
            FindBody(target, request.members, skip: request.skip, bookmark: request.bookmark))
    }

    static func explain(_ target: DatabaseContext) async throws -> HTTPResponse {
        let (context, collection) = (target.context, target.collection)
        let request = try Request(try await context.object(perValue: bytesPerValue).root)
        try collection.prepareMangoIndexes()
        let explanation = try collection.explainMango(request.members)
        let fields = try text(request.members["fields"], default: [])
        return context.answer([
            "dbname": .string(target.served.name.text),
            "index": explanation.index.map(IndexRoutes.description) ?? IndexRoutes.allDocuments,
            "partitioned": false, "selector": try text(explanation.selector, default: [:]),
            "opts": try options(request, explanation), "limit": .number(request.limit),
            "skip": .number(request.skip), "fields": fields,
            "index_candidates": .array(explanation.candidates.map(candidate)),
            "selector_hints": [
                [
                    "type": "json", "indexable_fields": .strings(explanation.fields.indexable),
                    "unindexable_fields": .strings(explanation.fields.others),
                ]
            ],
            "mrargs": try viewArguments(request, explanation),
            "covering": .bool(explanation.isCovering),
            "plan": .strings(explanation.plan.description.split(separator: "\n").map(String.init)),
        ])
    }

    /// What is asked for, with what is understood where nothing is said.
    private static func options(_ request: Request, _ explanation: MangoExplanation) throws -> JSON {
        let members = request.members
        return [
            "use_index": .strings(explanation.hint), "bookmark": .string(request.bookmark),
            "limit": .number(request.limit), "skip": .number(request.skip), "sort": try sort(members["sort"]),
            "fields": try text(members["fields"], default: []), "partition": "",
            "r": try text(members["r"], default: 1),
            "conflicts": try text(members["conflicts"], default: false),
            "stale": try text(members["stale"], default: false),
            "update": try text(members["update"], default: true),
            "stable": try text(members["stable"], default: false),
            "execution_stats": try text(members["execution_stats"], default: false),
            "allow_fallback": try text(members["allow_fallback"], default: true),
        ]
    }

    /// How CouchDB would ask the view that the index is to it.
    private static func viewArguments(_ request: Request, _ explanation: MangoExplanation) throws -> JSON {
        let (start, end) = explanation.keys
        let isReversed = explanation.isDescending
        return [
            "include_docs": .bool(!explanation.isCovering), "view_type": "map", "reduce": false,
            "partition": nil,
            "start_key": try text(isReversed ? end : start, default: .null),
            "end_key": try text(isReversed ? start : end, default: .null),
            "direction": isReversed ? "rev" : "fwd",
            "stable": try text(request.members["stable"], default: false),
            "update": try text(request.members["update"], default: true),
            "conflicts": try text(request.members["conflicts"], default: "undefined"),
        ]
    }

    /// `sort` as an object of the fields and their directions.
    private static func sort(_ value: DocumentValue?) throws -> JSON {
        .object(
            try (value?.array ?? []).flatMap { item -> [(String, JSON)] in
                if let name = item.string { return [(name, "asc")] }
                return try (item.dictionary ?? [:]).map { ($0.key, try text($0.value, default: .null)) }
            })
    }

    private static func candidate(_ candidate: MangoExplanation.Candidate) -> JSON {
        [
            "index": candidate.index.map(IndexRoutes.description) ?? IndexRoutes.allDocuments,
            "analysis": [
                "usable": .bool(candidate.isUsable), "reasons": [["name": .string(candidate.reason)]],
                "ranking": .number(candidate.ranking),
                "covering": candidate.index == nil ? nil : false,
            ],
        ]
    }

    private static func text(_ value: DocumentValue?, default other: DocumentValue) throws -> JSON {
        .text(Array(try (value ?? other).json().utf8))
    }
}
