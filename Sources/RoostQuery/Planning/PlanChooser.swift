import Roost
import RoostIndex

extension Execution {
    /// The plan of a query for the present parameters and what its indexes hold by now.
    func choose(_ plan: QueryPlan) throws(DatabaseError) -> any RowNode {
        try PlanChooser(self, plan).chosen()
    }
}

/// Chooses the plan of a query when its execution starts: the order of the sources, the way in which rows of each are found, and so
/// whether these have to be sorted, and how many threads read them.
private struct PlanChooser {
    private let execution: Execution
    private let plan: QueryPlan
    private let limit: Int
    private let offset: Int

    init(_ execution: Execution, _ plan: QueryPlan) throws(DatabaseError) {
        self.execution = execution
        self.plan = plan
        limit = try Self.bound(plan.limit, "LIMIT", execution) ?? .max
        offset = try Self.bound(plan.offset, "OFFSET", execution) ?? 0
    }

    /// What LIMIT or OFFSET comes to: negative numbers are 0, and what no `Int` can be is the greatest.
    private static func bound(
        _ value: Evaluation?, _ name: String, _ execution: Execution
    ) throws(DatabaseError) -> Int? {
        guard let value else { return nil }
        guard let number = value(execution.frame).double else {
            throw DatabaseError(
                .invalidQuery, "\(name) is a number, and the one given is none. Is its parameter set?")
        }
        return number < Double(Int.max) ? Int(max(0, number)) : .max
    }

    /// How many rows are needed at most, with those that are passed over.
    private var most: Int {
        let (sum, isPast) = offset.addingReportingOverflow(limit)
        return isPast ? .max : sum
    }

    func chosen() throws(DatabaseError) -> any RowNode {
        let rows = try rows()
        var node = rows.node
        for window in plan.windows { node = WindowNode(input: node, window: window, columns: plan.columns) }
        if plan.isDistinct { node = DistinctNode(input: node, plan: plan) }
        if rows.isSorted {
            node = SortNode(input: node, plan: plan, most: most, threads: rows.threads)
        }
        if plan.limit != nil || plan.offset != nil {
            node = LimitNode(
                input: node, query: plan.query, limit: limit, offset: offset, isSkipped: rows.isSkipped)
        }
        return node
    }

    /// The rows of the query, whether they have to be sorted then, whether an index passes over what OFFSET leaves out, and how many
    /// threads sort parts of them.
    private func rows() throws(DatabaseError) -> (
        node: any RowNode, isSorted: Bool, isSkipped: Bool, threads: Int
    ) {
        if execution.visible == nil, let known = try known() { return (known, !plan.order.isEmpty, false, 1) }
        let sources = try execution.cheapestOrder(of: plan)
        let first = sources[0]
        let areAlone = plan.grouping == nil && plan.windows.isEmpty
        let isPlain = sources.count == 1 && areAlone && !plan.isDistinct
        var isSorted = !plan.order.isEmpty
        // Rows of a query within another one that are found by a row of that come in no order.
        let isTable = first.hash != nil
        let required = RequiredOrdering(
            isSorted: isSorted && areAlone, isScanSorted: first.isScanOrdered,
            isRanked: plan.isRanked, isGrouped: plan.grouping?.keys.isEmpty == false,
            most: isPlain ? most : .max)
        let choice = try execution.access(first, isTable ? RequiredOrdering() : required)
        if !isTable, choice.chosen?.isOrdered ?? first.isScanOrdered { isSorted = false }
        let isSkipped = !isTable && isPlain && choice.chosen?.isExact == true && !isSorted && offset > 0
        let threads =
            try isTable || plan.grouping == nil && !areAlone
            ? 1 : execution.threads(for: plan, sources, choice, most: isSorted ? most : nil)
        var rows: any PlanNode = filtered(
            try source(first, choice, skipping: isSkipped ? offset : 0, threads: threads), first,
            isAnswered: !isTable && choice.chosen?.isExact == true)
        for next in sources.dropFirst() {
            let inner = try source(next, try execution.access(next))
            rows = filtered(JoinNode(outer: rows, inner: inner), next)
        }
        if let grouping = plan.grouping {
            let streams = !isTable && choice.chosen?.isGrouped == true
            let node = AggregateNode(
                input: rows, plan: plan, grouping: grouping, streams: streams, threads: threads)
            return (node, isSorted, false, 1)
        }
        let node = ProjectNode(input: rows, plan: plan, isOrdered: !isSorted && !plan.order.isEmpty)
        return (node, isSorted, isSkipped, threads)
    }

    private func filtered(
        _ node: any PlanNode, _ source: SourcePlan, isAnswered: Bool = false
    ) -> any PlanNode {
        source.filters.isEmpty
            ? node : FilterNode(input: node, conditions: source.filters, isAnswered: isAnswered)
    }

    private func source(
        _ source: SourcePlan, _ choice: AccessChoice, skipping: Int = 0, threads: Int = 1
    ) throws(DatabaseError) -> SourceNode {
        var (queries, count): ([any RowNode], Int?) = ([], nil)
        switch source.origin {
        case .documents(let collection, _): count = try execution.documents(of: collection).count
        case .select(let inner): queries = [try execution.choose(inner)]
        case .combined(let first, _, let second):
            queries = [try execution.choose(first), try execution.choose(second)]
        case .elements: break
        }
        return SourceNode(
            source: source, choice: choice,
            tableChoice: try source.hash == nil ? nil : execution.access(source, forTable: true),
            queries: queries,
            count: count, skipping: skipping, threads: threads)
    }

    // MARK: What is known without rows

    /// The rows of a query that counts of a collection, a search or an index answer without documents being read.
    private func known() throws(DatabaseError) -> (any RowNode)? {
        switch plan.counted {
        case .documents(let collection)?:
            return CountNode(
                counted: .documents(collection), count: try execution.documents(of: collection).count)
        case .found(let search)?:
            return CountNode(counted: .found(search), count: try execution.matches(of: search).count)
        case nil: return try totals()
        }
    }

    /// The groups as an index tells them without its rows being read; `nil` when none does, or reading takes less.
    private func totals() throws(DatabaseError) -> TotalsNode? {
        guard let grouping = plan.grouping, case .documents(let collection, _) = plan.sources[0].origin else {
            return nil
        }
        for totals in plan.totals {
            let documents = try execution.documents(of: collection)
            guard let ranges = try execution.ranges(totals.access, collection, documents) else { continue }
            let node = TotalsNode(
                plan: plan, grouping: grouping, totals: totals, ranges: ranges,
                source: try source(plan.sources[0], AccessChoice(ofDocuments: documents.count)))
            if try TotalsScan(node, execution).isWorthwhile() { return node }
        }
        return nil
    }
}
