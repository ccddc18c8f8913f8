import Fleece
import Roost

/// The documents that a selector matches, one after another. Use it from one thread at a time.
package final class MangoCursor {
    private let fields: [[Step]]?
    private let rows: RowCursor
    /// Whether the request asks for figures to be shown.
    package let wantsStatistics: Bool
    /// What CouchDB says where the index that was asked for is not used.
    package let warning: String?
    /// Whether an index is defined that CouchDB would take, or IDs or words lead to the documents.
    package let hasIndex: Bool

    fileprivate init(_ request: MangoRequest, _ query: DatabaseQuery, _ rows: RowCursor) {
        fields = request.fields
        hasIndex = request.hasIndex || !query.scansDocuments
        warning = request.warning
        wantsStatistics = request.withStatistics
        self.rows = rows
    }

    /// The next document, or the fields of it that are asked for; `nil` after the last.
    package func next() throws(DatabaseError) -> DocumentValue? {
        try rows.next().map { DocumentCollection.document($0, fields) }
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

    /// As ``find(_:)``, one document after another as of a moment, until `isCancelled` says that nobody wants them any more; it is
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

    /// The document of a row, or the fields of it that are asked for.
    fileprivate static func document(_ row: ResultRow, _ fields: [[Step]]?) -> DocumentValue {
        var document = DocumentValue(row[2]) ?? [:]
        document["_id"] = DocumentValue(row[0])
        document["_rev"] = DocumentValue(row[1])
        for name in row.columnNames.dropFirst(3) {
            if let value = DocumentValue(row[name]) { document[name] = value }
        }
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
