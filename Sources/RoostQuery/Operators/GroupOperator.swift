import Roost
import RoostBytes
import RoostOrder

/// An operator with a row for each group of rows.
class GroupOperator: ProjectingOperator {
    let grouping: Grouping
    let execution: Execution
    private let keys: [(value: Evaluation, encoder: KeyEncoder)]
    private let having: Evaluation?
    /// What each accumulator takes of a row.
    private let inputValues: [(value: Evaluation?, gathering: Gathering)]
    /// The present row's values of GROUP BY.
    private let values: Cells<Value>
    private let keyBuffer = ByteBuffer()
    /// The end of the arena before the present group was put there.
    private var mark: Arena.Mark?

    struct Group: @unchecked Sendable {
        // Its values are numbers, or own their bytes.

        /// What its rows have in common, as a key.
        let key: [UInt8]
        let values: [OwnedValue]
        var accumulated: [Accumulated]
    }

    init(
        _ node: any RowNode, _ plan: QueryPlan, _ grouping: Grouping, _ execution: Execution,
        _ inputs: [Operator]
    ) {
        self.grouping = grouping
        self.execution = execution
        having = plan.having
        keys = grouping.keys.map { (unshared($0.value), KeyEncoder($0.collation)) }
        inputValues = grouping.accumulators.map { ($0.value.map(unshared), $0.gathering) }
        values = Cells(.missing, count: keys.count)
        super.init(node, plan.columns, execution.frame, inputs)
    }

    override func release() { mark = nil }

    /// The next group with all of its rows; `nil` after the last.
    func nextGroup() throws(DatabaseError) -> Group? { nil }

    override func next() throws(DatabaseError) -> Bool {
        if let mark { frame.arena.release(to: mark) }
        while let group = try nextGroup() {
            let mark = frame.arena.mark
            self.mark = mark
            for (key, value) in zip(grouping.keys, group.values) {
                frame.setAggregate(key.slot, value.value(in: frame.arena))
            }
            for (accumulator, accumulated) in zip(grouping.accumulators, group.accumulated) {
                frame.setAggregate(accumulator.slot, accumulated.result(accumulator.gathering, frame))
            }
            if let having, !Logic.holds(having(frame)) {
                try frame.check()
                frame.arena.release(to: mark)
                continue
            }
            produced += 1
            return true
        }
        mark = nil
        return false
    }

    // MARK: Gathering

    var empty: [Accumulated] { Array(repeating: Accumulated(), count: inputValues.count) }

    /// The key of the group that the present row belongs to; valid until the next call.
    func readKey() -> ByteView {
        keyBuffer.reset(keeping: 1 << 16)
        for number in keys.indices {
            let value = keys[number].value(frame)
            values[number] = value
            let encoder = keys[number].encoder
            encoder.reset()
            encoder.append(value)
            keyBuffer.append(encoder.view)
        }
        return keyBuffer.view
    }

    /// A group for the row whose key was read last, with about how many bytes of memory it takes.
    func makeGroup() -> (group: Group, size: Int) {
        let owned = (0..<values.count).map { OwnedValue(values[$0]) }
        let group = Group(key: keyBuffer.view.array, values: owned, accumulated: empty)
        return (group, group.key.count + owned.reduce(0) { $0 + $1.size } + 160 * (1 + inputValues.count))
    }

    /// What accumulators take of the present row; missing for those that count rows.
    var rowInputs: [Value] { inputValues.map { $0.value?(frame) ?? .missing } }
    /// The present row's values of GROUP BY, whose key was read last.
    var rowKeys: [Value] { (0..<values.count).map { values[$0] } }

    /// Takes the present row into its group; answers about how many bytes of memory that took.
    ///
    /// - Parameter aside: where values that are wanted only once are put that exceed the memory.
    func take(into group: inout Group, _ aside: inout DistinctValues?) throws(DatabaseError) -> Int {
        var taken = 0
        for number in inputValues.indices {
            guard let value = inputValues[number].value?(frame) else {
                group.accumulated[number].countRow()
                continue
            }
            taken += try take(value, number, into: &group, &aside)
        }
        return taken
    }

    private func take(
        _ value: Value, _ number: Int, into group: inout Group, _ aside: inout DistinctValues?
    ) throws(DatabaseError) -> Int {
        let key = group.key
        return try group.accumulated[number].take(value, inputValues[number].gathering, frame) {
            (valueKey) throws(DatabaseError) in try putAside(value, valueKey, of: number, in: key, &aside)
        }
    }

    /// Takes a row that was put aside, of which `input` is what each accumulator takes.
    func take(
        _ input: (Int) -> Value, into group: inout Group, _ aside: inout DistinctValues?
    ) throws(DatabaseError) -> Int {
        var taken = 0
        for number in inputValues.indices {
            guard inputValues[number].value != nil else {
                group.accumulated[number].countRow()
                continue
            }
            taken += try take(input(number), number, into: &group, &aside)
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
            let size = group.accumulated[number].takePutAside(value, inputValues[number].gathering, frame)
            frame.arena.release(to: mark)
            taken += size
            if size != 0 { try execution.budget.take(size) }
        }
        execution.budget.giveBack(taken)
    }
}
