import Fleece
import Roost
import RoostBytes
import RoostOrder

/// A row of the result for each combination of rows of the sources.
struct ProjectNode: RowNode {
    let input: any PlanNode
    let plan: QueryPlan
    /// Whether rows come in the required order.
    let isOrdered: Bool

    var inputs: [any PlanNode] { [input] }

    func makeRows(_ execution: Execution) throws(DatabaseError) -> RowOperator {
        Project(self, try input.make(execution))
    }

    func explain(_ writer: inout PlanWriter, rows: Int?) {
        if isOrdered { writer.add("ORDER", "by \(plan.orderText), as they are read") }
    }
}

/// An operator that makes rows of what a frame has.
class ProjectingOperator: RowOperator {
    private let columns: [Evaluation]

    init(_ node: any RowNode, _ columns: [Evaluation], _ frame: Frame, _ inputs: [Operator]) {
        self.columns = columns.map(unshared)
        super.init(node, frame, inputs)
    }

    override func row() throws(DatabaseError) -> [UInt8] {
        var writer = frame.takeWriter()
        let row = try writer.row(of: columns, frame)
        // One that has made a long row keeps much memory.
        if row.count <= Self.longestKept { frame.giveBack(writer) }
        return row
    }

    private static let longestKept = 1 << 16
}

final class Project: ProjectingOperator {
    private let input: Operator
    /// The end of the arena before the present row was made.
    private var mark: Arena.Mark?

    init(_ node: ProjectNode, _ input: Operator) {
        self.input = input
        super.init(node, node.plan.columns, input.frame, [input])
    }

    override func release() { mark = nil }

    override func next() throws(DatabaseError) -> Bool {
        if let mark { frame.arena.release(to: mark) }
        guard try input.next() else {
            try frame.check()
            return false
        }
        mark = frame.arena.mark
        produced += 1
        return true
    }
}

extension Frame {
    /// An array of values, in which what is missing is undefined.
    ///
    /// - Parameter failure: what can't be done where it can't be made.
    /// - Throws: `limitExceeded`.
    func row(of values: [Value], _ failure: String) throws(DatabaseError) -> [UInt8] {
        var writer = FleeceWriter(capacity: 128, wrapping: 1)
        writer.beginArray()
        for value in values { if value.isMissing { writer.writeUndefined() } else { writer.write(value) } }
        writer.endArray()
        try check()
        do throws(FleeceError) {
            return try writer.finish()
        } catch {
            throw DatabaseError(.limitExceeded, "\(failure) \(error)", underlyingError: error)
        }
    }
}

extension FleeceWriter {
    /// A row: an array of its columns.
    fileprivate mutating func row(of columns: [Evaluation], _ frame: Frame) throws(DatabaseError) -> [UInt8] {
        beginArray()
        for column in columns {
            let value = column(frame)
            if value.isMissing { writeUndefined() } else { write(value) }
        }
        endArray()
        try frame.check()
        do throws(FleeceError) {
            return try finish()
        } catch {
            throw DatabaseError(
                .limitExceeded, "A row of the result can't be made. \(error)", underlyingError: error)
        }
    }

    /// Writes a row, an array of its columns, as a dictionary by their names; columns without a value are omitted.
    mutating func writeDictionary(of row: FleeceNode, _ names: [String]) {
        beginDictionary()
        for (index, name) in names.enumerated() {
            let value = Value(row[index])
            guard !value.isMissing else { continue }
            key(name)
            write(value)
        }
        endDictionary()
    }
}

// MARK: - Filter

/// Keeps the combinations of rows for which conditions hold.
struct FilterNode: PlanNode {
    let input: any PlanNode
    let conditions: [SourcePlan.Condition]
    /// Whether an index answers all of the conditions, so that they need not be evaluated.
    let isAnswered: Bool

    var inputs: [any PlanNode] { [input] }

    func make(_ execution: Execution) throws(DatabaseError) -> Operator {
        Filter(self, try input.make(execution))
    }

    func explain(_ writer: inout PlanWriter, rows: Int?) {
        writer.found(rows)
        writer.within { writer in for condition in conditions { writer.add("WHERE", condition.text) } }
    }
}

final class Filter: Operator {
    private let input: Operator
    private let conditions: [Evaluation]

    init(_ node: FilterNode, _ input: Operator) {
        self.input = input
        conditions = node.isAnswered ? [] : node.conditions.map { unshared($0.holds) }
        super.init(node, input.frame, [input])
    }

    override func next() throws(DatabaseError) -> Bool {
        next: while try input.next() {
            for condition in conditions where !Logic.holds(condition(frame)) {
                try frame.check()
                continue next
            }
            produced += 1
            return true
        }
        return false
    }
}

// MARK: - Limit

/// Passes over the first rows, and ends early.
struct LimitNode: RowNode {
    let input: any RowNode
    let query: BoundQuery
    let limit: Int
    let offset: Int
    /// Whether an index has passed over the first rows, unread.
    let isSkipped: Bool

    var inputs: [any PlanNode] { [input] }

    func makeRows(_ execution: Execution) throws(DatabaseError) -> RowOperator {
        Limit(self, try input.makeRows(execution))
    }

    func explain(_ writer: inout PlanWriter, rows: Int?) {
        if let offset = query.offset {
            writer.add("SKIP", offset.text + (isSkipped ? " by rank, unread" : ""))
        }
        if let limit = query.limit { writer.add("LIMIT", limit.text) }
    }
}

final class Limit: RowOperator {
    private let rows: RowOperator
    private let limit: Int
    private let offset: Int
    private var toSkip = 0
    private var left = 0

    init(_ node: LimitNode, _ rows: RowOperator) {
        self.rows = rows
        limit = node.limit
        offset = node.isSkipped ? 0 : node.offset
        super.init(node, rows.frame, [rows])
    }

    override func open() throws(DatabaseError) {
        toSkip = offset
        left = limit
        try super.open()
    }

    override func next() throws(DatabaseError) -> Bool {
        guard left > 0 else { return false }
        while toSkip > 0 {
            guard try rows.next() else { return false }
            toSkip -= 1
        }
        left -= 1
        guard try rows.next() else { return false }
        produced += 1
        return true
    }

    override func row() throws(DatabaseError) -> [UInt8] { try rows.row() }
}
