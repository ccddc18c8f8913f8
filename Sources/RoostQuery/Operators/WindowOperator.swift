import Fleece
import Roost
import RoostBytes
import RoostOrder
import RoostStorage

/// Rows with the values of the window functions that look at them in one order.
struct WindowNode: RowNode {
    let input: any RowNode
    let window: WindowPlan
    let columns: [Evaluation]

    var inputs: [any PlanNode] { [input] }

    func makeRows(_ execution: Execution) throws(DatabaseError) -> RowOperator {
        WindowOperator(self, try input.makeRows(execution), execution)
    }

    func explain(_ writer: inout PlanWriter, rows: Int?) { writer.add("WINDOW", window.text) }
}

/// Sorts the rows by partition and order, and goes through one partition after the other. Rows that exceed the memory are spilled, both
/// where they are sorted and where many rows before or behind the present one are needed.
final class WindowOperator: ProjectingOperator {
    private let rows: RowOperator
    private let plan: WindowPlan
    private let execution: Execution
    private let values: [(value: Evaluation, slot: Int)]
    /// The sorted rows, once all were read.
    private var partitions: WindowPartitions?
    private var calls: [WindowFunctionState] = []
    /// The end of the arena before the present row was put there.
    private var mark: Arena.Mark?

    init(_ node: WindowNode, _ rows: RowOperator, _ execution: Execution) {
        self.rows = rows
        self.execution = execution
        plan = node.window
        values = plan.inputs.map { (unshared($0.value), $0.slot) }
        super.init(node, node.columns, execution.frame, [rows])
    }

    override func release() {
        (partitions, calls, mark) = (nil, [], nil)
    }

    override func next() throws(DatabaseError) -> Bool {
        if let mark { frame.arena.release(to: mark) }
        if partitions == nil {
            calls = try plan.calls.map { (call) throws(DatabaseError) in
                try WindowFunctionState.of(call, execution)
            }
            partitions = WindowPartitions(try sorted(), execution)
        }
        guard let partitions, try partitions.advance() else {
            mark = nil
            return false
        }
        if partitions.current == 0 { for call in calls { call.begin() } }
        mark = frame.arena.mark
        // All rows that come before are read by now, so that nothing else uses the arena.
        let values = try calls.map { (call) throws(DatabaseError) in try call.value(partitions) }
        let row = try partitions.row(partitions.current)
        for (place, slot) in plan.known.enumerated() { frame.setAggregate(slot, row[place]) }
        for (call, value) in zip(plan.calls, values) { frame.setAggregate(call.slot, value) }
        partitions.release(before: calls.reduce(partitions.current) { min($0, $1.oldest) })
        try frame.check()
        produced += 1
        return true
    }

    /// All rows in the order of the window, each an array of the size of its partition's key and of what is known of it.
    private func sorted() throws(DatabaseError) -> ExternalSort {
        let sort = ExternalSort(execution)
        let (partition, order) = (OrderEncoder(plan.partition), OrderEncoder(plan.order))
        while try rows.next() {
            let mark = frame.arena.mark
            defer { frame.arena.release(to: mark) }
            for (value, slot) in values { frame.setAggregate(slot, value(frame)) }
            _ = partition.append(frame)
            _ = order.append(frame)
            let size = Value.integer(Int64(partition.key.count))
            let known = [size] + plan.known.map { frame.aggregate($0) }
            try sort.add(
                partition.key + order.key, try frame.row(of: known, "A row can't be sorted for a window."))
        }
        try frame.check()
        return sort
    }
}

// MARK: - Partitions

/// The sorted rows of a window, one partition after the other. Belongs to one thread.
final class WindowPartitions {
    private let sort: ExternalSort
    private let frame: Frame
    private let buffer: RowBuffer
    /// The row that was read and belongs to the next partition, or was not looked at.
    private var coming: ExternalSort.Entry?
    private var isBegun = false
    private var isWhole = true
    /// The key of the partition.
    private var key: [UInt8] = []
    /// The number of the present row in its partition, from 0.
    private(set) var current = -1
    /// The number of the first row that is a peer of the present one.
    private(set) var firstPeer = 0
    /// How many groups of peers there are up to the present row.
    private(set) var peerGroups = 0
    /// What the peers are ordered by.
    private var peerKey: [UInt8] = []
    private var knownAfterPeers: Int?

    init(_ sort: ExternalSort, _ execution: Execution) {
        self.sort = sort
        frame = execution.frame
        buffer = RowBuffer(execution)
    }

    /// Goes to the next row; `false` after the last one of the last partition.
    func advance() throws(DatabaseError) -> Bool {
        current += 1
        if try !has(current) {
            if !isBegun {
                isBegun = true
                coming = try sort.next()
            }
            guard let first = coming else { return false }
            key = Array(first.key.prefix(Self.partitionSize(first)))
            buffer.clear()
            (current, isWhole, peerGroups) = (0, false, 0)
            _ = try has(0)
        }
        let own = try buffer.entry(current).key
        if peerGroups == 0 || own != peerKey {
            (firstPeer, peerKey, knownAfterPeers) = (current, own, nil)
            peerGroups += 1
        }
        return true
    }

    private static func partitionSize(_ entry: ExternalSort.Entry) -> Int {
        entry.value.withView { Int(Value(FleeceNode(root: $0)[0]).wholeNumber ?? 0) }
    }

    /// Whether the partition has a row of that number.
    func has(_ number: Int) throws(DatabaseError) -> Bool {
        while !isWhole, number >= buffer.end {
            guard let entry = coming, entry.key.starts(with: key), Self.partitionSize(entry) == key.count
            else {
                isWhole = true
                break
            }
            try buffer.append(entry)
            coming = try sort.next()
        }
        return number >= 0 && number < buffer.end
    }

    /// How many rows the partition has.
    func count() throws(DatabaseError) -> Int {
        _ = try has(.max)
        return buffer.end
    }

    /// The number behind that of the last peer of the present row.
    func afterPeers() throws(DatabaseError) -> Int {
        if let knownAfterPeers { return knownAfterPeers }
        var next = current + 1
        while try has(next), try buffer.entry(next).key == peerKey { next += 1 }
        knownAfterPeers = next
        return next
    }

    /// What is known of a row, in the frame's arena.
    func row(_ number: Int) throws(DatabaseError) -> Row {
        Row(node: FleeceNode(root: frame.arena.copy(try buffer.entry(number).value)))
    }

    /// What is known of a row.
    struct Row {
        fileprivate let node: FleeceNode

        subscript(place: Int) -> Value { Value(node[place + 1]) }
    }

    /// What a function takes of a row, in the frame's arena.
    func value(_ operand: WindowPlan.Operand, of number: Int) throws(DatabaseError) -> Value {
        switch operand {
        case .known(let place): try row(number)[place]
        case .given(let given): given.value(frame)
        }
    }

    /// Calls `body` with a value of a row, which is gone afterwards.
    func take(
        _ operand: WindowPlan.Operand, of number: Int, _ body: (Value) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let mark = frame.arena.mark
        defer { frame.arena.release(to: mark) }
        try body(try value(operand, of: number))
    }

    /// Says that rows before that number are not needed any more.
    func release(before number: Int) { buffer.release(before: number) }
}

/// Rows by their numbers, of which the first ones are released after some time. What exceeds the memory is spilled.
///
/// Belongs to one thread.
final class RowBuffer {
    private let execution: Execution
    /// The rows in memory, from `start` on; those before `head` are released.
    private var rows: [ExternalSort.Entry] = []
    private var head = 0
    private var start = 0
    private var size = 0
    /// The rows before these: trees of them by their numbers, each with the number of its first row.
    private var runs: [(start: Int, tree: TreeView)] = []

    init(_ execution: Execution) { self.execution = execution }

    deinit { execution.budget.wait(-size) }

    /// The number behind that of the last row.
    private(set) var end = 0

    func clear() {
        execution.budget.wait(-size)
        (rows, head, start, size, runs, end) = ([], 0, 0, 0, [], 0)
    }

    func append(_ entry: ExternalSort.Entry) throws(DatabaseError) {
        let budget = execution.budget
        if !budget.fits(entry.size), size >= budget.leastRun { try spill() }
        budget.wait(entry.size)
        size += entry.size
        rows.append(entry)
        end += 1
    }

    func entry(_ number: Int) throws(DatabaseError) -> ExternalSort.Entry {
        guard number < start else { return rows[number - start] }
        guard let run = runs.last(where: { $0.start <= number }) else {
            preconditionFailure("a row that was released")
        }
        do {
            guard let bytes = try run.tree.value(Key(UInt64(number))) else {
                throw DatabaseError(.damaged, "A row that was spilled is missing.")
            }
            return try ExternalSort.Entry(stored: bytes)
        } catch {
            throw DatabaseError(derived: error)
        }
    }

    func release(before number: Int) {
        while runs.count > 1, runs[1].start <= number { runs.removeFirst() }
        if runs.count == 1, start <= number { runs = [] }
        guard number > start + head else { return }
        let released = min(number - start, rows.count)
        let freed = rows[head..<released].reduce(0) { $0 + $1.size }
        execution.budget.wait(-freed)
        size -= freed
        head = released
        guard head > rows.count / 2, head >= Self.leastRemoved else { return }
        rows.removeFirst(head)
        start += head
        head = 0
    }

    private static let leastRemoved = 256

    private func spill() throws(DatabaseError) {
        let (entries, first) = (rows[head...], start + head)
        let tree = try execution.spill.tree { put in
            for (distance, entry) in entries.enumerated() {
                try put(Key(UInt64(first + distance)), entry.stored)
            }
        }
        runs.append((first, tree))
        execution.budget.wait(-size)
        (start, rows, head, size) = (end, [], 0, 0)
    }
}
