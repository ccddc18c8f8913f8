import Roost
import RoostOrder

/// How a query may be executed: all that follows from its text and from the indexes that exist, for any values of its parameters.
///
/// The ``Planner`` makes it, once for all executions. Each execution chooses among what it offers.
struct QueryPlan: Sendable {
    /// Its number among the queries of the statement.
    let number: Int
    /// What was asked, for `explain`.
    let query: BoundQuery
    /// The sources, the outermost first, in the orders in which they may be read: the first order is that of FROM.
    let orders: [[SourcePlan]]
    let columns: [Evaluation]
    let columnNames: [String]
    /// What columns are compared by, where rows of equal columns are one.
    let collations: [Collation]
    let grouping: Grouping?
    /// What groups are kept.
    let having: Evaluation?
    /// What window functions compute of the rows, one window after the other.
    let windows: [WindowPlan]
    let order: [OrderPlan]
    /// Whether rows are to come in the order of the rank of what the only source is searched for, which is the only condition.
    let isRanked: Bool
    let isDistinct: Bool
    let limit: Evaluation?
    let offset: Evaluation?
    /// What is counted by a query that asks for nothing else.
    let counted: Counted?
    /// The indexes that answer all that is asked of groups.
    let totals: [TotalsAccess]
    let isCorrelated: Bool
    let isSingleValue: Bool

    enum Counted: Sendable {
        case documents(DocumentCollection)
        case found(TextSearch)
    }

    /// What rows are ordered by, as it was written.
    var orderText: String {
        order.map { $0.text + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
    }
    /// What rows are grouped by, as it was written.
    var groupText: String {
        (query.groups?.keys ?? []).map(\.written.sqlText).joined(separator: ", ")
    }
    /// The sources in the order of FROM.
    var sources: [SourcePlan] { orders[0] }
}

/// One of the things that rows are ordered by.
struct OrderPlan: Sendable {
    let value: Evaluation
    let collation: Collation
    let isDescending: Bool
    /// As it was written.
    let text: String
}

/// The window functions of a query that look at the same partitions in the same order.
struct WindowPlan: Sendable {
    /// What is computed of each row before the first window, with its places in a frame.
    let inputs: [(value: Evaluation, slot: Int)]
    /// The places that hold what is known of a row: the inputs of all windows, and the values of the windows before.
    let known: [Int]
    let partition: [OrderPlan]
    let order: [OrderPlan]
    let calls: [Call]
    /// The functions as they were written.
    let text: String

    struct Call: Sendable {
        let function: WindowFunction
        let arguments: [Operand]
        let frame: WindowFrame<Operand>
        /// The last of what the rows are ordered by.
        let order: (operand: Operand, collation: Collation, isDescending: Bool)?
        let collation: Collation
        let slot: Int
    }

    /// What a function takes of a row.
    enum Operand: Hashable, Sendable {
        /// The value in one of the known places.
        case known(Int)
        case given(Given)

        /// A value that is the same for all rows.
        struct Given: Hashable, Sendable {
            let expression: BoundExpression
            let value: Evaluation

            static func == (left: Self, right: Self) -> Bool { left.expression == right.expression }
            func hash(into hasher: inout Hasher) { hasher.combine(expression) }
        }
    }

    init(
        _ window: BoundWindow, inputs: [(value: Evaluation, slot: Int)], known: [Int], _ compiler: Compiler
    ) throws(QueryError) {
        func compiled(_ ordering: CollatedExpression, isDescending: Bool, _ text: String) throws(QueryError)
            -> OrderPlan
        {
            OrderPlan(
                value: try compiler.compile(ordering.value), collation: ordering.collation,
                isDescending: isDescending, text: text)
        }
        func operand(_ expression: BoundExpression) throws(QueryError) -> Operand {
            if case .slot(let slot) = expression, let place = known.firstIndex(of: slot) {
                return .known(place)
            }
            return .given(Operand.Given(expression: expression, value: try compiler.compile(expression)))
        }
        self.inputs = inputs
        self.known = known
        partition = try window.partition.map { (value) throws(QueryError) in
            try compiled(value, isDescending: false, "")
        }
        order = try window.order.map { (ordering) throws(QueryError) in
            try compiled(ordering.expression, isDescending: ordering.isDescending, ordering.written.sqlText)
        }
        let last = try window.order.last.map { (last) throws(QueryError) in
            (
                operand: try operand(last.expression.value), collation: last.expression.collation,
                isDescending: last.isDescending
            )
        }
        var calls: [Call] = []
        for (call, slot) in window.calls {
            calls.append(
                Call(
                    function: call.function,
                    arguments: try call.arguments.map { (argument) throws(QueryError) in try operand(argument)
                    },
                    frame: try call.frame.map { (offset) throws(QueryError) in try operand(offset) },
                    order: last, collation: call.collation, slot: slot))
        }
        self.calls = calls
        text = window.calls.map(\.call.written.sqlText).joined(separator: ", ")
    }
}

/// Where rows of a source come from and which are kept.
struct SourcePlan: Sendable {
    indirect enum Origin: Sendable {
        case documents(DocumentCollection, DocumentAccess)
        case select(QueryPlan)
        case combined(QueryPlan, Select.SetOperation, QueryPlan)
        case elements(Evaluation)
    }

    let number: Int
    /// As `explain` names it.
    let name: String
    let origin: Origin
    let join: Select.Join
    /// The conditions of ON of a LEFT JOIN, which decide what rows match. Those of others are filters.
    let on: [Condition]
    /// The conditions that can be answered once this source has a row, and not before.
    let filters: [Condition]
    /// How to look rows up in a table of this source's rows, instead of scanning these.
    let hash: HashJoinKey?
    /// The indexes that find the rows of that table, whatever the rows of other sources are.
    let tableIndexes: [IndexAccess]
    /// What is searched for in a full-text index, of all that conditions ask for.
    let search: TextSearch?
    /// The indexes of trigrams that lead to what may meet its conditions.
    let trigrams: [TrigramSearch]
    /// Whether an index is used, whatever reading all documents takes.
    let prefersIndexes: Bool
    /// The indexes that can answer conditions on it.
    let indexes: [IndexAccess]
    /// Conditions joined by OR, for each of which there is an index.
    let unions: [UnionAccess]
    /// The names of indexes that can't be used, and why.
    let unusedIndexes: [(name: String, reason: String)]
    /// The names of the properties that the query asks for, or for something within them.
    let properties: [String]

    /// Whether its documents, read by their IDs, come in the required order.
    var isScanOrdered: Bool {
        if case .documents(_, let access) = origin {
            access.keys.isOrdered && access.ids == nil && search == nil
        } else {
            false
        }
    }

    /// A condition that is evaluated for rows.
    struct Condition: Sendable {
        let holds: Evaluation
        /// As it was written.
        let text: String
    }
}

/// Conditions that OR joins, with indexes that answer each of them.
struct UnionAccess: Sendable {
    struct Branch: Sendable {
        let condition: Evaluation
        let accesses: [IndexAccess]
    }

    let branches: [Branch]
}

/// Equality of something of the rows before with something of the source's own.
struct HashJoinKey: Sendable {
    let outer: Evaluation
    let inner: Evaluation
    let collation: Collation
    let text: String
}

/// Which documents of a collection are read, by their IDs, and what of them.
struct DocumentAccess: Sendable {
    /// The range of IDs: documents are an index of their own.
    let keys: KeyConditions
    let includesDeleted: Bool
    /// How much of META() is requested.
    let metadata: SourceUse.Metadata

    /// Whether every document is read.
    var isScan: Bool { !keys.isNarrowed }
    /// Only documents with these IDs: a string each, or the strings of an array.
    var ids: Evaluation? {
        switch keys.equalities.first {
        case .value(let value), .oneOf(let value): value
        case .test, nil: nil
        }
    }
}

/// How an index answers all that is asked of groups without reading their rows: by counting them, from totals that it keeps,
/// and by looking at the ends of ranges.
struct TotalsAccess: Sendable {
    let access: IndexAccess
    /// How many columns after those that are the same in all rows have the values by which rows are grouped.
    let groupColumns: Int
    /// The places of the values of GROUP BY among those of a row.
    let keyPlaces: [Int]
    /// What is asked, in the order of the grouping's measures.
    let parts: [Part]

    enum Part: Sendable {
        /// How many rows there are.
        case rows
        /// How many have a value in the column after those of the group.
        case valuedRows
        /// The least, or the greatest, of these.
        case least, greatest
        /// An aggregate of what is summed up, by its number.
        case total(Aggregate, Int)
    }

    /// The columns that are the same in all rows of a group.
    var prefixColumns: Int { access.keys.constantColumns + groupColumns }
}
