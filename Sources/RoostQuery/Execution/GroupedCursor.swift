import Fleece
import Roost

/// A row for each group, in the order of what the groups have in common.
///
/// When groups exceed the memory, rows of groups that are not known by then are put aside, sorted by group; and so are the
/// different values of aggregates with DISTINCT.
final class GroupedCursor: GroupCursor {
    private let rows: RowSource
    private let threads: Int
    /// The groups that were not handed out yet, the last first; `nil` until rows were read.
    private var groups: [Group]?
    /// The rows that were put aside: what is asked of each, by its group.
    private var rest: ExternalSort?
    /// The first of these that was not taken.
    private var coming: ExternalSort.Entry?
    /// Values of groups in memory that were put aside.
    private var distinct: DistinctValues?

    init(
        _ plan: QueryPlan, _ execution: Execution, _ rows: RowSource, threads: Int = 1
    ) {
        self.rows = rows
        self.threads = threads
        super.init(plan, execution)
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
        let plan = plan
        let parts = try execution.inParts(of: plan, threads: threads) { (part) throws(DatabaseError) in
            try GroupedCursor(plan, part, try part.rows(of: plan.sources)).read()
        }
        guard let parts else { return nil }
        var numbers: [[UInt8]: Int] = [:]
        var groups: [Group] = []
        for group in parts.joined() {
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
                    try budget.take(size)
                    index = numbers.insert(key).number
                    groups.append(group)
                }
            }
            let size = try take(into: &groups[index], &aside)
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
            throw DatabaseError(.limitExceeded, "A row can't be put aside. \(error)", underlying: error)
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
