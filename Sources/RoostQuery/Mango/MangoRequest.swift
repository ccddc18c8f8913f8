import Fleece
import Roost

/// A request to CouchDB's `_find`: a selector and what to do with the documents that it matches.
///
/// ```swift
/// let found = try notes.find(["selector": ["stars": ["$gt": 3]], "fields": ["title"], "limit": 10])
/// for document in found.documents { print(document) }
/// ```
struct MangoRequest {
    var select: Select
    /// The fields to answer; `nil` for whole documents.
    var fields: [[Step]]?
    var withStatistics = false
    /// How many documents that match are passed over, and how many are answered.
    var skip = 0
    var limit = MangoRequest.usualLimit
    /// Members that CouchDB takes and that change nothing here.
    private static let ignored = [
        "use_index", "allow_fallback", "update", "stable", "r", "w", "conflicts", "stale",
    ]
    /// How many documents CouchDB answers when nobody says.
    private static let usualLimit = 25

    init(_ request: DocumentValue) throws(QueryError) {
        guard case .dictionary(let members) = request else {
            throw QueryError("A request is an object with a selector")
        }
        guard let selector = members["selector"] else { throw QueryError("The request has no selector") }
        select = Select()
        select.condition = try MangoParser.condition(selector)
        for (name, value) in members where name != "selector" {
            switch name {
            case "limit": limit = try Self.number(value, name)
            case "skip": skip = try Self.number(value, name)
            case "sort": select.order = try Self.order(value)
            case "fields": fields = try Self.fields(value)
            case "execution_stats":
                guard case .bool(let flag) = value else {
                    throw QueryError("execution_stats is true or false")
                }
                withStatistics = flag
            case "bookmark":
                guard value.isNull || value.string == "" || value.string == "nil" else {
                    throw QueryError("Bookmarks are not known; go on with skip")
                }
            default:
                guard Self.ignored.contains(name) else {
                    let known =
                        Self.ignored + ["selector", "limit", "skip", "sort", "fields", "execution_stats"]
                    throw QueryError(
                        "A request has no \(name.debugDescription)\(Suggestion.text(for: name, among: known))"
                    )
                }
            }
        }
        if select.order.isEmpty, let rank = Self.rank(of: select.condition) {
            select.order = [Select.Ordering(value: rank, isDescending: true)]
        }
        select.columns = [
            Select.Column(value: .meta(.id, alias: nil, .unknown), alias: "_id"),
            Select.Column(value: .meta(.revisionID, alias: nil, .unknown), alias: "_rev"),
            Select.Column(value: .path([], .unknown), alias: "doc"),
        ]
    }

    /// How well documents fit the first `$text` that all of them must meet.
    private static func rank(of condition: Expression?) -> Expression? {
        for case .match(let index, _) in condition?.conjuncts.lazy.map(\.uncollated) ?? [] {
            return .rank(index: index)
        }
        return nil
    }

    private static func number(_ value: DocumentValue, _ name: String) throws(QueryError) -> Int {
        guard let number = value.int, number >= 0 else {
            throw QueryError("\(name) is a whole number, not negative")
        }
        return number
    }

    private static func fields(_ value: DocumentValue) throws(QueryError) -> [[Step]]? {
        guard case .array(let names) = value else { throw QueryError("fields is an array of names") }
        var result: [[Step]] = []
        for name in names {
            guard let text = name.string else { throw QueryError("fields is an array of names") }
            result.append(try MangoParser.steps(text))
        }
        return result.isEmpty ? nil : result
    }

    /// `["a", {"b": "desc"}]`; all in one direction, as CouchDB has it.
    private static func order(_ value: DocumentValue) throws(QueryError) -> [Select.Ordering] {
        guard case .array(let items) = value else { throw QueryError("sort is an array of fields") }
        var result: [Select.Ordering] = []
        for item in items {
            var (name, direction) = (item.string, "asc")
            if case .dictionary(let members) = item, members.count == 1,
                let member = members.first(where: { _ in true })
            {
                name = member.key
                direction = member.value.string ?? ""
            }
            guard let name, direction == "asc" || direction == "desc" else {
                throw QueryError("Each item of sort is a field, or {field: \"asc\" or \"desc\"}")
            }
            let steps = try MangoParser.steps(name)
            let isUnicode = steps != [.key("_id")]
            result.append(
                Select.Ordering(
                    value: .collate(CollationOptions(isUnicode: isUnicode), .path(steps, .unknown)),
                    isDescending: direction == "desc"))
        }
        guard Set(result.map(\.isDescending)).count <= 1 else {
            throw QueryError("All fields of sort go in the same direction")
        }
        return result
    }
}

/// The documents that a selector matches, one after another. Use it from one thread at a time.
package final class MangoCursor {
    /// Whether a revision of a document may be shown to who asks.
    package typealias Filter = (_ id: String, _ revision: RevisionID) throws -> Bool

    private let fields: [[Step]]?
    private let rows: RowsCursor
    private let isShown: Filter?
    /// How many documents that are shown are still to be passed over, and how many to be answered, where not all are.
    private var skip: Int
    private var left: Int
    /// Whether the request asks for figures to be shown.
    package let wantsStatistics: Bool

    fileprivate init(_ request: MangoRequest, _ rows: RowsCursor, _ isShown: Filter?) {
        self.isShown = isShown
        skip = request.skip
        left = request.limit
        fields = request.fields
        wantsStatistics = request.withStatistics
        self.rows = rows
    }

    /// The next document, or the fields of it that are asked for; `nil` after the last.
    package func next() throws -> DocumentValue? {
        guard let isShown else { return try rows.next().map { DocumentCollection.document($0, fields) } }
        while left > 0, let row = try rows.next() {
            guard let id = row[0].string, let revision = row[1].string.flatMap({ RevisionID($0) }),
                try isShown(id, revision)
            else { continue }
            guard skip == 0 else {
                skip -= 1
                continue
            }
            left -= 1
            return DocumentCollection.document(row, fields)
        }
        return nil
    }

    /// How many documents were looked at until now.
    package var documentsExamined: Int { rows.documentsRead }
}

/// The documents that a selector matched.
public struct MangoResult: Sendable {
    /// Each document, or the fields asked for, with `_id` and `_rev` as CouchDB has them.
    public let documents: [DocumentValue]
    /// How many documents were looked at to find them.
    public let documentsExamined: Int
    /// Whether the request asks for such figures to be shown.
    public let wantsStatistics: Bool
}

extension DocumentCollection {
    /// The documents that a Mango request matches, as CouchDB's `_find` answers it: `selector`, `fields`, `sort`, `limit` (25
    /// unless given), `skip`.
    ///
    /// Conditions mean what CouchDB's mean: they hold only of fields that are there, and values of different kinds are
    /// ordered as CouchDB orders JSON. Sorting needs no index.
    ///
    /// - Throws: `invalidQuery` for a request that is malformed; what reading throws.
    public func find(_ request: DocumentValue) throws(DatabaseError) -> MangoResult {
        let (mango, query) = try prepareFind(request)
        let rows = try query.cursor()
        var documents: [DocumentValue] = []
        while let row = try rows.next() { documents.append(Self.document(row, mango.fields)) }
        return MangoResult(
            documents: documents, documentsExamined: rows.documentsRead, wantsStatistics: mango.withStatistics
        )
    }

    /// As ``find(_:)``, one document after another, until `isCancelled` says that nobody wants them any more; it is asked now and
    /// then.
    ///
    /// - Parameters:
    ///   - moment: As of when; now by default.
    ///   - isShown: Which documents count. They are looked for one after another, since no index tells.
    package func findCursor(
        _ request: DocumentValue, at moment: DatabaseSnapshot? = nil,
        showing isShown: MangoCursor.Filter? = nil,
        isCancelled: @escaping () -> Bool
    ) throws(DatabaseError) -> MangoCursor {
        let (mango, query) = try prepareFind(request, countsAll: isShown == nil)
        let moment = if let moment { moment } else { try database.snapshot() }
        return MangoCursor(mango, try query.cursor(in: moment, isCancelled: isCancelled), isShown)
    }

    /// How ``find(_:)`` would look for documents now; nothing of it is done.
    ///
    /// - Throws: as ``find(_:)``.
    public func explainFind(_ request: DocumentValue) throws(DatabaseError) -> Explanation {
        try prepareFind(request).1.explain()
    }

    /// - Parameter countsAll: Whether the query itself passes documents over, and ends with the last that is wanted.
    private func prepareFind(
        _ request: DocumentValue, countsAll: Bool = true
    ) throws(DatabaseError) -> (MangoRequest, Query) {
        do throws(QueryError) {
            var mango = try MangoRequest(request)
            if countsAll {
                mango.select.limit = .literal(.integer(Int64(mango.limit)))
                if mango.skip > 0 { mango.select.offset = .literal(.integer(Int64(mango.skip))) }
            }
            return (mango, Query(database, try PreparedQuery(mango.select, planner)))
        } catch {
            throw DatabaseError(error)
        }
    }

    /// The documents that a Mango request in JSON matches: see ``find(_:)``.
    public func find(json: String) throws(DatabaseError) -> MangoResult {
        try find(try DocumentValue(json: json))
    }

    /// The document of a row, or the fields of it that are asked for.
    fileprivate static func document(_ row: Row, _ fields: [[Step]]?) -> DocumentValue {
        var document = DocumentValue(row[2]) ?? [:]
        document["_id"] = DocumentValue(row[0])
        document["_rev"] = DocumentValue(row[1])
        return fields.map { self.fields($0, of: document) } ?? document
    }

    /// Exactly these fields; a path makes the objects on its way.
    private static func fields(_ fields: [[Step]], of document: DocumentValue) -> DocumentValue {
        var result: DocumentValue? = [:]
        for steps in fields {
            var value: DocumentValue? = document
            for case .key(let name) in steps { value = value[name] }
            guard let value else { continue }
            set(value, steps[...], &result)
        }
        return result ?? [:]
    }

    private static func set(_ value: DocumentValue, _ steps: ArraySlice<Step>, _ target: inout DocumentValue?)
    {
        guard case .key(let name)? = steps.first else {
            target = value
            return
        }
        var inner = target[name]
        set(value, steps.dropFirst(), &inner)
        target[name] = inner
    }
}
