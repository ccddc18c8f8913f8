import Fleece
import Roost
import RoostBytes

/// The rows of a query in FROM.
final class QueryRows: Operator {
    private let source: SourceNode
    private let plan: QueryPlan
    private let execution: Execution
    private var rows: RowOperator
    /// Whether the query has to be chosen a plan for again when it is opened: it may depend on other rows by then.
    private var isFresh = true
    /// The end of the arena before the present row was put there.
    private var mark: Arena.Mark?

    init(_ node: SourceNode, _ plan: QueryPlan, _ chosen: any RowNode, _ execution: Execution)
        throws(DatabaseError)
    {
        source = node
        self.plan = plan
        self.execution = execution
        rows = try chosen.makeRows(execution)
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        mark = nil
        if plan.isCorrelated, !isFresh { rows = try execution.choose(plan).makeRows(execution) }
        isFresh = false
        try rows.open()
    }

    override func next() throws(DatabaseError) -> Bool {
        if let mark { frame.arena.release(to: mark) }
        guard let row = try rows.nextRow() else { return false }
        mark = frame.arena.mark
        let node = FleeceNode(root: frame.arena.copy(row))
        frame.setRow(
            source.source.number, frame.collection { $0.writeDictionary(of: node, plan.columnNames) }, nil)
        produced += 1
        return true
    }

    override func close() { rows.close() }

    /// Adds the steps of the query.
    func explainQuery(_ writer: inout PlanWriter) { rows.explain(&writer) }

    override func explain(_ writer: inout PlanWriter) {
        source.explain(&writer, rows: produced, source.choice, hasTable: false) { self.explainQuery(&$0) }
    }
}
