import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder

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

// MARK: - Query rows

/// The rows of a query in FROM, or those of two that UNION, INTERSECT or EXCEPT puts together. Rows that are to come once are told apart by
/// the query that asks for them, as with DISTINCT.
final class QueryRows: Operator {
    private let source: SourceNode
    private let plans: [QueryPlan]
    private let operation: Select.SetOperation?
    private let execution: Execution
    private var queries: [RowOperator]
    /// Whether the queries have to be chosen plans for again when they are opened: they may depend on other rows by then.
    private var isFresh = true
    /// The query whose rows come.
    private var present = 0
    /// The keys of the second query's rows, where those of the first one are looked up among them.
    private var others: Set<[UInt8]> = []
    private var taken = 0
    private let encoders: [KeyEncoder]
    /// The end of the arena before the present row was put there.
    private var mark: Arena.Mark?

    init(
        _ node: SourceNode, _ plans: [QueryPlan], _ operation: Select.SetOperation?,
        _ execution: Execution
    ) throws(DatabaseError) {
        source = node
        self.plans = plans
        self.operation = operation
        self.execution = execution
        queries = try node.queries.map { (query) throws(DatabaseError) in try query.makeRows(execution) }
        encoders = plans[0].columns.map { _ in KeyEncoder(.binary) }
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        release()
        if !isFresh, plans.contains(where: \.isCorrelated) {
            queries = try plans.map { (plan) throws(DatabaseError) in
                try execution.choose(plan).makeRows(execution)
            }
        }
        isFresh = false
        if operation == .intersect || operation == .except {
            try queries[1].open()
            while let row = try queries[1].nextRow() {
                let key = encoders.key(of: row)
                guard others.insert(key).inserted else { continue }
                taken += key.count + 32
                try execution.budget.take(key.count + 32)
            }
            queries[1].close()
        }
        try queries[0].open()
    }

    override func next() throws(DatabaseError) -> Bool {
        if let mark { frame.arena.release(to: mark) }
        guard let row = try nextRow() else { return false }
        mark = frame.arena.mark
        let node = FleeceNode(root: frame.arena.copy(row))
        let value =
            operation == nil && plans[0].query.isRaw
            ? Value(node[0]) : frame.collection { $0.writeDictionary(of: node, plans[0].columnNames) }
        frame.setRow(source.source.number, value, nil)
        produced += 1
        return true
    }

    private func nextRow() throws(DatabaseError) -> [UInt8]? {
        while true {
            while let row = try queries[present].nextRow() {
                switch operation {
                case .intersect: if others.contains(encoders.key(of: row)) { return row }
                case .except: if !others.contains(encoders.key(of: row)) { return row }
                case .union, .unionAll, nil: return row
                }
            }
            guard present == 0, operation == .union || operation == .unionAll else { return nil }
            present = 1
            try queries[1].open()
        }
    }

    override func release() {
        (present, mark, others) = (0, nil, [])
        execution.budget.giveBack(taken)
        taken = 0
    }

    override func close() {
        release()
        for query in queries { query.close() }
    }

    /// Adds the steps of the queries.
    func explainQueries(_ writer: inout PlanWriter) { for query in queries { query.explain(&writer) } }

    override func explain(_ writer: inout PlanWriter) {
        source.explain(&writer, rows: produced, source.choice, hasTable: false) {
            self.explainQueries(&$0)
        }
    }
}

// MARK: - Unnest

/// The elements of an array of the sources before.
final class Unnest: Operator {
    private let number: Int
    private let array: Evaluation
    private var elements: Value.Elements?

    init(_ node: SourceNode, _ array: @escaping Evaluation, _ execution: Execution) {
        number = node.source.number
        self.array = array
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) { elements = array(frame).arrayElements }

    override func next() throws(DatabaseError) -> Bool {
        guard let element = elements?.next() else { return false }
        frame.setRow(number, element, nil)
        produced += 1
        return true
    }

    override func close() { elements = nil }
}
