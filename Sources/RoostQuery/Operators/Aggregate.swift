import Fleece
import Roost

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
/// When groups exceed the memory, rows of groups that are not known by then are put aside, sorted by group; and so are the
/// different values of aggregates with DISTINCT.
final class Aggregation: GroupOperator {
    private let rows: Operator
    private let node: AggregateNode
    private let threads: Int
    /// The groups that were not handed out yet, the last first; `nil` until rows were read.
    private var groups: [Group]?
    /// The rows that were put aside: what is asked of each, by its group.
    private var rest: ExternalSort?
    /// The first of these that was not taken.
    private var coming: ExternalSort.Entry?
    /// Values of groups in memory that were put aside.
    private var distinct: DistinctValues?
    /// How many bytes of memory the groups take.
    private var taken = 0

    init(_ node: AggregateNode, _ rows: Operator, _ execution: Execution) {
        self.rows = rows
        self.node = node
        threads = node.threads
        super.init(node, node.plan, node.grouping, execution, [rows])
    }

    override func open() throws(DatabaseError) {
        release()
        try super.open()
    }

    override func close() {
        release()
        super.close()
    }

    private func release() {
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
            for (number, accumulator) in grouping.accumulators.enumerated() {
                groups[known].accumulated[number].take(
                    group.accumulated[number], accumulator.gathering, frame)
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
                        try putAside(group.key)
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

    private func putAside(_ key: [UInt8]) throws(DatabaseError) {
        let sort = rest ?? ExternalSort(execution)
        rest = sort
        var writer = FleeceWriter(capacity: 128, wrapping: 1)
        writer.beginArray()
        for value in rowKeys + rowInputs {
            if value.isMissing { writer.writeUndefined() } else { writer.write(value) }
        }
        writer.endArray()
        try frame.check()
        let row: [UInt8]
        do throws(FleeceError) {
            row = try writer.finish()
        } catch {
            throw DatabaseError(.limitExceeded, "A row can't be put aside. \(error)", underlyingError: error)
        }
        try sort.add(key, row)
    }

    /// The next group, of those in memory and those that were put aside.
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
