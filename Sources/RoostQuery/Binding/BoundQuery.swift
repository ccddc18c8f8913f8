import Roost
import RoostOrder

/// A query without names. Equal when it is the same place in the same statement.
struct BoundQuery: Hashable, Sendable {
    /// Its number among the queries of the statement.
    let number: Int
    var sources: [BoundSource] = []
    /// The conditions that AND joins in WHERE.
    var conditions: [BoundCondition] = []
    var groups: BoundGroups?
    var having: BoundCondition?
    var windows = BoundWindows()
    var columns: [BoundColumn] = []
    var order: [BoundOrdering] = []
    var isDistinct = false
    var isRaw = false
    var limit: BoundCondition?
    var offset: BoundCondition?
    var indexUse = Select.IndexUse.cheapest
    /// Whether it refers to rows, groups or variables of the queries around it.
    var isCorrelated = false

    init(number: Int) { self.number = number }

    static func == (left: Self, right: Self) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }

    /// Whether all that it yields is one value.
    var isSingleValue: Bool { groups?.keys.isEmpty == true && columns.count == 1 && having == nil }

    /// All of its expressions, those of queries in FROM included.
    var expressions: [BoundExpression] {
        var result: [BoundExpression] = []
        for source in sources {
            switch source.origin {
            case .collection: break
            case .query(let query): result += query.expressions
            case .combined(let first, _, let second): result += first.expressions + second.expressions
            case .elements(let array): result.append(array)
            }
        }
        result += sources.flatMap(\.conditions).map(\.value) + conditions.map(\.value)
        result +=
            (groups?.keys.map(\.expression.value) ?? []) + (groups?.measures.compactMap(\.value) ?? [])
        result += windows.expressions
        result += columns.map(\.expression.value) + order.map(\.expression.value)
        return result + [having, limit, offset].compactMap { $0?.value }
    }

    /// The query with what `body` makes of each of its expressions.
    func mapped(_ body: (BoundExpression) -> BoundExpression) -> BoundQuery {
        func mapped(_ condition: BoundCondition) -> BoundCondition {
            BoundCondition(value: body(condition.value), written: condition.written)
        }
        var query = self
        for index in sources.indices {
            query.sources[index].conditions = sources[index].conditions.map(mapped)
            switch sources[index].origin {
            case .collection: break
            case .query(let inner): query.sources[index].origin = .query(inner.mapped(body))
            case .combined(let first, let operation, let second):
                query.sources[index].origin = .combined(first.mapped(body), operation, second.mapped(body))
            case .elements(let array): query.sources[index].origin = .elements(body(array))
            }
        }
        query.conditions = conditions.map(mapped)
        query.groups = groups.map { groups in
            BoundGroups(
                sources: groups.sources,
                keys: groups.keys.map {
                    BoundGroups.Key(
                        expression: $0.expression.mapped(body), written: $0.written, slot: $0.slot)
                },
                measures: groups.measures.map {
                    BoundGroups.Measure(accumulator: $0.accumulator, value: $0.value.map(body), slot: $0.slot)
                })
        }
        query.windows = windows.mapped(body)
        query.columns = columns.map { $0.mapped(body) }
        query.order = order.map { $0.mapped(body) }
        (query.having, query.limit, query.offset) = (
            having.map(mapped), limit.map(mapped), offset.map(mapped)
        )
        return query
    }
}

/// A source of a query's rows.
struct BoundSource: Sendable {
    let number: Int
    let alias: String
    var origin: Origin
    let join: Select.Join
    /// The conditions that AND joins in ON.
    var conditions: [BoundCondition] = []
    /// What FROM has there, as `explain` shows it.
    let name: String

    enum Origin: Sendable {
        case collection(DocumentCollection)
        case query(BoundQuery)
        case combined(BoundQuery, Select.SetOperation, BoundQuery)
        case elements(BoundExpression)
    }
}

/// A condition, or another expression that stands for itself, with the form that it was written in.
struct BoundCondition: Sendable {
    let value: BoundExpression
    let written: Expression

    var text: String { written.sqlText }
}

/// A column of a query's result.
struct BoundColumn: Sendable {
    let name: String
    let isStar: Bool
    let expression: CollatedExpression

    func mapped(_ body: (BoundExpression) -> BoundExpression) -> BoundColumn {
        BoundColumn(name: name, isStar: isStar, expression: expression.mapped(body))
    }
}

/// One of the things that rows are ordered by.
struct BoundOrdering: Hashable, Sendable {
    let expression: CollatedExpression
    let isDescending: Bool
    let written: Expression

    func mapped(_ body: (BoundExpression) -> BoundExpression) -> BoundOrdering {
        BoundOrdering(
            expression: expression.mapped(body), isDescending: isDescending, written: written)
    }
}

/// What window functions compute of the rows of a query, once these are found and grouped.
struct BoundWindows: Sendable {
    /// What is asked of each row, by the windows and by what is computed with their values.
    var inputs: [(value: BoundExpression, slot: Int)] = []
    /// The windows that need rows in an order of their own, one after the other.
    var windows: [BoundWindow] = []

    var expressions: [BoundExpression] {
        inputs.map(\.value) + windows.flatMap { window in window.calls.flatMap(\.call.expressions) }
    }

    func mapped(_ body: (BoundExpression) -> BoundExpression) -> BoundWindows {
        var copy = self
        for index in inputs.indices { copy.inputs[index].value = body(inputs[index].value) }
        return copy
    }
}

/// The window functions that look at the same partitions in the same order.
struct BoundWindow: Sendable {
    let partition: [CollatedExpression]
    let order: [BoundOrdering]
    /// Each refers to the places of the inputs.
    var calls: [(call: BoundWindowCall, slot: Int)]
}

/// What is asked of the groups of a query's rows: the values that the rows of a group share, aggregates, and what else is asked of a
/// group, which its first row answers.
struct BoundGroups: Sendable {
    /// The sources whose rows are grouped.
    let sources: Set<Int>
    let keys: [Key]
    var measures: [Measure] = []

    /// An expression of GROUP BY.
    struct Key: Sendable {
        let expression: CollatedExpression
        let written: Expression
        let slot: Int
    }

    /// What is gathered over the rows of a group.
    struct Measure: Sendable {
        let accumulator: Accumulator
        /// `nil` for the number of rows.
        let value: BoundExpression?
        let slot: Int
    }
}

/// What is known of a statement whose names are resolved, besides its query.
struct BoundStatement: Sendable {
    /// In the order in which they were met.
    let parameterNames: [String]
    let sourceCount: Int
    /// The collections among the sources, by number.
    let collections: [Int: DocumentCollection]
    let slotCount: Int
    let queryCount: Int
    /// The numbers of the searches whose RANK() is requested.
    let rankedSearches: Set<Int>
}

/// What a statement asks of the rows of a source: an index that has all of that need not lead to documents.
struct SourceUse: Sendable {
    /// How much of META() is requested.
    enum Metadata: Comparable {
        case none, id, all
    }

    private(set) var paths: Set<[Step]> = []
    private(set) var isOfAllProperties = false
    private(set) var metadata = Metadata.none
    /// Whether it asks if documents are deleted, and so wants to see those that are.
    private(set) var asksDeleted = false

    /// Whether only the document has all of it.
    var isWhole: Bool { isOfAllProperties || metadata == .all }

    /// The names of the properties that it begins with.
    var properties: [String] {
        let names = paths.compactMap { steps in if case .key(let name)? = steps.first { name } else { nil } }
        return Set(names).sorted()
    }

    /// What each source has to yield in some expressions.
    static func of(_ expressions: [BoundExpression]) -> [Int: SourceUse] {
        var uses: [Int: SourceUse] = [:]
        for expression in expressions {
            expression.visit { part in
                if let source = part.source { uses[source, default: SourceUse()].note(part) }
            }
        }
        return uses
    }

    private mutating func note(_ part: BoundExpression) {
        switch part {
        case .path(_, let steps): if steps.isEmpty { isOfAllProperties = true } else { paths.insert(steps) }
        case .meta(let field, _):
            metadata = max(metadata, field == .id ? .id : .all)
            if field == nil || field == .deleted { asksDeleted = true }
        case .match, .rank: metadata = max(metadata, .id)
        default: break
        }
    }
}
