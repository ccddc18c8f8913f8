import Roost

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
