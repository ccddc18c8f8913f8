import Fleece
import Roost
import RoostBytes
import RoostOrder

/// The rows of two queries, put together by UNION, INTERSECT or EXCEPT. Keys in memory tell which rows have been returned.
final class CombinedRows: Operator {
    private let source: SourceNode
    private let plans: (first: QueryPlan, second: QueryPlan)
    private let operation: Select.SetOperation
    private let execution: Execution
    private var first: RowOperator
    private var second: RowOperator
    private var isFresh = true
    /// Whether the first query's rows are all read.
    private var isSecond = false
    /// The keys of the rows that came, and of those of the second query that are looked for.
    private var seen: Set<[UInt8]> = []
    private var others: Set<[UInt8]> = []
    private var taken = 0
    private let encoder = KeyEncoder(.binary)
    /// The end of the arena before the present row was put there.
    private var mark: Arena.Mark?

    init(
        _ node: SourceNode, _ plans: (QueryPlan, QueryPlan), _ operation: Select.SetOperation,
        _ execution: Execution
    ) throws(DatabaseError) {
        source = node
        self.plans = plans
        self.operation = operation
        self.execution = execution
        first = try node.queries[0].makeRows(execution)
        second = try node.queries[1].makeRows(execution)
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        release()
        if plans.first.isCorrelated || plans.second.isCorrelated, !isFresh {
            first = try execution.choose(plans.first).makeRows(execution)
            second = try execution.choose(plans.second).makeRows(execution)
        }
        isFresh = false
        isSecond = false
        mark = nil
        if operation == .intersect || operation == .except {
            try second.open()
            while let row = try second.nextRow() { _ = try insert(key(of: row), into: &others) }
            second.close()
        }
        try first.open()
    }

    override func next() throws(DatabaseError) -> Bool {
        if let mark { frame.arena.release(to: mark) }
        while let row = try nextWanted() {
            if operation != .unionAll, try !insert(key(of: row), into: &seen) { continue }
            mark = frame.arena.mark
            let node = FleeceNode(root: frame.arena.copy(row))
            let names = plans.first.columnNames
            frame.setRow(
                source.source.number, frame.collection { $0.writeDictionary(of: node, names) }, nil)
            produced += 1
            return true
        }
        return false
    }

    /// The next row that is not left out because of the other query.
    private func nextWanted() throws(DatabaseError) -> [UInt8]? {
        while !isSecond, let row = try first.nextRow() {
            switch operation {
            case .union, .unionAll: return row
            case .intersect: if others.contains(key(of: row)) { return row }
            case .except: if !others.contains(key(of: row)) { return row }
            }
        }
        guard operation == .union || operation == .unionAll else { return nil }
        if !isSecond {
            isSecond = true
            try second.open()
        }
        return try second.nextRow()
    }

    private func insert(_ key: [UInt8], into keys: inout Set<[UInt8]>) throws(DatabaseError) -> Bool {
        guard keys.insert(key).inserted else { return false }
        taken += key.count + 32
        try execution.budget.take(key.count + 32)
        return true
    }

    /// The columns' keys, of which no one is the beginning of another.
    private func key(of row: [UInt8]) -> [UInt8] {
        var key: [UInt8] = []
        row.withView { bytes in
            let columns = FleeceNode(root: bytes)
            for place in plans.first.columnNames.indices {
                encoder.reset()
                encoder.append(Value(columns[place]))
                key += encoder.view.array
            }
        }
        return key
    }

    private func release() {
        (seen, others) = ([], [])
        execution.budget.giveBack(taken)
        taken = 0
    }

    override func close() {
        release()
        first.close()
        second.close()
    }

    override func explain(_ writer: inout PlanWriter) {
        source.explain(&writer, rows: produced, source.choice, hasTable: false) { writer in
            self.first.explain(&writer)
            self.second.explain(&writer)
        }
    }
}
