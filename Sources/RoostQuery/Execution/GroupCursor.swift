import Roost
import RoostOrder

/// A row for each group of rows.
class GroupCursor: RowCursor {
    let grouping: Grouping
    let execution: Execution
    private let encoders: [KeyEncoder]
    /// The end of the arena before the present group was put there.
    private var mark: Arena.Mark?

    struct Group: @unchecked Sendable {
        // Its values are numbers, or own their bytes.

        /// What its rows have in common, as a key.
        let key: [UInt8]
        let values: [OwnedValue]
        var accumulated: [Accumulated]
    }

    init(_ plan: SelectPlan, _ execution: Execution) {
        guard let grouping = plan.grouping else { preconditionFailure("a query without groups") }
        self.grouping = grouping
        self.execution = execution
        encoders = grouping.keys.map { KeyEncoder($0.collation) }
        super.init(plan, execution.frame)
    }

    /// The next group with all of its rows; `nil` after the last.
    func nextGroup() throws(DatabaseError) -> Group? { nil }

    override func advance() throws(DatabaseError) -> Bool {
        if let mark { frame.arena.release(to: mark) }
        while let group = try nextGroup() {
            let mark = frame.arena.mark
            self.mark = mark
            for (key, value) in zip(grouping.keys, group.values) {
                frame.setAggregate(key.slot, value.value(in: frame.arena))
            }
            for (accumulator, accumulated) in zip(grouping.accumulators, group.accumulated) {
                frame.setAggregate(accumulator.slot, accumulated.result(accumulator, frame))
            }
            if let having = plan.having, !Logic.holds(having(frame)) {
                try frame.check()
                frame.arena.release(to: mark)
                continue
            }
            return true
        }
        return false
    }

    // MARK: Gathering

    var empty: [Accumulated] { Array(repeating: Accumulated(), count: grouping.accumulators.count) }

    /// The key of the group that has these values of GROUP BY.
    func key(of values: [Value]) -> [UInt8] {
        var key: [UInt8] = []
        for (encoder, value) in zip(encoders, values) {
            encoder.reset()
            encoder.append(value)
            key += encoder.key
        }
        return key
    }

    /// Takes the present row into its group; answers about how many bytes of memory that took.
    ///
    /// - Parameter aside: where values that are wanted only once are put that exceed the memory.
    func take(into group: inout Group, _ aside: inout DistinctValues?) throws(DatabaseError) -> Int {
        var taken = 0
        for (number, accumulator) in grouping.accumulators.enumerated() {
            let value = accumulator.value?(frame) ?? .missing
            let key = group.key
            taken += try group.accumulated[number].take(value, accumulator, frame) {
                (valueKey) throws(DatabaseError) in try putAside(value, valueKey, of: number, in: key, &aside)
            }
        }
        return taken
    }

    /// Puts a value aside that is wanted only once, when it exceeds the memory; answers whether it did.
    func putAside(
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
    func complete(_ group: inout Group, _ aside: DistinctValues) throws(DatabaseError) {
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
}
