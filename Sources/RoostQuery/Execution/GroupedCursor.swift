import Fleece
import Roost
import RoostOrder

/// A row for each group, in the order of what the groups have in common.
///
/// When groups exceed the memory, rows of groups that are not known by then are put aside, sorted by group; and so are the
/// different values of aggregates with DISTINCT.
final class GroupedCursor: RowCursor {
    private let rows: RowSource
    private let grouping: Grouping
    private let execution: Execution
    /// The groups that were not handed out yet, the last first; `nil` until rows were read.
    private var groups: [Group]?
    /// The rows that were put aside: what is asked of each, by its group.
    private var rest: ExternalSort?
    /// The first of these that was not taken.
    private var coming: ExternalSort.Entry?
    /// Values of groups in memory that were put aside.
    private var distinct: DistinctValues?
    /// The end of the arena before the present group was put there.
    private var mark: Arena.Mark?

    private struct Group {
        let key: [UInt8]
        let values: [OwnedValue]
        var accumulated: [Accumulated]
    }

    init(_ plan: SelectPlan, _ execution: Execution, _ choice: AccessChoice?) throws(DatabaseError) {
        guard let grouping = plan.grouping else { preconditionFailure("a query without groups") }
        self.grouping = grouping
        self.execution = execution
        rows = try execution.rows(of: plan, first: choice)
        super.init(plan, execution.frame)
    }

    override func next() throws(DatabaseError) -> [UInt8]? {
        if groups == nil {
            groups = try read()
            coming = try rest?.next()
        }
        if let mark { frame.arena.release(to: mark) }
        let mark = frame.arena.mark
        self.mark = mark
        while let group = try nextGroup() {
            frame.arena.release(to: mark)
            for (key, value) in zip(grouping.keys, group.values) {
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
        let budget = execution.budget
        var numbers: [[UInt8]: Int] = [:]
        var groups: [Group] = []
        let isWhole = grouping.keys.isEmpty
        if isWhole { groups.append(Group(key: [], values: [], accumulated: empty)) }
        while try rows.next() {
            let mark = frame.arena.mark
            defer { frame.arena.release(to: mark) }
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
                    let owned = values.map { OwnedValue($0) }
                    let size = key.count + owned.reduce(0) { $0 + $1.size } + 160 * (1 + empty.count)
                    guard rest == nil, budget.fitsEasily(size) else {
                        try putAside(key, values)
                        continue
                    }
                    try budget.take(size)
                    index = groups.count
                    groups.append(Group(key: key, values: owned, accumulated: empty))
                    numbers[key] = index
                }
            }
            let group = groups[index].key
            for (number, accumulator) in grouping.accumulators.enumerated() {
                let value = accumulator.value?(frame) ?? .missing
                let size = try groups[index].accumulated[number].take(value, accumulator, frame) {
                    (valueKey) throws(DatabaseError) in
                    try putAside(value, valueKey, of: number, in: group, &distinct)
                }
                if size != 0 { try budget.take(size) }
            }
            try frame.check()
        }
        try frame.check()
        return groups.sorted { $1.key.lexicographicallyPrecedes($0.key) }
    }

    private var empty: [Accumulated] { Array(repeating: Accumulated(), count: grouping.accumulators.count) }

    // MARK: On disk

    private func putAside(_ key: [UInt8], _ values: [Value]) throws(DatabaseError) {
        let sort = rest ?? ExternalSort(execution)
        rest = sort
        let inputs = grouping.accumulators.map { $0.value?(frame) ?? .missing }
        var writer = FleeceWriter(capacity: 128)
        writer.beginArray()
        for value in values + inputs {
            if value.isMissing { writer.writeUndefined() } else { writer.write(value) }
        }
        writer.endArray()
        try frame.check()
        let row: [UInt8]
        do throws(FleeceError) {
            row = try writer.finish()
        } catch {
            throw DatabaseError(.limitExceeded, "A row can't be put aside. \(error)", underlying: error)
        }
        try sort.add(key, row)
    }

    /// Puts a value aside that is wanted only once, when it exceeds the memory; answers whether it did.
    private func putAside(
        _ value: Value, _ valueKey: [UInt8], of accumulator: Int, in group: [UInt8],
        _ aside: inout DistinctValues?
    ) throws(DatabaseError) -> Bool {
        if aside == nil, execution.budget.fitsEasily(valueKey.count + 32) { return false }
        let values = aside ?? DistinctValues(execution)
        aside = values
        try values.add(value, valueKey, of: accumulator, in: group)
        return true
    }

    /// Takes what was put aside of a group's values.
    private func complete(_ group: inout Group, _ aside: DistinctValues) throws(DatabaseError) {
        var taken = 0
        let mark = frame.arena.mark
        while let (number, value) = try aside.next(of: group.key, frame) {
            let size = group.accumulated[number].takePutAside(value, grouping.accumulators[number], frame)
            frame.arena.release(to: mark)
            taken += size
            if size != 0 { try execution.budget.take(size) }
        }
        execution.budget.giveBack(taken)
    }

    /// The next group, of those in memory and those that were put aside.
    private func nextGroup() throws(DatabaseError) -> Group? {
        let isKnown = groups?.last.map { known in
            coming.map { known.key.lexicographicallyPrecedes($0.key) } ?? true
        }
        if isKnown ?? false {
            guard var group = groups?.popLast() else { return nil }
            if let distinct { try complete(&group, distinct) }
            return group
        }
        guard let first = coming else { return nil }
        var group: Group?
        var taken = 0
        var aside: DistinctValues?
        while let entry = coming, entry.key == first.key {
            let mark = frame.arena.mark
            defer { frame.arena.release(to: mark) }
            let row = FleeceNode(root: frame.arena.copy(entry.value))
            var present =
                group
                ?? Group(
                    key: first.key, values: grouping.keys.indices.map { OwnedValue(Value(row[$0])) },
                    accumulated: empty)
            group = nil
            for (number, accumulator) in grouping.accumulators.enumerated() {
                let value = Value(row[grouping.keys.count + number])
                let size = try present.accumulated[number].take(value, accumulator, frame) {
                    (valueKey) throws(DatabaseError) in
                    try putAside(value, valueKey, of: number, in: first.key, &aside)
                }
                taken += size
                if size != 0 { try execution.budget.take(size) }
            }
            group = present
            coming = try rest?.next()
        }
        if let aside, var whole = group {
            group = nil
            try complete(&whole, aside)
            group = whole
        }
        execution.budget.giveBack(taken)
        return group
    }
}
