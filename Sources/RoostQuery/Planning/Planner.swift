import Roost
import RoostOrder

/// Plans bound queries: the one that was asked and those within it.
///
/// Each rule is a file of the folder: where conditions are answered (``SourcePlanning``), what an index answers (``IndexMatching``), which
/// rows can be looked up in a table, in which orders sources may be read, which totals an index keeps, which trigrams a pattern has.
/// A rule says what is possible. What takes least follows from parameters and from exact counts, when an execution starts.
final class Planner {
    let schema: Schema
    private(set) var compiler: Compiler!
    /// What is asked of the rows of each source.
    let uses: [Int: SourceUse]
    /// The sources of queries around the one that is being planned.
    private var outerSources: Set<Int> = []
    /// The plans of queries, by number.
    private var plans: [Int: QueryPlan] = [:]

    /// - Parameter expressions: all expressions of the statement.
    init(_ statement: BoundStatement, _ expressions: [BoundExpression], _ schema: Schema) {
        self.schema = schema
        uses = SourceUse.of(expressions)
        compiler = Compiler(statement) { [unowned self] (query) throws(QueryError) in try plan(query) }
    }

    func plan(_ query: BoundQuery) throws(QueryError) -> QueryPlan {
        if let known = plans[query.number] { return known }
        let made = try planned(query)
        plans[query.number] = made
        return made
    }

    private func planned(_ query: BoundQuery) throws(QueryError) -> QueryPlan {
        let compiler: Compiler = compiler
        func compiled(_ condition: BoundCondition?) throws(QueryError) -> Evaluation? {
            try condition.map { (condition) throws(QueryError) in try compiler.compile(condition.value) }
        }
        let (limit, offset) = (try compiled(query.limit), try compiled(query.offset))
        let around = outerSources
        outerSources.formUnion(query.sources.map(\.number))
        defer { outerSources = around }
        let conditions = try QueryConditions(query, compiler)
        let grouping = try query.groups.map { (groups) throws(QueryError) in try Grouping(groups, compiler) }
        let having = try compiled(query.having)
        let columns = try compiler.compile(query.columns.map(\.expression.value))
        let order = try query.order.map { (ordering) throws(QueryError) in
            OrderPlan(
                value: try compiler.compile(ordering.expression.value),
                collation: ordering.expression.collation, isDescending: ordering.isDescending,
                text: ordering.written.sqlText)
        }
        let windows = try windows(query.windows)
        var orders: [[SourcePlan]] = []
        for places in JoinOrders(query).all {
            orders.append(try sources(of: query, places, conditions, around))
        }
        let only = orders[0].count == 1 ? orders[0][0] : nil
        return QueryPlan(
            number: query.number, query: query, orders: orders, columns: columns,
            columnNames: query.columns.map(\.name), collations: query.columns.map(\.expression.collation),
            grouping: grouping, having: having, windows: windows, order: order,
            isRanked: only.map { Ranking.isOrder(of: query, $0.search) } ?? false,
            isDistinct: query.isDistinct, limit: limit, offset: offset,
            counted: only.flatMap { counted(query, $0) },
            totals: only.map { source in
                source.indexes.compactMap { Totals(query)?.access($0, source.number) }
            } ?? [],
            isCorrelated: query.isCorrelated, isSingleValue: query.isSingleValue)
    }

    private func windows(_ windows: BoundWindows) throws(QueryError) -> [WindowPlan] {
        var plans: [WindowPlan] = []
        var known = windows.inputs.map(\.slot)
        for window in windows.windows {
            var inputs: [(value: Evaluation, slot: Int)] = []
            if plans.isEmpty {
                for input in windows.inputs { inputs.append((try compiler.compile(input.value), input.slot)) }
            }
            plans.append(try WindowPlan(window, inputs: inputs, known: known, compiler))
            known += window.calls.map(\.slot)
        }
        return plans
    }

    /// The sources of a query in one of the orders in which they may be read.
    private func sources(
        of query: BoundQuery, _ places: [Int], _ conditions: QueryConditions, _ around: Set<Int>
    ) throws(QueryError) -> [SourcePlan] {
        var plans: [SourcePlan] = []
        var known = around
        let levels = conditions.levels(places.map { query.sources[$0].number })
        for (level, place) in places.enumerated() {
            let planning = SourcePlanning(
                self, query, place, isFirst: level == 0, known: known, conditions, filters: levels[level])
            plans.append(try planning.plan())
            known.insert(query.sources[place].number)
        }
        return plans
    }

    /// `SELECT count(*)` of a whole collection, or of what a search finds, is known without reading documents.
    private func counted(_ query: BoundQuery, _ source: SourcePlan) -> QueryPlan.Counted? {
        guard let groups = query.groups, groups.keys.isEmpty, query.having == nil, query.order.isEmpty,
            groups.measures.count == 1, groups.measures[0].value == nil, query.columns.count == 1,
            query.columns[0].expression.value == .slot(groups.measures[0].slot),
            case .documents(let collection, let access) = source.origin, access.isScan,
            !access.includesDeleted
        else { return nil }
        if source.filters.isEmpty { return .documents(collection) }
        return source.filters.count == 1 ? source.search.map { .found($0) } : nil
    }
}

/// The conditions of a query with what they are evaluated by. Those of ON are among them, but for those of a LEFT JOIN: rows are
/// joined if all of these hold.
struct QueryConditions {
    struct Condition {
        let number: Int
        let value: BoundExpression
        let written: Expression
        let text: String
        let holds: Evaluation
        let sources: Set<Int>

        var planned: SourcePlan.Condition { SourcePlan.Condition(holds: holds, text: text) }
    }

    private(set) var all: [Condition] = []
    /// Those of ON of a LEFT JOIN, by the number of the source.
    private(set) var ofLeftJoins: [Int: [Condition]] = [:]

    init(_ query: BoundQuery, _ compiler: Compiler) throws(QueryError) {
        for source in query.sources {
            for condition in source.conditions {
                if source.join == .left {
                    ofLeftJoins[source.number, default: []].append(try Condition(condition, 0, compiler))
                } else {
                    all.append(try Condition(condition, all.count, compiler))
                }
            }
        }
        for condition in query.conditions { all.append(try Condition(condition, all.count, compiler)) }
    }

    /// The conditions that are answered as soon as each of the sources in an order has a row: that is at the last one that they speak of.
    func levels(_ sources: [Int]) -> [[Condition]] {
        var levels = sources.map { _ in [Condition]() }
        for condition in all {
            levels[sources.lastIndex { condition.sources.contains($0) } ?? 0].append(condition)
        }
        return levels
    }
}

extension QueryConditions.Condition {
    fileprivate init(_ condition: BoundCondition, _ number: Int, _ compiler: Compiler) throws(QueryError) {
        self.init(
            number: number, value: condition.value, written: condition.written, text: condition.text,
            holds: try compiler.compile(condition.value), sources: condition.value.sources)
    }
}

// MARK: - Join orders

/// The rule for the orders in which the sources of a query may be read, all of which yield the same rows: that of FROM, and for
/// collections that are joined each of them first once, and after it those that are joined to what comes before by an equality.
struct JoinOrders {
    /// The places of the query's sources in each order; that of FROM is the first.
    private(set) var all: [[Int]]

    /// So many collections are put in other orders at most.
    private static let mostReordered = 5

    init(_ query: BoundQuery) {
        let places = Array(query.sources.indices)
        all = [places]
        let joined = places.prefix { place in
            if case .collection = query.sources[place].origin {
                query.sources[place].join != .left
            } else {
                false
            }
        }
        guard joined.count > 1, joined.count <= Self.mostReordered else { return }
        let conditions = (query.sources.flatMap(\.conditions) + query.conditions).map(\.value)
        guard !conditions.contains(where: \.hasMatch) else { return }
        let own = Set(joined.map { query.sources[$0].number })
        let links = conditions.compactMap { condition -> Set<Int>? in
            guard case .comparison(.equal, let left, let right, _) = condition else { return nil }
            return left.sources.union(right.sources).intersection(own)
        }
        for first in joined.dropFirst() {
            var order = [first]
            var rest = joined.filter { $0 != first }
            while !rest.isEmpty {
                let known = Set(order.map { query.sources[$0].number })
                let next = rest.firstIndex { place in
                    let number = query.sources[place].number
                    return links.contains {
                        $0.contains(number) && $0.subtracting([number]).isSubset(of: known)
                    }
                }
                order.append(rest.remove(at: next ?? 0))
            }
            all.append(order + places.dropFirst(joined.count))
        }
    }
}

extension BoundExpression {
    fileprivate var hasMatch: Bool { contains { if case .match = $0 { true } else { false } } }
}

// MARK: - Ranking

/// The rule for ranked search: the best documents of a search come first, so that few have to be read.
enum Ranking {
    /// Whether a query's only condition is a search, by whose rank its rows are ordered.
    static func isOrder(of query: BoundQuery, _ search: TextSearch?) -> Bool {
        guard let search, query.groups == nil, !query.isDistinct, query.conditions.count == 1,
            query.order.count == 1,
            query.order[0].isDescending, case .rank(let ranked) = query.order[0].expression.value
        else { return false }
        return ranked.number == search.number
    }
}

// MARK: - Implication

/// The rule for partial indexes: whether conditions of a query imply the condition of an index.
struct Implication {
    /// The conditions of the query, as an index's own are bound.
    let conditions: [BoundExpression]

    /// Whether `wanted` holds wherever all of the conditions do.
    func implies(_ wanted: BoundExpression) -> Bool { conditions.contains { implies($0, wanted) } }

    private func implies(_ condition: BoundExpression, _ wanted: BoundExpression) -> Bool {
        if condition == wanted { return true }
        switch wanted {
        case .test(let value, .valued, isNegated: false),
            .test(let value, .missing, isNegated: true), .test(let value, .null, isNegated: true):
            return compared(by: condition) == value
        case .comparison(let comparison, let value, .literal(let limit), _):
            guard case .comparison(let mine, let own, .literal(let given), _) = condition, own == value else {
                return false
            }
            return implies(mine, given, comparison, limit)
        default: return false
        }
    }

    /// What has to have a value for a condition to hold.
    private func compared(by condition: BoundExpression) -> BoundExpression? {
        switch condition {
        case .comparison(_, let value, .literal, _), .comparison(_, let value, .parameter, _),
            .like(let value, _, _, isNegated: false), .membership(let value, _, _, isNegated: false):
            value
        default: nil
        }
    }

    /// Whether what compares so with one number compares so with another one. How texts compare is another matter.
    private func implies(
        _ mine: Comparison, _ given: DocumentValue, _ wanted: Comparison, _ limit: DocumentValue
    ) -> Bool {
        let constants = ConstantPool()
        guard given.double != nil, limit.double != nil, let own = try? constants.value(given),
            let other = try? constants.value(limit)
        else { return false }
        let order = own.compare(other, .binary)
        return switch (mine, wanted) {
        case (.equal, _): wanted.holds(order)
        case (.greater, .greater), (.greaterOrEqual, .greaterOrEqual), (.greater, .greaterOrEqual): order >= 0
        case (.greaterOrEqual, .greater): order > 0
        case (.less, .less), (.lessOrEqual, .lessOrEqual), (.less, .lessOrEqual): order <= 0
        case (.lessOrEqual, .less): order < 0
        default: false
        }
    }
}
