import Roost
import RoostOrder

/// How a query is executed. Never changes once it is made.
final class SelectPlan: @unchecked Sendable {
    // The planner fills it before anybody else sees it. Lists are set as a whole: one that is added to in its place is checked
    // at run time for whoever might change it, each time that it is read.

    /// Where rows come from, the outermost first.
    var sources: [SourcePlan] = []
    /// What a row consists of.
    var columns: [Evaluation] = []
    var columnNames: [String] = []
    /// What columns are compared by, where rows of equal columns are one.
    var collations: [Collation] = []
    var grouping: Grouping?
    /// What groups are kept.
    var having: Evaluation?
    var order: [OrderPlan] = []
    /// Whether the documents of the only source, read by their IDs, come in the order asked for.
    var isOrdered = false
    /// Whether rows are to come in the order of the rank of what the only source is searched for, which is the only condition.
    var isRanked = false
    var isDistinct = false
    var limit: Evaluation?
    var offset: Evaluation?
    /// The number of rows of a collection, for a query that asks for nothing else.
    var countedCollection: DocumentCollection?
    /// The search whose documents are counted, for a query that asks for nothing else.
    var countedSearch: TextSearch?
    /// The indexes that answer all that is asked of groups.
    var totals: [TotalsAccess] = []
    /// The number of this query among those of the program.
    let number: Int
    /// What is asked, with the sources in the order in which they are read.
    let select: Select
    /// The same query with its sources in other orders.
    var otherOrders: [SelectPlan] = []
    /// Whether it refers to rows of the queries around it.
    var isCorrelated = false
    /// Whether all that it yields is one value.
    var isSingleValue = false

    init(_ select: Select, number: Int) {
        self.select = select
        self.number = number
    }
}

/// How the rows of a query are found in one execution: what depends on parameters and on what indexes hold.
struct SelectStrategy {
    let limit: Int
    let offset: Int
    /// The rows, where they are known without reading those of sources.
    var known: RowCursor?
    /// How the first source is read.
    var decision = AccessDecision()
    /// Whether rows have to be sorted.
    var isSorted = false
    /// Whether rows come group by group.
    var streamsGroups = false
    /// Whether an index passes over what OFFSET leaves out.
    var skipsByRank = false
    /// How many threads read the documents of the first source.
    var threads = 1

    init(limit: Int, offset: Int) {
        self.limit = limit
        self.offset = offset
    }

    /// How many rows are needed at most, with those that are passed over.
    var most: Int {
        let (sum, isPast) = offset.addingReportingOverflow(limit)
        return isPast ? .max : sum
    }
}

/// One of the things that rows are ordered by.
struct OrderPlan: Sendable {
    let value: Evaluation
    let collation: Collation
    let isDescending: Bool
    /// As it was written.
    let text: String
}

/// Where rows of a source come from and which are kept. Never changes once the plan is made.
final class SourcePlan: @unchecked Sendable {
    // The planner fills it before anybody else sees it. Its lists are set as a whole, as those of ``SelectPlan``.

    enum Origin: Sendable {
        case documents(DocumentCollection, DocumentAccess)
        case select(SelectPlan)
        case elements(Evaluation)
    }

    let number: Int
    let alias: String
    let origin: Origin
    let join: Select.Join
    /// ON.
    var condition: Evaluation?
    /// The conditions of WHERE that can be answered once this source has a row.
    var filters: [Evaluation] = []
    /// What to look rows up by in a table of this source's rows, instead of going through all of them.
    var hash: HashJoin?
    /// The indexes that find the rows of that table, whatever the rows of other sources are.
    var tableIndexes: [IndexAccess] = []
    /// What is searched for in a full-text index, of all that WHERE asks for.
    var search: TextSearch?
    /// The indexes of trigrams that lead to what may meet its conditions.
    var grams: [GramSearch] = []
    /// Whether an index is used, whatever reading all documents takes.
    var prefersIndexes = false
    /// The indexes that can answer conditions on it.
    var indexes: [IndexAccess] = []
    /// Conditions joined by OR, for each of which there is an index.
    var unions: [UnionAccess] = []
    /// The names of those that can't, and why.
    var unusedIndexes: [(name: String, reason: String)] = []
    var notes: SourceNotes
    /// The names of the properties that the query asks for, or for something within them.
    var properties: [String] = []

    init(number: Int, alias: String, origin: Origin, join: Select.Join, notes: SourceNotes) {
        self.number = number
        self.alias = alias
        self.origin = origin
        self.join = join
        self.notes = notes
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

/// What `explain` says of a source.
struct SourceNotes: Sendable {
    var name = ""
    var conditions: [String] = []
    var access: [String] = []
    var on: String?
}

/// Equality of something of the rows before with something of the source's own.
struct HashJoin: Sendable {
    let outer: Evaluation
    let inner: Evaluation
    let collation: Collation
    let text: String
}

/// Which documents of a collection are read. Never changes once the plan is made.
final class DocumentAccess: @unchecked Sendable {
    // The planner fills it before anybody else sees it.

    var includesDeleted = false
    var descending = false
    /// Only documents with these IDs: a string each, or the strings of an array.
    var ids: Evaluation?
    var lower: Bound?
    var upper: Bound?
    /// Only IDs that begin so.
    var prefix: String?
    /// Whether IDs or bounds depend on the rows of other sources.
    var dependsOnRows = false
    /// How much of META() is asked for.
    var metadata = SourceUse.Metadata.all

    /// An end of a range of IDs.
    struct Bound: Sendable {
        let value: Evaluation
        let isIncluded: Bool
    }

    /// Whether every document is looked at.
    var isScan: Bool { ids == nil && lower == nil && upper == nil && prefix == nil }

    /// By what documents are left out: IDs, bounds, a prefix.
    var bounds: [Bool] { [ids != nil, lower != nil, upper != nil, prefix != nil] }
}
