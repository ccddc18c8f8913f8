import Fleece
import Roost
import RoostBytes
import RoostOrder

/// An operator with a row for each group of rows.
class GroupOperator: ProjectingOperator {
    let grouping: Grouping
    let execution: Execution
    private let keys: [(value: Evaluation, encoder: KeyEncoder)]
    private let having: Evaluation?
    /// What each measure takes of a row.
    private let inputValues: [(value: Evaluation?, accumulator: Accumulator)]
    /// The present row's values of GROUP BY.
    private let values: Cells<Value>
    private let keyBuffer = ByteBuffer()
    /// The end of the arena before the present group was put there.
    private var mark: Arena.Mark?

    /// A group of rows, which a thread that reads a part of the documents passes to the one that puts the parts together.
    ///
    /// Unchecked because an `OwnedValue` holds scalars as `Value`s: none of these points into bytes.
    struct Group: @unchecked Sendable {
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
        inputValues = grouping.measures.map { ($0.value.map(unshared), $0.accumulator) }
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
            for (measure, accumulated) in zip(grouping.measures, group.accumulated) {
                frame.setAggregate(measure.slot, accumulated.result(measure.accumulator, frame))
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

    // MARK: Accumulator

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

    /// What measures take of the present row; missing for those that count rows.
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
        return try group.accumulated[number].take(value, inputValues[number].accumulator, frame) {
            (valueKey) throws(DatabaseError) in try spill(value, valueKey, of: number, in: key, &aside)
        }
    }

    /// Takes a row that was spilled, of which `input` is what each measure takes.
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

    /// Spills a value that is wanted only once, when it exceeds the memory; answers whether it did.
    func spill(
        _ value: Value, _ valueKey: [UInt8], of measure: Int, in group: [UInt8],
        _ aside: inout DistinctValues?
    ) throws(DatabaseError) -> Bool {
        if aside == nil, execution.budget.fitsEasily(valueKey.count + 32) { return false }
        let values = aside ?? DistinctValues(execution)
        aside = values
        try values.add(value, valueKey, of: measure, in: group)
        return true
    }

    /// Takes what was spilled of a group's values.
    func complete(_ group: inout Group, _ aside: DistinctValues) throws(DatabaseError) {
        var taken = 0
        let mark = frame.arena.mark
        while let (number, value) = try aside.next(of: group.key, frame) {
            let size = group.accumulated[number].takeSpilled(value, inputValues[number].accumulator, frame)
            frame.arena.release(to: mark)
            taken += size
            if size != 0 { try execution.budget.take(size) }
        }
        execution.budget.giveBack(taken)
    }
}

// MARK: - Aggregate

/// A row for each group of rows, once all of them are read, or group by group where rows come so.
struct AggregateNode: RowNode {
    let input: any PlanNode
    let plan: QueryPlan
    let grouping: Grouping
    /// Whether rows come group by group.
    let streams: Bool
    /// How many threads read parts of the rows.
    let threads: Int

    var inputs: [any PlanNode] { [input] }

    func makeRows(_ execution: Execution) throws(DatabaseError) -> RowOperator {
        let rows = try input.make(execution)
        return streams
            ? StreamAggregation(self, rows, execution) : Aggregation(self, rows, execution)
    }

    func explain(_ writer: inout PlanWriter, rows: Int?) {
        let how = streams ? ", one after the other, as they are read" : ""
        writer.add("GROUP", grouping.keys.isEmpty ? "all rows into one" : "by \(plan.groupText)\(how)")
        if let having = plan.query.having { writer.add("FILTER", "groups with \(having.text)") }
    }
}

/// A row for each group, in the order of what the groups have in common.
///
/// When groups exceed the memory, rows of groups that are not known by then are spilled, sorted by group; and so are the
/// different values of aggregates with DISTINCT.
final class Aggregation: GroupOperator {
    private let rows: Operator
    private let node: AggregateNode
    private let threads: Int
    /// The groups that were not returned yet, the last first; `nil` until rows were read.
    private var groups: [Group]?
    /// The rows that were spilled: what is asked of each, by its group.
    private var rest: ExternalSort?
    /// The first of these that was not taken.
    private var coming: ExternalSort.Entry?
    /// Values of groups in memory that were spilled.
    private var distinct: DistinctValues?
    /// How many bytes of memory the groups take.
    private var taken = 0

    init(_ node: AggregateNode, _ rows: Operator, _ execution: Execution) {
        self.rows = rows
        self.node = node
        threads = node.threads
        super.init(node, node.plan, node.grouping, execution, [rows])
    }

    override func release() {
        super.release()
        (groups, rest, coming, distinct) = (nil, nil, nil, nil)
        execution.budget.giveBack(taken)
        taken = 0
    }

    override func nextGroup() throws(DatabaseError) -> Group? {
        if groups == nil {
            var found = try readInParts()
            if found == nil { found = try read() }
            groups = found?.sorted { $1.key.lexicographicallyPrecedes($0.key) }
            coming = try rest?.next()
        }
        return try nextOfRead()
    }

    /// The groups, each part of the documents read by one of several threads; `nil` when one thread has to do it.
    private func readInParts() throws(DatabaseError) -> [Group]? {
        guard threads > 1 else { return nil }
        let node = node
        let parts = try execution.inParts(of: node.plan, threads: threads) {
            (part) throws(DatabaseError) -> PartRows<Group>? in
            let rows = try node.input.make(part)
            try rows.open()
            return PartRows(try Aggregation(node, rows, part).read(), rows)
        }
        guard let parts else { return nil }
        for part in parts { rows.add(part.counts) }
        var numbers: [[UInt8]: Int] = [:]
        var groups: [Group] = []
        for group in parts.flatMap(\.rows) {
            guard let known = numbers[group.key] else {
                numbers[group.key] = groups.count
                groups.append(group)
                continue
            }
            let mark = frame.arena.mark
            defer { frame.arena.release(to: mark) }
            for (number, measure) in grouping.measures.enumerated() {
                groups[known].accumulated[number].take(
                    group.accumulated[number], measure.accumulator, frame)
            }
        }
        try frame.check()
        return groups
    }

    /// The groups that are in memory; `nil` when these are of a part of the documents, and exceed its memory.
    private func read() throws(DatabaseError) -> [Group]? {
        let budget = execution.budget
        var numbers = ByteTable()
        var groups: [Group] = []
        var aside: DistinctValues?
        let isWhole = grouping.keys.isEmpty
        if isWhole { groups.append(makeGroup().group) }
        while try rows.next() {
            let mark = frame.arena.mark
            defer { frame.arena.release(to: mark) }
            var index = 0
            if !isWhole {
                let key = readKey()
                if let known = numbers.number(of: key) {
                    index = known
                } else {
                    let (group, size) = makeGroup()
                    guard rest == nil, budget.fitsEasily(size) else {
                        guard execution.part == nil else { return nil }
                        try spill(group.key)
                        continue
                    }
                    taken += size
                    try budget.take(size)
                    index = numbers.insert(key).number
                    groups.append(group)
                }
            }
            let size = try take(into: &groups[index], &aside)
            taken += size
            if size != 0 { try budget.take(size) }
            try frame.check()
        }
        distinct = aside
        try frame.check()
        return groups
    }

    // MARK: On disk

    private func spill(_ key: [UInt8]) throws(DatabaseError) {
        let sort = rest ?? ExternalSort(execution)
        rest = sort
        try sort.add(key, try frame.row(of: rowKeys + rowInputs, "A row can't be spilled."))
    }

    /// The next group, of those in memory and those that were spilled.
    private func nextOfRead() throws(DatabaseError) -> Group? {
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
            let size = try take({ Value(row[grouping.keys.count + $0]) }, into: &present, &aside)
            taken += size
            if size != 0 { try execution.budget.take(size) }
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
