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
    let grams: [GramSearch]
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

    /// Whether its documents, read by their IDs, come in the order asked for.
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
    /// How much of META() is asked for.
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
    /// What is asked, in the order of the grouping's accumulators.
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
