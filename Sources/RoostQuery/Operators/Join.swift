import Roost

/// Each row of the sources before, with each row of one more source that matches.
struct JoinNode: PlanNode {
    let outer: any PlanNode
    let inner: SourceNode

    var inputs: [any PlanNode] { [outer, inner] }

    func make(_ execution: Execution) throws(DatabaseError) -> Operator {
        Join(self, try outer.make(execution), try inner.make(execution), execution)
    }

    func explain(_ writer: inout PlanWriter, rows: Int?) { writer.found(rows) }
}

final class Join: Operator {
    private let outer: Operator
    private let inner: Operator
    /// What rows of a LEFT JOIN match by.
    private let conditions: [Evaluation]
    private let isLeft: Bool
    private let number: Int
    private let counter: WorkCounter
    private var untilCheck = 0
    /// Whether the inner rows are those of the present outer row.
    private var isOpen = false
    private var hasMatched = false

    private static let checkInterval = 1024

    init(_ node: JoinNode, _ outer: Operator, _ inner: Operator, _ execution: Execution) {
        self.outer = outer
        self.inner = inner
        let source = node.inner.source
        conditions = source.on.map { unshared($0.holds) }
        isLeft = source.join == .left
        number = source.number
        counter = execution.counter
        super.init(node, outer.frame, [outer, inner])
    }

    override func open() throws(DatabaseError) {
        isOpen = false
        try outer.open()
    }

    override func next() throws(DatabaseError) -> Bool {
        while true {
            if isOpen {
                while try inner.next() {
                    // Rows that are in memory are read by nobody who would ask.
                    if untilCheck == 0 {
                        try counter.checkCancellation()
                        untilCheck = Self.checkInterval
                    }
                    untilCheck -= 1
                    guard conditions.allSatisfy({ Logic.holds($0(frame)) }) else {
                        try frame.check()
                        continue
                    }
                    hasMatched = true
                    produced += 1
                    return true
                }
                isOpen = false
                if isLeft, !hasMatched {
                    frame.setRow(number, .missing, nil)
                    produced += 1
                    return true
                }
            }
            guard try outer.next() else { return false }
            hasMatched = false
            try inner.open()
            isOpen = true
        }
    }
}
