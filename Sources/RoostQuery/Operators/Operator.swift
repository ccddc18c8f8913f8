import Fleece
import Roost
import RoostBytes
import RoostOrder

/// A step of an execution: sets the rows of one or more sources in a frame, one combination after the other.
///
/// The folder has a file for each operator, with the operator and the node of a plan that it is made from. Rows are pulled: `open`
/// begins with the rows that the frame has by then, `next` goes to the next row, `close` releases what the operator holds. An operator
/// belongs to the thread of its execution. It counts its rows, takes what it keeps from the execution's ``MemoryBudget``, and has its
/// node explain it. What it holds it gives back in `release`, which `open` and `close` call.
///
/// To add one: write its node and itself in a file here, and let a ``PlanChooser`` put the node into the plan.
class Operator {
    let frame: Frame
    /// What this operator reads.
    let inputs: [Operator]
    private let node: any PlanNode
    /// How many rows came out of it, however often it was opened.
    final var produced = 0

    init(_ node: any PlanNode, _ frame: Frame, _ inputs: [Operator] = []) {
        self.node = node
        self.frame = frame
        self.inputs = inputs
    }

    /// Begins, or begins again, with the present rows of the sources before.
    func open() throws(DatabaseError) {
        release()
        for input in inputs { try input.open() }
    }

    /// Goes to the next row; `false` after the last.
    func next() throws(DatabaseError) -> Bool { false }

    /// Ends: nothing is requested until the operator is opened again.
    func close() {
        release()
        for input in inputs { input.close() }
    }

    /// Releases what is held for the rows, as before the first one.
    func release() {}

    /// Adds what the operator has done to an explanation.
    func explain(_ writer: inout PlanWriter) {
        for input in inputs { input.explain(&writer) }
        node.explain(&writer, rows: produced)
    }

    /// The counts of this operator and those that it reads.
    final var counts: [Int] { [produced] + inputs.flatMap(\.counts) }

    /// Adds the counts of an operator of the same plan.
    final func add(_ counts: [Int]) {
        var rest = counts[...]
        add(&rest)
    }

    private func add(_ counts: inout ArraySlice<Int>) {
        produced += counts.popFirst() ?? 0
        for input in inputs { input.add(&counts) }
    }
}

/// An operator that yields rows of a result, each a Fleece array of columns.
class RowOperator: Operator {
    /// The row that the operator is at. It is made when it is requested: rows that are passed over are not.
    func row() throws(DatabaseError) -> [UInt8] { [] }

    /// Appends what the row is ordered by.
    ///
    /// - Returns: Whether it comes before the encoder's limit.
    func appendOrder(to encoder: OrderEncoder) -> Bool { encoder.append(frame) }

    /// The next row; `nil` after the last.
    final func nextRow() throws(DatabaseError) -> [UInt8]? { try next() ? try row() : nil }
}

/// A node of a plan as it is executed now: a value of which operators are made, on any thread.
///
/// `explain` shows the nodes, and `explain analyze` the operators that ran, by the same function of their nodes.
protocol PlanNode: Sendable {
    /// The nodes that are read by this one, the outermost source first.
    var inputs: [any PlanNode] { get }

    /// An operator that has not been opened.
    func make(_ execution: Execution) throws(DatabaseError) -> Operator

    /// Adds the steps of the node, without those of its inputs.
    ///
    /// - Parameter rows: how many rows came out of it; `nil` where it has not been executed.
    func explain(_ writer: inout PlanWriter, rows: Int?)
}

/// A node of a plan whose operators yield rows of a result.
protocol RowNode: PlanNode {
    func makeRows(_ execution: Execution) throws(DatabaseError) -> RowOperator
}

extension RowNode {
    func make(_ execution: Execution) throws(DatabaseError) -> Operator { try makeRows(execution) }
}

extension PlanNode {
    /// Adds the steps of the node and its inputs, which are not executed.
    func explain(_ writer: inout PlanWriter) {
        for input in inputs { input.explain(&writer) }
        explain(&writer, rows: nil)
    }
}

/// Collects the steps of an explanation.
struct PlanWriter {
    private(set) var steps: [Explanation.Step] = []
    private var depth = 0
    /// Where the step of the source is that was added last.
    private var source: Int?

    mutating func add(_ operation: String, _ details: String, index: String? = nil, estimate: Int? = nil) {
        steps.append(
            Explanation.Step(operation, details, estimate: estimate, index: index, depth: depth))
    }

    /// Adds the step of a source, which ``found(_:)`` is said of.
    mutating func addSource(
        _ operation: String, _ details: String, estimate: Int? = nil, index: String? = nil,
        indexes: [String] = [], isCovering: Bool = false, rows: Int?
    ) {
        source = steps.count
        steps.append(
            Explanation.Step(
                operation, details, estimate: estimate, index: index, indexes: indexes,
                isCovering: isCovering, rows: rows, depth: depth))
    }

    /// Notes how many rows of the last source meet its conditions.
    mutating func found(_ rows: Int?) {
        guard let source, rows != nil else { return }
        steps[source].rows = rows
    }

    /// Adds the steps of what is within the last one.
    mutating func within(_ body: (inout PlanWriter) -> Void) {
        depth += 1
        let source = source
        body(&self)
        self.source = source
        depth -= 1
    }
}
