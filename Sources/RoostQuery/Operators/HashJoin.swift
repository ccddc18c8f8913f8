import Roost
import RoostOrder

/// The rows of a source that match the present rows of those before by an equality: looked up by an index, until reading all of them
/// into a table would have taken less. So neither many nor few rows before make it slow.
final class HashJoin: Operator {
    private let source: SourceNode
    private let hash: HashJoinKey
    private let execution: Execution
    private let encoder: KeyEncoder
    private let known: JoinTable
    /// What the table was made from.
    private var tableRows: Operator?
    /// The rows that an index leads to.
    private var found: Operator?
    private var matches: HashTable.Matches?
    private var choice: AccessChoice
    private var mark: Arena.Mark

    init(_ node: SourceNode, _ hash: HashJoinKey, _ execution: Execution) {
        source = node
        self.hash = hash
        self.execution = execution
        encoder = KeyEncoder(hash.collation)
        choice = node.choice
        known = execution.joinTable(node.source.number)
        mark = execution.frame.arena.mark
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        (found, matches) = (nil, nil)
        if known.table == nil {
            choice = try execution.access(source.source)
            if let chosen = choice.chosen {
                known.spent += chosen.cost
                if known.spent < (try execution.tableCost(source.source)) {
                    let rows = try source.make(chosen, execution)
                    try rows.open()
                    found = rows
                    return
                }
            }
            let rows = try source.makeTableRows(execution)
            tableRows = rows
            try rows.open()
            known.table = try HashTable(rows, source.source, hash, execution)
            rows.close()
        }
        mark = frame.arena.mark
        let value = hash.outer(frame)
        guard value.isValued else { return }
        encoder.reset()
        encoder.append(value)
        matches = try known.table?.matches(encoder.key)
    }

    override func next() throws(DatabaseError) -> Bool {
        if let found {
            guard try found.next() else { return false }
        } else {
            frame.arena.release(to: mark)
            guard var matches, let table = known.table else { return false }
            self.matches = nil
            guard try table.next(&matches) else { return false }
            self.matches = matches
        }
        produced += 1
        return true
    }

    override func close() {
        found?.close()
        (found, matches) = (nil, nil)
    }

    override func explain(_ writer: inout PlanWriter) {
        source.explain(
            &writer, rows: produced, choice, hasTable: known.table != nil,
            within: (tableRows as? QueryRows).map { query in { query.explainQueries(&$0) } })
    }
}

/// A table of a source's rows, once there is one. An execution keeps it for all executions of a query within another one.
final class JoinTable {
    /// What looking rows up by an index has cost until now.
    var spent = 0.0
    var table: HashTable?
}
