import Roost

/// A row for each group, of rows that an index yields group by group: one group at a time is in memory.
final class StreamedGroupCursor: GroupCursor {
    private let rows: RowSource
    private var isBegun = false
    /// The group that the row read last belongs to, with what was put aside of its values and about how much memory it takes.
    private var open: (group: Group, aside: DistinctValues?, taken: Int)?

    init(_ plan: QueryPlan, _ execution: Execution, _ rows: RowSource) {
        self.rows = rows
        super.init(plan, execution)
    }

    override func nextGroup() throws(DatabaseError) -> Group? {
        if !isBegun {
            isBegun = true
            _ = try takeRow()
        }
        while open != nil {
            if let done = try takeRow() { return done }
        }
        return nil
    }

    /// Takes the next row; answers the group before it if that has no more.
    private func takeRow() throws(DatabaseError) -> Group? {
        guard try rows.next() else {
            try frame.check()
            return try close()
        }
        let mark = frame.arena.mark
        defer { frame.arena.release(to: mark) }
        let key = readKey()
        var done: Group?
        if open?.group.key.withView({ $0.compare(key) }) != 0 {
            done = try close()
            let (group, size) = makeGroup()
            try execution.budget.take(size)
            open = (group, nil, size)
        }
        guard var (group, aside, taken) = open else { return done }
        // Nothing else has the group, so that its arrays are changed in place.
        open = nil
        let size = try take(into: &group, &aside)
        if size != 0 { try execution.budget.take(size) }
        taken += size
        open = (group, aside, taken)
        try frame.check()
        return done
    }

    /// Ends the present group.
    private func close() throws(DatabaseError) -> Group? {
        guard let done = open else { return nil }
        open = nil
        var group = done.group
        if let aside = done.aside { try complete(&group, aside) }
        execution.budget.giveBack(done.taken)
        return group
    }
}
