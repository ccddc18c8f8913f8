import Roost
import RoostBytes
import RoostIndex
import RoostStorage

/// A row for each group, out of an index that answers all that is asked of groups. O(log n) for each of them, apart from
/// groups whose values are too long for the index's keys: the rows of those are read.
final class TotalsCursor: RowCursor {
    private let totals: TotalsAccess
    private let grouping: Grouping
    let choice: IndexChoice
    private let execution: Execution
    private let rowReader: RowReader
    /// Groups that are made by reading rows, and come next.
    private var read: RowCursor?
    /// What of the index has not been grouped yet; `nil` at the end.
    private var rest: KeyRange?
    private var mark: Arena.Mark?

    /// So many groups are looked at to find out how many rows groups have.
    private static let sampled = 16
    /// Groups of fewer rows are put together from these sooner.
    private static let fewestRows = 8

    /// `nil` where reading the rows takes less, or the index can't answer for the values that there are.
    init?(
        _ plan: QueryPlan, _ grouping: Grouping, _ totals: TotalsAccess, _ choice: IndexChoice,
        _ execution: Execution
    ) throws(DatabaseError) {
        self.totals = totals
        self.grouping = grouping
        self.choice = choice
        self.execution = execution
        rowReader = RowReader(choice.access.index, totals.keyPlaces, execution.frame.arena)
        rest = choice.ranges.first
        super.init(plan, execution.frame)
        guard try isAnswerable() else { return nil }
        if !totals.keyPlaces.isEmpty, try !isWorthIt() { return nil }
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

    override func advance() throws(DatabaseError) -> Bool {
        if let read, try read.advance() { return true }
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
                let groups = try cursor(reading: range)
                guard try groups.advance() else { continue }
                read = groups
                return true
            }
            for (key, place) in zip(grouping.keys, totals.keyPlaces) {
                frame.setAggregate(key.slot, rowReader.values[place])
            }
            let all = try reduced(ranges)
            for (accumulator, part) in zip(grouping.accumulators, totals.parts) {
                frame.setAggregate(accumulator.slot, try value(part, ranges, all))
            }
            if let having = plan.having, !Logic.holds(having(frame)) {
                try frame.check()
                continue
            }
            return true
        }
    }

    override func row() throws(DatabaseError) -> [UInt8] {
        if let read { return try read.row() }
        return try project()
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
    private func cursor(reading range: KeyRange) throws(DatabaseError) -> StreamedGroupCursor {
        let part = try IndexChoice(choice.access, choice.reader, [range])
        let access = AccessChoice(way: .index(part), count: part.count, cost: 0, isOrdered: false)
        return StreamedGroupCursor(
            plan, execution, try execution.rows(of: plan.sources, first: access))
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
            guard let range = ranges.first, let first = try first(in: valued(range), descending: isLast)
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
            return reader.values[totals.prefixColumns]
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

    private func first(in range: KeyRange, descending: Bool = false) throws(DatabaseError) -> IndexCursor? {
        let cursor = choice.reader.cursor(range, descending: descending)
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
