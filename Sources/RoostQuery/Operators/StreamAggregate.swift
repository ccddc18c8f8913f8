import Roost

/// A row for each group, of rows that an index yields group by group: one group at a time is in memory.
final class StreamAggregation: GroupOperator {
    private let rows: Operator
    private var isBegun = false
    /// The group that the row read last belongs to, with what was put aside of its values and about how much memory it takes.
    private var present: (group: Group, aside: DistinctValues?, taken: Int)?

    init(_ node: AggregateNode, _ rows: Operator, _ execution: Execution) {
        self.rows = rows
        super.init(node, node.plan, node.grouping, execution, [rows])
    }

    override func release() {
        super.release()
        execution.budget.giveBack(present?.taken ?? 0)
        present = nil
        isBegun = false
    }

    override func nextGroup() throws(DatabaseError) -> Group? {
        if !isBegun {
            isBegun = true
            _ = try takeRow()
        }
        while present != nil {
            if let done = try takeRow() { return done }
        }
        return nil
    }

    /// Takes the next row; answers the group before it if that has no more.
    private func takeRow() throws(DatabaseError) -> Group? {
        guard try rows.next() else {
            try frame.check()
            return try endGroup()
        }
        let mark = frame.arena.mark
        defer { frame.arena.release(to: mark) }
        let key = readKey()
        var done: Group?
        if present?.group.key.withView({ $0.compare(key) }) != 0 {
            done = try endGroup()
            let (group, size) = makeGroup()
            try execution.budget.take(size)
            present = (group, nil, size)
        }
        guard var (group, aside, taken) = present else { return done }
        // Nothing else has the group, so that its arrays are changed in place.
        present = nil
        let size = try take(into: &group, &aside)
        if size != 0 { try execution.budget.take(size) }
        taken += size
        present = (group, aside, taken)
        try frame.check()
        return done
    }

    /// Ends the present group.
    private func endGroup() throws(DatabaseError) -> Group? {
        guard let done = present else { return nil }
        present = nil
        var group = done.group
        if let aside = done.aside { try complete(&group, aside) }
        execution.budget.giveBack(done.taken)
        return group
    }
}
