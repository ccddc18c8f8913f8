import Roost
import RoostIndex

/// The rows of one source: documents, the elements of an array, or the rows of a query.
struct SourceNode: PlanNode {
    let source: SourcePlan
    /// How documents are found; for a source after the first, by what is known before there are rows.
    let choice: AccessChoice
    /// How documents are found for a table of the source's rows.
    let tableChoice: AccessChoice?
    /// The plans of the queries that the source is.
    let queries: [any RowNode]
    /// How many rows of the source there are, as far as it is known without rows of others.
    let count: Int?
    /// How many rows to pass over, where the index is exact.
    let skipping: Int
    /// How many threads read parts of the documents.
    let threads: Int

    var inputs: [any PlanNode] { [] }

    private var isFirst: Bool { source.join == .first }

    /// The same source, whose rows are those of some ranges of an index.
    func reading(_ ranges: IndexRanges) -> SourceNode {
        var choice = choice
        choice.consider(
            AccessCandidate(path: .index(ranges), count: ranges.count, cost: 0, isOrdered: false))
        return SourceNode(
            source: source, choice: choice, tableChoice: nil, queries: [], count: count, skipping: 0,
            threads: 1)
    }

    // MARK: Operators

    func make(_ execution: Execution) throws(DatabaseError) -> Operator {
        if let hash = source.hash { return HashJoin(self, hash, execution) }
        switch source.origin {
        case .elements(let array): return Unnest(self, array, execution)
        case .select(let plan): return try QueryRows(self, [plan], nil, execution)
        case .combined(let first, let operation, let second):
            return try QueryRows(self, [first, second], operation, execution)
        case .documents:
            return try isFirst ? make(choice.chosen, execution) : EachAccess(self, execution)
        }
    }

    /// The operator that finds documents in a way.
    func make(_ chosen: AccessCandidate?, _ execution: Execution) throws(DatabaseError) -> Operator {
        guard case .documents(let collection, let access) = source.origin else {
            preconditionFailure("an index is of a collection")
        }
        if let visible = execution.visible {
            return VisibleScan(self, visible, collection, access, execution)
        }
        let documents = try execution.documents(of: collection)
        switch chosen?.path {
        case .index(let ranges):
            let entries = IndexEntries(ranges, execution, skipping: skipping)
            return IndexScan(self, documents, access, entries, execution)
        case .both(let first, let second):
            return Intersect(
                self, documents, access, IndexEntries(second, execution),
                others: IndexEntries(first, execution), execution)
        case .union(let branches):
            var inputs: [(Operator, Evaluation)] = []
            for branch in branches {
                let entries = IndexEntries(branch.ranges, execution)
                inputs.append((IndexScan(self, documents, access, entries, execution), branch.condition))
            }
            return Union(self, inputs, execution)
        case .trigrams(_, let ids): return Lookup(self, documents, access, execution) { ids }
        case .search(let search, let best):
            return SearchScan(self, documents, search, best: best, execution)
        case nil:
            guard access.ids != nil else { return Scan(self, documents, access, execution) }
            let frame = execution.frame
            return Lookup(self, documents, access, execution) { access.sortedIDs(frame) ?? [] }
        }
    }

    /// The operator that reads the rows of which a table is made.
    func makeTableRows(_ execution: Execution) throws(DatabaseError) -> Operator {
        switch source.origin {
        case .elements(let array): return Unnest(self, array, execution)
        case .select(let plan): return try QueryRows(self, [plan], nil, execution)
        case .combined: preconditionFailure("no table is made of queries that are put together")
        case .documents: return try make(tableChoice?.chosen, execution)
        }
    }

    // MARK: Explaining

    func explain(_ writer: inout PlanWriter, rows: Int?) {
        explain(&writer, rows: rows, choice, hasTable: source.hash != nil && choice.chosen == nil)
    }

    /// Adds the source with the way in which its rows were, or would be, found.
    ///
    /// - Parameters:
    ///   - hasTable: whether rows are looked up in a table of the source's rows.
    ///   - within: adds the steps of the query that the source is.
    func explain(
        _ writer: inout PlanWriter, rows: Int?, _ choice: AccessChoice, hasTable: Bool,
        within: ((inout PlanWriter) -> Void)? = nil
    ) {
        let join = isFirst ? "" : source.join == .left ? "LEFT JOIN " : "JOIN "
        let table = source.hash.map { " into a table by \($0.text)" } ?? ""
        switch source.origin {
        case .elements: writer.addSource("UNNEST", source.name, rows: rows)
        case .select, .combined:
            writer.addSource(join + "QUERY", source.name + table, rows: rows)
            writer.within { writer in
                if let within { within(&writer) } else { for query in queries { query.explain(&writer) } }
            }
        case .documents(_, let access):
            let chosen = hasTable ? tableChoice?.chosen : choice.chosen
            let how = hasTable ? table : threads > 1 ? " on \(threads) threads" : ""
            // How many rows match one of a source before isn't known without that.
            let isKnown = isFirst || hasTable
            if let chosen {
                let otherwise =
                    !hasTable && rows == nil ? source.hash.map { ", or a table by \($0.text)" } : nil
                writer.addSource(
                    join + "SEARCH", "\(source.name) USING \(chosen.path.text)\(how)\(otherwise ?? "")",
                    estimate: isKnown ? chosen.count : nil, index: chosen.path.indexName,
                    indexes: chosen.path.indexes.map(\.name), isCovering: chosen.path.isCovering, rows: rows)
            } else if access.isScan {
                writer.addSource(
                    join + "SCAN", source.name + how, estimate: isKnown ? count : nil, rows: rows)
            } else {
                let conditions = access.keys.conditions.joined(separator: " AND ")
                writer.addSource(
                    join + "SEARCH", "\(source.name) by ID (\(conditions))\(how)", rows: rows)
            }
            explainUnused(&writer, choice, chosen)
        }
        writer.within { writer in for condition in source.on { writer.add("ON", condition.text) } }
    }

    private func explainUnused(
        _ writer: inout PlanWriter, _ choice: AccessChoice, _ chosen: AccessCandidate?
    ) {
        let used = chosen?.path.indexes.map(\.name) ?? []
        let unused = source.unusedIndexes.map { ($0.name, $0.reason, Int?.none) }
        writer.within { writer in
            for (name, reason, count) in choice.rejected + unused where !used.contains(name) {
                writer.add("NOT USED", "\(name): \(reason)", estimate: count)
            }
        }
    }
}

/// The documents of a source after the first, found for each row of those before in the way that takes least then.
final class EachAccess: Operator {
    private let source: SourceNode
    private let execution: Execution
    /// How documents were found last; as planned until there was a row.
    private var choice: AccessChoice
    private var rows: Operator?
    /// Whether what conditions say depends on the rows before.
    private let isDependent: Bool

    init(_ node: SourceNode, _ execution: Execution) {
        source = node
        self.execution = execution
        choice = node.choice
        isDependent =
            node.source.indexes.contains(where: \.keys.dependsOnRows) || !node.source.unions.isEmpty
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        if isDependent {
            choice = try execution.access(source.source)
            rows = nil
        }
        if rows == nil { rows = try source.make(choice.chosen, execution) }
        try rows?.open()
    }

    override func next() throws(DatabaseError) -> Bool {
        guard let rows, try rows.next() else { return false }
        produced += 1
        return true
    }

    override func close() { rows?.close() }

    override func explain(_ writer: inout PlanWriter) {
        source.explain(&writer, rows: produced, choice, hasTable: false)
    }
}
