import Roost

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
