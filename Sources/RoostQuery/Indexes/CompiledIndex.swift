import Foundation
import Roost
import RoostIndex
import RoostOrder

/// An index that is ready to be used: its expressions parsed and compiled.
final class CompiledIndex: Sendable {
    let description: ValueIndex
    let columns: [Column]
    /// What rows have besides the columns.
    let included: [Expression]
    /// Which of the included are summed up.
    let summed: [Int]
    /// The conditions that documents in it meet, each of which a query has to have too.
    let conditions: [Expression]
    /// The array whose elements have rows.
    let array: Expression?
    let definition: IndexDefinition

    /// What rows are ordered by.
    struct Column: Sendable {
        /// Without COLLATE; a path within an element where there is an array.
        let expression: Expression
        let collation: Collation
        let isDescending: Bool
    }

    /// The version of the rows' form, and of what expressions come to: rows of another one are made anew.
    private static let version = 4
    private static let mostSummed = 3

    /// What the values of a row are of, by their places: the columns, then what is included.
    var outputs: [Expression] { columns.map(\.expression) + included }

    init(_ index: ValueIndex) throws(QueryError) {
        description = index
        let compiler = Compiler(planner: Planner(NoCollections()))
        let document = compiler.program.addSource()
        compiler.sourceKinds.append(.collection)
        compiler.scope.addSource("_doc", document, takesProperties: true)
        func own(_ expression: Expression) -> Expression {
            compiler.relative(expression, to: document) ?? expression
        }

        let condition = try Self.condition(index)
        conditions = condition?.conjuncts.map(own) ?? []
        let filter = try condition.map { (value) throws(QueryError) in try compiler.compile(value) }

        let array = try index.unnesting.map { (text) throws(QueryError) in try SQLParser.expression(text) }
        self.array = array.map(own)
        let elements = try array.map { (value) throws(QueryError) in try compiler.compile(value) }
        let variable = compiler.program.addVariable()
        var columns: [Column] = []
        var values: [Evaluation] = []
        for ordering in try Self.orderings(index) {
            let collation = try compiler.collation(of: ordering.value)
            let inner = ordering.value.uncollated
            if array != nil {
                guard case .path(let steps, _) = inner else {
                    throw QueryError("The columns of an index with elements are paths within an element")
                }
                values.append(compiler.member({ $0.variable(variable) }, steps))
            } else {
                values.append(try compiler.compile(ordering.value))
            }
            columns.append(
                Column(
                    expression: array == nil ? own(inner) : inner, collation: collation,
                    isDescending: ordering.isDescending))
        }
        self.columns = columns

        var included: [Expression] = []
        var summed: [Int] = []
        for (text, isSummed) in [(index.including, false), (index.summing, true)] {
            guard let text else { continue }
            guard array == nil else {
                throw QueryError("An index with elements includes nothing and sums nothing up")
            }
            for ordering in try SQLParser.orderings(text) {
                let expression = own(ordering.value.uncollated)
                let place = included.firstIndex(of: expression) ?? included.count
                if place == included.count {
                    included.append(expression)
                    values.append(try compiler.compile(ordering.value.uncollated))
                }
                if isSummed { summed.append(place) }
            }
        }
        guard summed.count <= Self.mostSummed else {
            throw QueryError("An index sums up to \(Self.mostSummed) expressions up")
        }
        self.included = included
        self.summed = summed

        let parts = conditions + (self.array.map { [$0] } ?? []) + columns.map(\.expression) + included
        if parts.contains(where: \.hasUnindexed) {
            throw QueryError(
                "No index has META().expiration, META() as a whole, _attachments or _conflicts: only the document has these"
            )
        }
        if let name = compiler.program.parameterNames.first {
            throw QueryError("An index has no parameters, and $\(name) is one. Write its value")
        }
        let selector = index.selector.map { "; selector 2 \($0)" } ?? ""
        let zone =
            parts.contains(where: \.hasLocalTime) ? "; local time of \(TimeZone.current.identifier)" : ""

        let mapper = IndexMapper(
            compiler.program, columns: columns, values: values, filter: filter, elements: elements,
            variable: variable, metadata: compiler.uses[document]?.metadata ?? .none)
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
