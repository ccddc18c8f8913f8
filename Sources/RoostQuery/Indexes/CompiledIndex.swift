import Foundation
import Roost
import RoostBytes
import RoostIndex
import RoostOrder
import Synchronization

/// An index that is ready to be used: its expressions parsed and compiled.
final class CompiledIndex: Sendable {
    let description: ValueIndex
    let columns: [Column]
    /// What rows have besides the columns.
    let included: [BoundExpression]
    /// Which of the included are summed up.
    let summed: [Int]
    /// The conditions that documents in it meet, each of which a query has to have too.
    let conditions: [Condition]
    /// The array whose elements have rows.
    let array: BoundExpression?
    let definition: IndexDefinition

    /// What rows are ordered by.
    struct Column: Sendable {
        /// A path of the innermost variable, an element, where there is an array.
        let expression: BoundExpression
        let collation: Collation
        let isDescending: Bool
        /// As it was written, without COLLATE.
        let text: String
    }

    /// What documents in it meet.
    struct Condition: Sendable {
        let value: BoundExpression
        /// As it was written.
        let text: String
    }

    /// The version of the rows' form, and of what expressions come to: rows of another one are rebuilt.
    private static let version = 4
    private static let mostSummed = 3

    /// What the values of a row are of, by their places: the columns, then what is included.
    var outputs: [BoundExpression] { columns.map(\.expression) + included }

    init(_ index: ValueIndex) throws(QueryError) {
        description = index
        let document = DocumentProgram(
            Schema(NoCollections()), variables: index.unnesting == nil ? [] : [nil])
        conditions =
            try Self.condition(index)?.conjuncts.map { (part) throws(QueryError) in
                Condition(value: try document.bind(part).value, text: part.sqlText)
            } ?? []
        let array = try index.unnesting.map { (text) throws(QueryError) in
            try document.bind(try SQLParser.expression(text)).value
        }
        self.array = array
        var columns: [Column] = []
        for ordering in try Self.orderings(index) {
            let bound = try document.bind(ordering.value)
            var expression = bound.value
            if array != nil {
                guard case .path(let steps, _) = ordering.value.uncollated else {
                    throw QueryError("The columns of an index with elements are paths within an element")
                }
                expression = .variable(0, steps)
            }
            columns.append(
                Column(
                    expression: expression, collation: bound.collation, isDescending: ordering.isDescending,
                    text: ordering.value.uncollated.sqlText))
        }
        self.columns = columns

        var included: [BoundExpression] = []
        var summed: [Int] = []
        for (text, isSummed) in [(index.including, false), (index.summing, true)] {
            guard let text else { continue }
            guard array == nil else {
                throw QueryError("An index with elements includes nothing and sums nothing up")
            }
            for ordering in try SQLParser.orderings(text) {
                let expression = try document.bind(ordering.value).value
                let place = included.firstIndex(of: expression) ?? included.count
                if place == included.count { included.append(expression) }
                if isSummed { summed.append(place) }
            }
        }
        guard summed.count <= Self.mostSummed else {
            throw QueryError("An index sums up to \(Self.mostSummed) expressions up")
        }
        self.included = included
        self.summed = summed

        let parts =
            conditions.map(\.value) + [array].compactMap(\.self) + columns.map(\.expression) + included
        if parts.contains(where: \.hasUnindexed) {
            throw QueryError(
                "No index has META().expiration, META() as a whole, _attachments or _conflicts: only the document has these"
            )
        }
        if let name = document.parameterNames.first {
            throw QueryError("An index has no parameters, and $\(name) is one. Write its value")
        }
        let selector = index.selector.map { "; selector 2 \($0)" } ?? ""
        let zone =
            parts.contains(where: \.hasLocalTime) ? "; local time of \(TimeZone.current.identifier)" : ""

        let filters = try conditions.map { (condition) throws(QueryError) in
            try document.compile(condition.value)
        }
        let elements = try array.map { (array) throws(QueryError) in try document.compile(array) }
        let values = try (columns.map(\.expression) + included).map { (value) throws(QueryError) in
            try document.compile(value)
        }
        let mapper = IndexMapper(
            document.program, columns: columns, values: values, filters: filters, elements: elements,
            variable: document.variables.first, metadata: document.use.metadata)
        definition = IndexDefinition(
            name: "value/\(index.name)",
            signature: """
                value \(Self.version); \(index.columns); where \(index.condition ?? ""); unnest \(index.unnesting ?? ""); \
                including \(index.including ?? ""); summing \(index.summing ?? ""); \
                \(columns.map(\.collation.signature).joined(separator: ", "))\(selector)\(zone)
                """,
            reduction: summed.isEmpty ? nil : IndexTotals.reduction(of: summed.map { $0 + columns.count })
        ) { documents, _ in try mapper.map(documents) }
    }

    /// What documents in it meet.
    private static func condition(_ index: ValueIndex) throws(QueryError) -> Expression? {
        if let selector = index.selector {
            let selector = try MangoSelector((try? DocumentValue(json: selector)) ?? .null)
            return try MangoCondition.expression(of: selector)
        }
        return try index.condition.map { (text) throws(QueryError) in try SQLParser.expression(text) }
    }

    private static func orderings(_ index: ValueIndex) throws(QueryError) -> [Select.Ordering] {
        let orderings = index.columns.isEmpty ? [] : try SQLParser.orderings(index.columns)
        guard orderings.isEmpty else { return orderings }
        guard index.unnesting != nil else { throw QueryError("An index is on at least one expression") }
        return [Select.Ordering(value: .path([], .unknown))]
    }
}

/// No collections: an index's expressions have no queries in them.
struct NoCollections: CollectionFinder {
    func findCollection(_ name: String, scope: String) throws(DatabaseError) -> DocumentCollection? { nil }
    func collectionNames(scope: String) throws(DatabaseError) -> [String] { [] }
}

// MARK: - Compiled indexes

/// The indexes of a database's collections, read from their lists once, until there are others.
final class CompiledIndexes: Sendable {
    private let values = KnownLists<[CompiledIndex]>()
    private let texts = KnownLists<IndexList<TextIndex>>()

    static func of(_ database: Database) -> CompiledIndexes { database.companion { CompiledIndexes() } }

    /// The indexes that the list of a collection, as it is kept, has.
    func indexes(
        of collection: DocumentCollection, by list: [UInt8]
    ) throws(DatabaseError) -> [CompiledIndex] {
        try values.read(list, of: collection) { (list) throws(DatabaseError) in
            // One that a newer Roost has made may have expressions that are not known here.
            try IndexList<ValueIndex>(list).indexes.values.compactMap { try? CompiledIndex($0) }
        }
    }

    /// The full-text indexes that the list of a collection, as it is kept, has.
    func textIndexes(
        of collection: DocumentCollection, by list: [UInt8]
    ) throws(DatabaseError) -> IndexList<TextIndex> {
        try texts.read(list, of: collection) { (list) throws(DatabaseError) in try IndexList(list) }
    }
}

/// What was read from the list of each collection last.
private final class KnownLists<Value: Sendable>: Sendable {
    private struct Known {
        let list: [UInt8]
        let value: Value
    }

    private let known = Mutex<[ByteKey: Known]>([:])

    func read(
        _ list: [UInt8], of collection: DocumentCollection,
        _ body: ([UInt8]) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        let name = ByteKey("\(collection.scopeName)\0\(collection.collectionName)")
        if let known = known.withLock({ $0[name] }), known.list == list { return known.value }
        let value = try body(list)
        known.withLock { $0[name] = Known(list: list, value: value) }
        return value
    }
}

// MARK: - Index key

/// Writes the key of an index's row from the values of its columns. Belongs to one thread.
final class IndexKey {
    private let columns: [(encoder: KeyEncoder, isDescending: Bool)]
    private let buffer = ByteBuffer()

    init(_ columns: [CompiledIndex.Column]) {
        self.columns = columns.map { (KeyEncoder($0.collation), $0.isDescending) }
    }

    /// What was written last; valid until the next call of ``set(_:)``.
    var view: ByteView { buffer.view }

    /// - Parameter value: says what a column has.
    @inline(__always)
    func set(_ value: (_ column: Int) -> Value) {
        buffer.reset()
        for index in columns.indices {
            let column = columns[index]
            column.encoder.reset()
            column.encoder.append(value(index))
            if column.isDescending { column.encoder.complement(from: 0) }
            buffer.append(column.encoder.view)
        }
    }
}
