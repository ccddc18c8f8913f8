import Fleece
import Roost
import RoostBytes
import RoostOrder

/// A row of the result for each combination of rows of the sources.
struct ProjectNode: RowNode {
    let input: any PlanNode
    let plan: QueryPlan
    /// Whether rows come in the order asked for.
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

    override func open() throws(DatabaseError) {
        mark = nil
        try input.open()
    }

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

    /// Writes a row, an array of its columns, as a dictionary by their names; columns without a value are left out.
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
