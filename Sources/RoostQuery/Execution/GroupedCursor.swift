import Roost
import RoostOrder

/// A row for each group, in the order of what the groups have in common.
final class GroupedCursor: RowCursor {
    private let rows: RowSource
    private let grouping: Grouping
    private let budget: MemoryBudget
    /// The groups that were not handed out yet, the last first; `nil` until rows were read.
    private var groups: [Group]?
    /// The end of the arena before the present group was put there.
    private var mark: Arena.Mark?

    private struct Group {
        var keys: [OwnedValue]
        var accumulated: [Accumulated]
    }

    init(_ plan: SelectPlan, _ execution: Execution, _ choice: IndexChoice?) throws(DatabaseError) {
        guard let grouping = plan.grouping else { preconditionFailure("a query without groups") }
        self.grouping = grouping
        budget = execution.budget
        rows = try execution.rows(of: plan, first: choice)
        super.init(plan, execution.frame)
    }

    override func next() throws(DatabaseError) -> [UInt8]? {
        if groups == nil { groups = try read() }
        if let mark { frame.arena.release(to: mark) }
        let mark = frame.arena.mark
        self.mark = mark
        while let group = groups?.popLast() {
            frame.arena.release(to: mark)
            for (key, value) in zip(grouping.keys, group.keys) {
                frame.setAggregate(key.slot, value.value(in: frame.arena))
            }
            for (accumulator, accumulated) in zip(grouping.accumulators, group.accumulated) {
                frame.setAggregate(accumulator.slot, accumulated.result(accumulator, frame))
            }
            if let having = plan.having, !Logic.holds(having(frame)) {
                try frame.check()
                continue
            }
            return try project()
        }
        return nil
    }

    private func read() throws(DatabaseError) -> [Group] {
        let encoders = grouping.keys.map { KeyEncoder($0.collation) }
        var numbers: [[UInt8]: Int] = [:]
        var groups: [Group] = []
        let isWhole = grouping.keys.isEmpty
        if isWhole { groups.append(Group(keys: [], accumulated: empty)) }
        while try rows.next() {
            let mark = frame.arena.mark
            var index = 0
            if !isWhole {
                let values = grouping.keys.map { $0.value(frame) }
                var key: [UInt8] = []
                for (encoder, value) in zip(encoders, values) {
                    encoder.reset()
                    encoder.append(value)
                    key += encoder.key
                }
                if let known = numbers[key] {
                    index = known
                } else {
                    index = groups.count
                    let owned = values.map { OwnedValue($0) }
                    try budget.take(key.count + owned.reduce(0) { $0 + $1.size } + 160 * (1 + empty.count))
                    groups.append(Group(keys: owned, accumulated: empty))
                    numbers[key] = index
                }
            }
            for number in grouping.accumulators.indices {
                let size = groups[index].accumulated[number].take(grouping.accumulators[number], frame)
                if size > 0 { try budget.take(size) }
            }
            try frame.check()
            frame.arena.release(to: mark)
        }
        try frame.check()
        guard !isWhole else { return groups }
        return numbers.sorted { $1.key.lexicographicallyPrecedes($0.key) }.map { groups[$0.value] }
    }

    private var empty: [Accumulated] { Array(repeating: Accumulated(), count: grouping.accumulators.count) }
}
