import Fleece
import Roost
import RoostBytes
import RoostOrder

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
