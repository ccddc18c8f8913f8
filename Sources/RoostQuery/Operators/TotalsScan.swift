import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostStorage

/// A row for each group, out of an index that answers all that is asked of groups.
struct TotalsNode: RowNode {
    let plan: QueryPlan
    let grouping: Grouping
    let totals: TotalsAccess
    let ranges: IndexRanges
    /// The source without a way to find its rows.
    let source: SourceNode

    var inputs: [any PlanNode] { [] }

    func makeRows(_ execution: Execution) throws(DatabaseError) -> RowOperator { TotalsScan(self, execution) }

    func explain(_ writer: inout PlanWriter, rows: Int?) {
        writer.addSource(
            "SEARCH", "\(source.source.name) USING \(ranges.text)", estimate: 0, index: ranges.name, rows: nil
        )
        let how =
            grouping.keys.isEmpty ? "all rows into one" : "by \(plan.groupText), going from one to the next"
        writer.add("GROUP", "\(how), from what the index has counted and summed up")
        if let having = plan.query.having { writer.add("FILTER", "groups with \(having.text)") }
    }

    /// The groups of some ranges, made by reading their rows.
    func reading(_ ranges: IndexRanges) -> AggregateNode {
        AggregateNode(
            input: source.reading(ranges), plan: plan, grouping: grouping, streams: true, threads: 1)
    }
}

/// A row for each group, out of an index that answers all that is asked of groups. O(log n) for each of them, apart from
/// groups whose values are too long for the index's keys: the rows of those are read.
final class TotalsScan: ProjectingOperator {
    private let node: TotalsNode
    private let totals: TotalsAccess
    private let grouping: Grouping
    private let choice: IndexRanges
    private let having: Evaluation?
    private let execution: Execution
    private let rowReader: RowReader
    /// Groups that are made by reading rows, and come next.
    private var read: RowOperator?
    /// What of the index has not been grouped yet; `nil` at the end.
    private var rest: KeyRange?
    private var mark: Arena.Mark?

    /// So many groups are looked at to find out how many rows groups have.
    private static let sampled = 16
    /// Groups of fewer rows are put together from these sooner.
    private static let fewestRows = 8

    init(_ node: TotalsNode, _ execution: Execution) {
        self.node = node
        self.execution = execution
        totals = node.totals
        grouping = node.grouping
        choice = node.ranges
        having = node.plan.having
        rowReader = RowReader(choice.access.index, totals.keyPlaces, execution.frame.arena)
        rest = choice.ranges.first
        super.init(node, node.plan.columns, execution.frame, [])
    }

    override func open() throws(DatabaseError) {
        close()
        rest = choice.ranges.first
        isDone = false
    }

    override func close() {
        read?.close()
        (read, mark) = (nil, nil)
    }

    /// Whether the index can answer for the values that there are, and reading its rows does not take less.
    func isWorthwhile() throws(DatabaseError) -> Bool {
        guard try isAnswerable() else { return false }
        guard !totals.keyPlaces.isEmpty else { return true }
        return try isWorthIt()
    }

    private func isAnswerable() throws(DatabaseError) -> Bool {
        var needsOneRange = !totals.keyPlaces.isEmpty
        var compared: [Int] = []
        for part in totals.parts {
            switch part {
            case .valuedRows, .least, .greatest: needsOneRange = true
            case .total(.min, let number), .total(.max, let number): compared.append(number)
            case .total, .rows: break
            }
        }
        guard !needsOneRange || choice.ranges.count <= 1 else { return false }
        guard !compared.isEmpty, let all = try reduced(choice.ranges) else { return true }
        return compared.allSatisfy { all[$0].extremes != nil }
    }

    private func isWorthIt() throws(DatabaseError) -> Bool {
        guard let start = rest else { return true }
        var groups = 0
        while groups < Self.sampled, try nextGroup() != nil { groups += 1 }
        defer { rest = start }
        guard groups == Self.sampled, let end = rest?.lower else { return true }
        let rows = try choice.reader.count(in: [KeyRange(lower: start.lower, upper: end)])
        return rows >= Self.sampled * Self.fewestRows
    }

    // MARK: Rows

    override func next() throws(DatabaseError) -> Bool {
        guard try goOn() else { return false }
        produced += 1
        return true
    }

    private func goOn() throws(DatabaseError) -> Bool {
        if let read, try read.next() { return true }
        read = nil
        if let mark { frame.arena.release(to: mark) }
        let mark = frame.arena.mark
        self.mark = mark
        while true {
            frame.arena.release(to: mark)
            guard let group = try nextGroups() else { return false }
            let ranges: [KeyRange]
            switch group {
            case .one(let found): ranges = found
            case .several(let range):
                let groups = try rows(reading: range)
                guard try groups.next() else { continue }
                read = groups
                return true
            }
            for (key, place) in zip(grouping.keys, totals.keyPlaces) {
                frame.setAggregate(key.slot, rowReader.values[place])
            }
            let all = try reduced(ranges)
            for (measure, part) in zip(grouping.measures, totals.parts) {
                frame.setAggregate(measure.slot, try value(part, ranges, all))
            }
            if let having, !Logic.holds(having(frame)) {
                try frame.check()
                continue
            }
            return true
        }
    }

    override func row() throws(DatabaseError) -> [UInt8] {
        if let read { return try read.row() }
        return try super.row()
    }

    private var isDone = false

    /// What comes next.
    private enum Groups {
        /// A group that these ranges have; its values are read.
        case one([KeyRange])
        /// Groups whose values are too long for the index to tell them apart.
        case several(KeyRange)
    }

    private func nextGroups() throws(DatabaseError) -> Groups? {
        try execution.counter.checkCancellation()
        guard totals.keyPlaces.isEmpty else { return try nextGroup() }
        defer { isDone = true }
        return isDone ? nil : .one(choice.ranges)
    }

    private func nextGroup() throws(DatabaseError) -> Groups? {
        guard let range = rest, let first = try first(in: range) else { return nil }
        defer { extendLifetime(first) }
        let row = first.row
        let prefix = try RowReader.prefix(totals.prefixColumns, of: row, choice.access.index)
        let own = prefix ?? row.beginning.array
        let end = Key(IndexAccess.after(own))
        rest = KeyRange(lower: end, upper: range.upper)
        let found = KeyRange(
            lower: range.lower.map { max($0, Key(own)) } ?? Key(own),
            upper: range.upper.map { min($0, end) } ?? end)
        guard prefix != nil, own.count <= IndexAccess.longestKey else { return .several(found) }
        try rowReader.read(row)
        return .one([found])
    }

    /// Makes groups by reading rows.
    private func rows(reading range: KeyRange) throws(DatabaseError) -> RowOperator {
        let part = IndexRanges(
            access: choice.access, reader: choice.reader, ranges: [range],
            count: try choice.reader.count(in: [range]))
        let groups = try node.reading(part).makeRows(execution)
        try groups.open()
        return groups
    }

    // MARK: Values

    private func value(
        _ part: TotalsAccess.Part, _ ranges: [KeyRange], _ all: [IndexTotals]?
    ) throws(DatabaseError) -> Value {
        switch part {
        case .rows: return .integer(Int64(try choice.reader.count(in: ranges)))
        case .valuedRows: return .integer(Int64(try choice.reader.count(in: ranges.map(valued))))
        case .least, .greatest:
            let column = choice.access.index.columns[totals.prefixColumns]
            let isLeast = if case .least = part { true } else { false }
            let isLast = isLeast == column.isDescending
            guard let range = ranges.first, let first = try first(in: valued(range), isDescending: isLast)
            else {
                return .null
            }
            defer { extendLifetime(first) }
            let row = first.row
            if try RowReader.prefix(totals.prefixColumns + 1, of: row, choice.access.index) == nil {
                return try extreme(KeyRange(prefix: Key(row.beginning.array)), column, isLeast: isLeast)
            }
            let reader = RowReader(choice.access.index, [totals.prefixColumns], frame.arena)
            try reader.read(row)
            return reader.values[totals.prefixColumns].computable
        case .total(let aggregate, let number):
            let total = all?[number] ?? IndexTotals()
            switch aggregate {
            case .count: return .integer(Int64(clamping: total.valued))
            case .sum: return total.numbers.totalOfAny
            case .avg: return total.numbers.average
            case .min: return total.extremes?.least ?? .null
            default: return total.extremes?.greatest ?? .null
            }
        }
    }

    /// The least or the greatest value that rows have whose keys were cut before its end.
    private func extreme(
        _ range: KeyRange, _ column: CompiledIndex.Column, isLeast: Bool
    ) throws(DatabaseError) -> Value {
        let reader = RowReader(choice.access.index, [totals.prefixColumns], frame.arena)
        let cursor = choice.reader.cursor(range)
        var best: OwnedValue?
        let mark = frame.arena.mark
        while try cursor.advance() {
            execution.counter.entries += 1
            if execution.counter.entries & 255 == 0 { try execution.counter.checkCancellation() }
            frame.arena.release(to: mark)
            try reader.read(cursor.row)
            let value = reader.values[totals.prefixColumns]
            let order = best.map { value.compare($0.value(in: frame.arena), column.collation) }
            if order.map({ isLeast ? $0 < 0 : $0 > 0 }) ?? true { best = OwnedValue(value) }
        }
        frame.arena.release(to: mark)
        return best?.value(in: frame.arena) ?? .null
    }

    /// The part of a group's range that has values in the column after the group's.
    private func valued(_ range: KeyRange) -> KeyRange {
        // Bounds leave only values.
        guard
            totals.groupColumns > 0
                || choice.access.keys.lower == nil && choice.access.keys.upper == nil
                    && choice.access.keys.prefix == nil
        else {
            return range
        }
        let column = choice.access.index.columns[totals.prefixColumns]
        let end = Key((range.lower?.bytes ?? []) + IndexAccess.leastValued(column))
        return column.isDescending
            ? KeyRange(lower: range.lower, upper: end) : KeyRange(lower: end, upper: range.upper)
    }

    private func first(in range: KeyRange, isDescending: Bool = false) throws(DatabaseError) -> IndexCursor? {
        let cursor = choice.reader.cursor(range, isDescending: isDescending)
        guard try cursor.advance() else { return nil }
        execution.counter.entries += 1
        return cursor
    }

    /// What the index has summed up over some ranges; `nil` of no rows.
    private func reduced(_ ranges: [KeyRange]) throws(DatabaseError) -> [IndexTotals]? {
        guard totals.parts.contains(where: { if case .total = $0 { true } else { false } }) else {
            return nil
        }
        do {
            var values: [[UInt8]] = []
            for range in ranges {
                if let value = try choice.reader.reduce(in: range) { values.append(value) }
            }
            let reduction = choice.access.index.definition.reduction
            return try reduction?.value(of: values).map { try IndexTotals.decode($0) }
        } catch {
            throw DatabaseError(derived: error)
        }
    }
}

// MARK: - Count

/// The one row of a query that counts a whole collection, or what a search finds.
struct CountNode: RowNode {
    let counted: QueryPlan.Counted
    let count: Int

    var inputs: [any PlanNode] { [] }

    func makeRows(_ execution: Execution) throws(DatabaseError) -> RowOperator { Count(self, execution) }

    func explain(_ writer: inout PlanWriter, rows: Int?) {
        switch counted {
        case .documents(let collection): writer.add("COUNT", "\(collection.queryName), which is known")
        case .found(let search):
            writer.add(
                "COUNT", "\(search.collection.queryName) USING \(search.description), without documents",
                index: search.index.description.name)
        }
    }
}

final class Count: RowOperator {
    private let count: Int
    private var isDone = false

    init(_ node: CountNode, _ execution: Execution) {
        count = node.count
        super.init(node, execution.frame)
    }

    override func open() { isDone = false }

    override func next() throws(DatabaseError) -> Bool {
        guard !isDone else { return false }
        isDone = true
        produced += 1
        return true
    }

    override func row() throws(DatabaseError) -> [UInt8] {
        var writer = FleeceWriter(capacity: 16)
        writer.beginArray()
        writer.write(count)
        writer.endArray()
        // One number can be written.
        return (try? writer.finish()) ?? []
    }
}
