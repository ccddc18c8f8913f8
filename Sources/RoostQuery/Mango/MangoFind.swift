import Fleece
import Roost

/// The documents that a selector matches, one after another. Use it from one thread at a time.
package final class MangoCursor {
    private let request: MangoRequest
    private let rows: RowCursor
    /// Whether the request asks for figures to be shown.
    package let wantsStatistics: Bool
    /// What CouchDB says where the index that was requested is not used.
    package let warning: String?
    /// Whether an index is defined that CouchDB would take, or IDs or words lead to the documents.
    package let hasIndex: Bool

    fileprivate init(_ request: MangoRequest, _ query: DatabaseQuery, _ rows: RowCursor) {
        self.request = request
        hasIndex = request.hasIndex || !query.scansDocuments
        warning = request.warning
        wantsStatistics = request.withStatistics
        self.rows = rows
    }

    /// The next document, or the fields of it that are requested; `nil` after the last.
    package func next() throws(DatabaseError) -> DocumentValue? {
        try rows.next().map { request.document($0) }
    }

    /// How many documents were looked at until now.
    package var documentsExamined: Int { rows.documentsRead }

    /// How many rows of indexes were read until now.
    package var keysExamined: Int { rows.indexRowsRead }
}

/// The documents that a selector matched.
public struct MangoResult: Sendable {
    /// Each document, or the fields asked for, with `_id`, `_rev`, stubs of `_attachments` and, with `conflicts`, `_conflicts` as
    /// CouchDB has them.
    public let documents: [DocumentValue]
    /// How many documents were looked at to find them.
    public let documentsExamined: Int
    /// Whether the request asks for such figures to be shown.
    public let wantsStatistics: Bool
}

extension DocumentCollection {
    /// The documents that a Mango request matches, as CouchDB's `_find` answers it: `selector`, `fields`, `sort`, `limit` (25
    /// unless given), `skip`, `conflicts`.
    ///
    /// Conditions mean what CouchDB's mean: they hold only of fields that are there, and values of different kinds are
    /// ordered as CouchDB orders JSON. Sorting needs no index, and finds only documents that have all the fields of `sort`; without `sort`, documents come in the order of the index of a design
    /// document that CouchDB would take, or of their IDs. Design documents are not among them, other than by their words (`$text`).
    ///
    /// - Throws: `invalidQuery` for a request that is malformed, `noIndex` where `allow_fallback` is false and no index fits; what
    ///   reading throws.
    public func find(_ request: DocumentValue) throws(DatabaseError) -> MangoResult {
        let cursor = try findCursor(request, at: try database.snapshot()) { false }
        var documents: [DocumentValue] = []
        while let document = try cursor.next() { documents.append(document) }
        return MangoResult(
            documents: documents, documentsExamined: cursor.documentsExamined,
            wantsStatistics: cursor.wantsStatistics)
    }

    /// As ``find(_:)``, one document after another as of a moment, until `isCancelled` says that the caller no longer wants them; it is
    /// asked now and then.
    ///
    /// - Parameters:
    ///   - visible: The documents that are looked at, where these are not all; see ``VisibleDocuments``. Those with words that are looked
    ///     for come by their IDs then where no `sort` is given, since how well words fit follows from all documents.
    ///   - options: What the answer may cost.
    package func findCursor(
        _ request: DocumentValue, at moment: DatabaseSnapshot, visible: (any VisibleDocuments)? = nil,
        options: QueryOptions = QueryOptions(), isCancelled: @escaping () -> Bool
    ) throws(DatabaseError) -> MangoCursor {
        var (mango, query) = try prepareFind(request, isLimited: visible != nil)
        query.options = options
        return MangoCursor(
            mango, query, try query.cursor(in: moment, visible: visible, isCancelled: isCancelled))
    }

    /// How ``find(_:)`` would look for documents now; nothing of it is done.
    ///
    /// - Throws: as ``find(_:)``.
    public func explainFind(_ request: DocumentValue) throws(DatabaseError) -> Explanation {
        try prepareFind(request).1.explain()
    }

    /// As ``explainFind(_:)``, in CouchDB's terms besides.
    package func explainMango(_ request: DocumentValue) throws(DatabaseError) -> MangoExplanation {
        let (mango, query) = try prepareFind(request)
        return MangoExplanation(mango, try mangoIndexes(), try query.explain())
    }

    private func prepareFind(
        _ request: DocumentValue, isLimited: Bool = false
    ) throws(DatabaseError) -> (MangoRequest, DatabaseQuery) {
        let indexes = try mangoIndexes()
        do throws(QueryError) {
            var mango = try MangoRequest(request)
            try mango.use(indexes)
            if isLimited { try mango.limit() }
            mango.orderByIDs()
            mango.limitEmptyList()
            return (mango, DatabaseQuery(database, try PreparedQuery(mango.select, schema)))
        } catch {
            throw DatabaseError(error)
        }
    }

    /// The documents that a Mango request in JSON matches: see ``find(_:)``.
    public func find(json: String) throws(DatabaseError) -> MangoResult {
        try find(try DocumentValue(json: json))
    }
}

extension MangoRequest {
    /// The document of a row, or the fields of it that are requested.
    fileprivate func document(_ row: ResultRow) -> DocumentValue {
        guard let fields else {
            var document = DocumentValue(row[0]) ?? [:]
            for (place, name) in metadata.enumerated() {
                if let value = DocumentValue(row[place + 1]) { document[name] = value }
            }
            return projection.map { $0.part(of: document) ?? [:] } ?? document
        }
        // Exactly these fields; a path makes the objects on its way.
        var result: DocumentValue? = [:]
        for field in fields {
            var value = DocumentValue(row[field.column])
            for case .key(let name) in field.rest { value = value[name] }
            guard let value else { continue }
            Self.set(value, field.steps[...], &result)
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

// MARK: - Mango explanation

/// How a Mango request is answered, in the terms of CouchDB's `_explain`.
package struct MangoExplanation {
    /// What is done.
    package let plan: Explanation
    /// The selector in its normal form.
    package let selector: DocumentValue
    /// The index that is read, the first of several; `nil` for none of design documents.
    package let index: MangoIndex?
    /// The indexes that are not read, the best first.
    package let candidates: [Candidate]
    /// The fields of the selector that an index can look for, and the others.
    package let fields: (indexable: [String], others: [String])
    /// The keys of the index from which to which documents are looked for.
    package let keys: (start: DocumentValue, end: DocumentValue)
    /// Whether the index has all that is requested, so that no document is read.
    package let isCovering: Bool
    /// Whether documents come in falling order.
    package let isDescending: Bool
    /// The index that was requested: its design document, and its name where that was given.
    package let hint: [String]

    /// An index that is not read.
    package struct Candidate {
        /// `nil` for that of all documents.
        package let index: MangoIndex?
        package let isUsable: Bool
        /// The code of why it is not.
        package let reason: String
        /// How far it is from being chosen; the same for those that are equally far.
        package let ranking: Int
    }

    init(_ request: MangoRequest, _ indexes: [MangoIndex], _ plan: Explanation) {
        self.plan = plan
        selector = request.selector.json
        let read = Set(plan.steps.flatMap(\.indexes).map { ByteKey($0) })
        let (used, others) = Self.divided(indexes) { index in
            index.valueIndex.map { read.contains(ByteKey($0.name)) } ?? false
        }
        let first = plan.steps.lazy.compactMap(\.index).first.map { ByteKey($0) }
        index = used.first { $0.valueIndex.map { ByteKey($0.name) } == first } ?? used.first
        isCovering = plan.steps.contains(where: \.isCovering)
        fields = request.known.hints
        keys = request.selector.isEmptyList ? (.null, .null) : request.known.keys(of: index)
        isDescending = request.select.order.first?.isDescending ?? false
        hint = request.hint?.names ?? []
        candidates = Self.candidates(request, others, read: index)
    }

    private static func divided(
        _ indexes: [MangoIndex], _ condition: (MangoIndex) -> Bool
    ) -> ([MangoIndex], [MangoIndex]) {
        (indexes.filter(condition), indexes.filter { !condition($0) })
    }

    /// What CouchDB passes over at each of its steps, the last one's first: those that others are better than, the one of all
    /// documents, those that were not asked for, those that can't serve the request, and those of some documents.
    private static func candidates(
        _ request: MangoRequest, _ indexes: [MangoIndex], read winner: MangoIndex?
    ) -> [Candidate] {
        let isAskedFor = { (index: MangoIndex) in request.hint?.names(index) ?? false }
        let (partial, global) = divided(indexes) { $0.filter.exists && !isAskedFor($0) }
        let (fitting, unfit) = divided(global) { unfitness(of: $0, request) == nil }
        let hasChosen = (fitting + [winner].compactMap(\.self)).contains(where: isAskedFor)
        let (filtered, excluded) = divided(fitting) { !hasChosen || isAskedFor($0) }
        var candidates: [Candidate] = []
        for (rank, index) in request.known.ranked(filtered).enumerated() {
            let reason = reason(index, request, read: winner)
            candidates.append(Candidate(index: index, isUsable: true, reason: reason, ranking: rank + 1))
        }
        func add(_ indexes: [MangoIndex?], isUsable: Bool, _ reason: (MangoIndex?) -> String) {
            let rank = (candidates.last?.ranking ?? 0) + 1
            for index in indexes {
                candidates.append(
                    Candidate(index: index, isUsable: isUsable, reason: reason(index), ranking: rank))
            }
        }
        let all: [MangoIndex?] = winner == nil ? [] : [nil]
        if !hasChosen { add(all, isUsable: true) { _ in "unfavored_type" } }
        add((hasChosen ? all : []) + excluded, isUsable: true) { _ in "excluded_by_user" }
        add(unfit, isUsable: false) { $0.flatMap { unfitness(of: $0, request) } ?? "" }
        add(partial, isUsable: false) { _ in "is_partial" }
        return candidates
    }

    /// Why an index can't serve a request; `nil` where it can.
    private static func unfitness(of index: MangoIndex, _ request: MangoRequest) -> String? {
        if request.known.hasText { return "needs_text_search" }
        if !request.known.isUsable(index, sortedBy: request.order) { return "field_mismatch" }
        return request.isInOrder(index) ? nil : "sort_order_mismatch"
    }

    /// Why another index is read: CouchDB takes the better one by its definition, and Roost the one that takes less.
    private static func reason(_ index: MangoIndex, _ request: MangoRequest, read winner: MangoIndex?)
        -> String
    {
        guard let winner, request.known.ranked([index, winner]).first?.place == winner.place else {
            return "takes_more"
        }
        if request.known.overlap(index) < request.known.overlap(winner) { return "less_overlap" }
        return index.fields.count > winner.fields.count ? "too_many_fields" : "alphabetically_comes_after"
    }
}

extension MangoIndex {
    /// Where its definition stands.
    fileprivate var place: [String] { [design, name] }
}
