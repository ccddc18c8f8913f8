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
        /// Where the page begins, from the page before.
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

        /// Denotes the beginning.
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

    /// The options of the request, with defaults.
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

/// The answer to `_find`, made as it is sent: from one snapshot, with no more in memory than a piece of it.
actor FindBody: BodyStream {
    private static let pieceSize = 32 << 10

    private let search: Search

    /// - Parameter bookmark: The one that leads to this page.
    init(_ target: DatabaseContext, _ request: DocumentValue, skip: Int, bookmark: String) {
        search = Search(target, request, skip, bookmark)
    }

    func next() throws -> [UInt8]? { try search.piece() }

    /// What is being looked for.
    private final class Search {
        private let target: DatabaseContext
        private let request: DocumentValue
        private let skip: Int
        private let bookmark: String
        private let start = ContinuousClock.now
        private var cursor: MangoCursor?
        private var isIndexed = false
        private var count = 0
        private var hasEnded = false

        init(_ target: DatabaseContext, _ request: DocumentValue, _ skip: Int, _ bookmark: String) {
            self.target = target
            self.request = request
            self.skip = skip
            self.bookmark = bookmark
        }

        func piece() throws -> [UInt8]? {
            guard !hasEnded else { return nil }
            var bytes: [UInt8] = []
            let cursor = try cursor ?? begin(&bytes)
            while bytes.count < FindBody.pieceSize {
                guard let document = try cursor.next() else {
                    hasEnded = true
                    bytes += try ending(cursor)
                    break
                }
                if count > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += try document.json().utf8
                count += 1
            }
            return bytes
        }

        private func begin(_ bytes: inout [UInt8]) throws -> MangoCursor {
            let collection = target.collection
            if !target.isLimited { try prepareIndexes() }
            let moment = try collection.database.snapshot()
            let visible = SeenByQuery(collection, try target.visibility(of: try moment[collection]))
            var options = QueryOptions()
            options.memoryLimit = FindRoutes.queryMemory
            // Cancelled with the task that requests the piece.
            let made = try collection.findCursor(request, at: moment, visible: visible, options: options) {
                false
            }
            // By what is defined alone: what indexes hold follows from all documents.
            if target.isLimited { isIndexed = made.hasIndex }
            cursor = made
            bytes += "{\"docs\":[".utf8
            return made
        }

        /// Brings the indexes up to date, and finds out whether another one would help.
        private func prepareIndexes() throws {
            let collection = target.collection
            try collection.prepareMangoIndexes()
            let steps = try collection.explainFind(request).steps
            // Where reading all documents takes less than an existing index, no other is needed.
            isIndexed =
                !steps.contains { $0.operation == "SCAN" }
                || steps.contains { $0.operation == "NOT USED" && $0.estimate != nil }
        }

        /// What follows the documents.
        private func ending(_ cursor: MangoCursor) throws -> [UInt8] {
            // Where the next page begins; after an empty page the bookmark stays.
            let place = count == 0 ? bookmark : String(skip + count)
            var members: [(String, JSON)] = [("bookmark", .string(place))]
            // Figures would tell how many documents are not seen.
            if cursor.wantsStatistics, !target.isLimited {
                let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
                members.append(
                    (
                        "execution_stats",
                        [
                            "total_keys_examined": .number(cursor.keysExamined),
                            "total_docs_examined": .number(cursor.documentsExamined),
                            "total_quorum_docs_examined": 0, "results_returned": .number(count),
                            "execution_time_ms": .number(milliseconds),
                        ]
                    ))
            }
            let scan =
                isIndexed ? nil : "No matching index found, create an index to optimize query time."
            let warnings = [cursor.warning, scan].compactMap(\.self)
            if !warnings.isEmpty { members.append(("warning", .string(warnings.joined(separator: "\n")))) }
            return Array("],".utf8) + JSON.object(members).bytes.dropFirst() + [10]
        }
    }
}
