import Roost
import RoostIndex
import RoostOrder
import RoostStorage

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

    /// The rows of the query, whether they have to be sorted then, whether an index passes over what OFFSET omits, and how many
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

// MARK: - Access

extension Execution {
    /// How the rows of a source take least to find, by what conditions say now.
    ///
    /// How many rows of an index there are is known exactly, without reading them.
    ///
    /// - Parameter forTable: whether rows are found once for all rows of other sources.
    func access(
        _ source: SourcePlan, _ required: RequiredOrdering = RequiredOrdering(), forTable: Bool = false
    ) throws(DatabaseError) -> AccessChoice {
        guard case .documents(let collection, let access) = source.origin, visible == nil else {
            return AccessChoice(ofDocuments: 0)
        }
        let documents = try self.documents(of: collection)
        let total = documents.count
        var choice = AccessChoice(ofDocuments: total)
        let indexes = forTable ? source.tableIndexes : source.indexes
        let unions = forTable ? [] : source.unions
        guard !indexes.isEmpty || !unions.isEmpty || source.search != nil || !source.trigrams.isEmpty,
            // Nothing finds documents faster than their IDs.
            access.ids == nil || source.search != nil
        else { return choice }
        if let search = source.search {
            let found = try candidate(search, required)
            choice.consider(found)
            if found.isOrdered { return choice }
        }
        var narrowed: [IndexRanges] = []
        var matching = total
        for access in indexes {
            guard let ranges = try ranges(access, collection, documents) else {
                choice.reject(
                    access.index.description.name,
                    "it would be read in too many pieces, a value is too long for its keys, or it can't be stored and exceeds the memory"
                )
                continue
            }
            choice.consider(candidate(ranges, required))
            guard access.keys.isNarrowed else { continue }
            matching = min(matching, ranges.count)
            if indexes.count > 1 { narrowed.append(ranges) }
        }
        if narrowed.count > 1, let both = both(narrowed, total, required) { choice.consider(both) }
        for union in unions {
            if let candidate = try candidate(union, collection, documents, required) {
                choice.consider(candidate)
            }
        }
        for search in source.trigrams {
            let found = try trigrams(search)
            guard let ids = found.ids else {
                choice.reject(search.name, reason(found.count, total), found.count)
                continue
            }
            choice.consider(
                AccessCandidate(
                    path: .trigrams(search, ids), count: ids.count, cost: Cost.lookups(ids.count, required),
                    isOrdered: false))
        }
        // What a search finds is known by then, so that reading all documents never takes less.
        if source.search == nil, !source.prefersIndexes {
            choice.considerScan(
                Cost.scan(of: total, matching: matching, isFiltered: !source.filters.isEmpty, required))
        }
        return choice
    }

    /// Why an index of trigrams leads to no documents to look up.
    private func reason(_ count: Int?, _ total: Int) -> String {
        guard let count else { return "the patterns name no two characters in a row that texts must have" }
        return
            "it would lead to \(Explanation.grouped(count)) documents, and all \(Explanation.grouped(total)) take less"
    }

    // MARK: Candidates

    private func candidate(
        _ search: TextSearch, _ required: RequiredOrdering
    ) throws(DatabaseError) -> AccessCandidate {
        if required.isRanked, required.most < .max {
            return AccessCandidate(
                path: .search(search, best: required.most), count: required.most,
                cost: Cost.lookups(required.most, RequiredOrdering()), isOrdered: true)
        }
        let count = try matches(of: search).count
        return AccessCandidate(
            path: .search(search, best: nil), count: count, cost: Cost.lookups(count, required),
            isOrdered: false)
    }

    private func candidate(_ ranges: IndexRanges, _ required: RequiredOrdering) -> AccessCandidate {
        let access = ranges.access
        let cost = Cost.index(
            ranges.count, ranges: ranges.ranges.count, isCovering: access.covering != nil,
            answersAll: access.keys.isExact, isOrdered: access.keys.isOrdered, isGrouped: access.isGrouped,
            required)
        return AccessCandidate(
            path: .index(ranges), count: ranges.count, cost: cost, isOrdered: access.keys.isOrdered)
    }

    /// The two indexes of fewest rows together, where the second one saves most documents that the first one leads to.
    private func both(
        _ narrowed: [IndexRanges], _ total: Int, _ required: RequiredOrdering
    ) -> AccessCandidate? {
        let sorted = narrowed.sorted { $0.count < $1.count }
        guard let first = sorted.first, first.access.covering == nil, first.count <= Cost.mostIntersected,
            let second = sorted.dropFirst().first(where: {
                $0.access.index !== first.access.index
                    && !$0.access.keys.conditions.allSatisfy(first.access.keys.conditions.contains)
            })
        else { return nil }
        let isOrdered = second.access.keys.isOrdered
        return AccessCandidate(
            path: .both(first, second), count: first.count + second.count,
            cost: Cost.intersection(first.count, second.count, of: total, isOrdered: isOrdered, required),
            isOrdered: isOrdered)
    }

    private func candidate(
        _ union: UnionAccess, _ collection: DocumentCollection, _ documents: SnapshotReaders.Documents,
        _ required: RequiredOrdering
    ) throws(DatabaseError) -> AccessCandidate? {
        var branches: [AccessPath.Branch] = []
        var (count, cost) = (0, 0.0)
        for branch in union.branches {
            var best: (ranges: IndexRanges, cost: Double)?
            for access in branch.accesses {
                guard let ranges = try ranges(access, collection, documents) else { continue }
                let cost = candidate(ranges, RequiredOrdering()).cost
                if best.map({ cost < $0.cost }) ?? true { best = (ranges, cost) }
            }
            guard let best else { return nil }
            branches.append(AccessPath.Branch(condition: branch.condition, ranges: best.ranges))
            count += best.ranges.count
            cost += best.cost
        }
        cost += Double(count) * required.arranging
        return AccessCandidate(path: .union(branches), count: count, cost: cost, isOrdered: false)
    }

    /// What of an index is read now; `nil` where the values that there are do not fit it.
    func ranges(
        _ access: IndexAccess, _ collection: DocumentCollection, _ documents: SnapshotReaders.Documents
    ) throws(DatabaseError) -> IndexRanges? {
        guard let reader = try moment.reader(of: access.index, collection, documents.snapshot),
            let ranges = try access.ranges(frame, reader)
        else { return nil }
        // Most questions lead to a few rows, which are counted where they are read.
        if ranges.count == 1 {
            let cursor = reader.cursor(ranges[0], isDescending: access.keys.isReversed)
            if let count = try cursor.counted() {
                if counted.count >= Self.mostCounted { counted.removeFirst() }
                counted.append((access.index, ranges[0], access.keys.isReversed, cursor))
                return IndexRanges(access: access, reader: reader, ranges: ranges, count: count)
            }
        }
        return IndexRanges(
            access: access, reader: reader, ranges: ranges, count: try reader.count(in: ranges))
    }

    /// So many cursors are kept by which ranges were counted.
    private static let mostCounted = 8

    /// A cursor over a range: the one by which it was counted, if that is kept.
    func cursor(_ ranges: IndexRanges, _ range: KeyRange) -> IndexCursor {
        let (index, isReversed) = (ranges.access.index, ranges.access.keys.isReversed)
        let place = counted.firstIndex {
            $0.index === index && $0.range == range && $0.isReversed == isReversed
        }
        if let place { return counted.remove(at: place).cursor }
        return ranges.reader.cursor(range, isDescending: isReversed)
    }

    // MARK: The order of sources

    /// The order of the sources of a query that takes least.
    func cheapestOrder(of plan: QueryPlan) throws(DatabaseError) -> [SourcePlan] {
        guard plan.orders.count > 1 else { return plan.sources }
        var (best, least) = (plan.sources, try cost(of: plan.sources) * Cost.worthwhile)
        for other in plan.orders.dropFirst() {
            let cost = try cost(of: other)
            if cost < least { (best, least) = (other, cost) }
        }
        return best
    }

    /// What reading the rows of all sources takes.
    private func cost(of sources: [SourcePlan]) throws(DatabaseError) -> Double {
        var (rows, cost) = (1.0, 0.0)
        for (number, source) in sources.enumerated() {
            guard case .documents(let collection, let access) = source.origin else { continue }
            let total = Double(try documents(of: collection).count)
            var found = total
            if access.ids != nil {
                found = 1
                cost += rows * Cost.lookedUp
            } else if number == 0 {
                let chosen = try self.access(source).chosen
                if let chosen { found = Double(chosen.count) }
                cost += chosen?.cost ?? total * Cost.scanned
            } else {
                // How many rows of an index have a value that isn't known yet is a guess.
                let isNarrowed = source.indexes.contains(where: \.keys.isNarrowed)
                if isNarrowed || source.hash != nil { found = min(total, Cost.usualMatches) }
                let probing = isNarrowed ? rows * (1 + found * Cost.lookedUp) : rows * total * Cost.scanned
                let table = source.hash == nil ? .infinity : try tableCost(source) + rows * Cost.kept
                cost += min(probing, table)
            }
            rows *= found
            // As many as meet one more condition.
            if source.filters.count > 0 { rows = max(1, rows / 4) }
        }
        return cost
    }

    /// What it takes to make a table of a source's rows.
    func tableCost(_ source: SourcePlan) throws(DatabaseError) -> Double {
        guard case .documents(let collection, _) = source.origin else { return .infinity }
        let chosen = try access(source, forTable: true).chosen
        let total = try documents(of: collection).count
        return Cost.table(chosen?.count ?? total, reading: chosen?.cost)
    }
}

extension IndexReader {
    /// How many rows there are in some ranges.
    func count(in ranges: [KeyRange]) throws(DatabaseError) -> Int {
        do throws(StoreError) {
            var count: UInt64 = 0
            for range in ranges { count += try self.count(in: range) }
            return Int(clamping: count)
        } catch {
            throw DatabaseError(derived: error)
        }
    }
}
