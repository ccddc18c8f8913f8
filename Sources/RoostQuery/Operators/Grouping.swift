import Roost
import RoostOrder

/// What is computed of the rows of each group: see ``BoundGroups``.
struct Grouping: Sendable {
    let keys: [Key]
    let measures: [Measure]

    /// An expression of GROUP BY.
    struct Key: Sendable {
        let value: Evaluation
        let collation: Collation
        let slot: Int
    }

    /// What is gathered over the rows of a group.
    struct Measure: Sendable {
        let accumulator: Accumulator
        /// `nil` for the number of rows.
        let value: Evaluation?
        let slot: Int
    }

    init(_ groups: BoundGroups, _ compiler: Compiler) throws(QueryError) {
        keys = try groups.keys.map { (key) throws(QueryError) in
            Key(
                value: try compiler.compile(key.expression.value), collation: key.expression.collation,
                slot: key.slot)
        }
        measures = try groups.measures.map { (measure) throws(QueryError) in
            Measure(
                accumulator: measure.accumulator,
                value: try measure.value.map { (value) throws(QueryError) in try compiler.compile(value)
                },
                slot: measure.slot)
        }
    }
}

/// How the values of rows are put together.
struct Accumulator: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case aggregate(Aggregate, isDistinct: Bool)
        /// The value for the first row.
        case first
    }

    let kind: Kind
    let collation: Collation

    /// Whether what was gathered of some rows can be added to what was gathered of others.
    var isAdditive: Bool {
        switch kind {
        // What exceeds the memory of its numbers is spilled, which only one thread can do.
        case .aggregate(.percentile, _): false
        case .aggregate(let aggregate, isDistinct: true): aggregate == .min || aggregate == .max
        default: true
        }
    }
}

/// What was gathered so far for one measure of one group.
struct Accumulated {
    private var count = 0
    private var sum = NumberSum()
    private var best: OwnedValue?
    private var list: [OwnedValue] = []
    private var seen: Set<[UInt8]> = []
    private var spread = SpreadSum()
    private var percentile = PercentileSearch()

    /// Takes a row whose values don't matter.
    mutating func countRow() { count += 1 }

    /// Takes the value of a row; answers about how many bytes of memory that took.
    ///
    /// - Parameter spill: takes the key of a value that is wanted only once, if it isn't to be kept in memory.
    mutating func take(
        _ value: Value, _ accumulator: Accumulator, _ frame: Frame,
        spill: (_ key: [UInt8]) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) -> Int {
        switch accumulator.kind {
        case .first:
            guard best == nil else { return 0 }
            let value = OwnedValue(value)
            best = value
            return value.size
        case .aggregate(let aggregate, let isDistinct):
            guard !value.isMissing, aggregate == .arrayAggregate || !value.isNull else { return 0 }
            if case .percentile = aggregate { return try takeNumber(value, frame, spill) }
            var size = 0
            // The least of the different values is the least of all.
            if isDistinct, aggregate != .min, aggregate != .max {
                let encoder = KeyEncoder(accumulator.collation)
                encoder.append(value)
                let key = encoder.key
                guard !seen.contains(key), try !spill(key) else { return 0 }
                seen.insert(key)
                size = key.count + 32
            }
            return size + take(aggregate, value, accumulator.collation, frame)
        }
    }

    /// Takes what was gathered of later rows of the group, without DISTINCT.
    mutating func take(_ later: Accumulated, _ accumulator: Accumulator, _ frame: Frame) {
        count += later.count
        list += later.list
        switch accumulator.kind {
        case .first: best = best ?? later.best
        case .aggregate(.spread, _): spread.add(later.spread)
        case .aggregate(.sum, _), .aggregate(.avg, _): sum.add(later.sum)
        case .aggregate(let aggregate, _):
            guard aggregate == .min || aggregate == .max, let value = later.best else { return }
            _ = take(aggregate, value.value(in: frame.arena), accumulator.collation, frame)
        }
    }

    /// Takes a value that was spilled and no other row had.
    mutating func takeSpilled(
        _ value: Value, _ accumulator: Accumulator, _ frame: Frame
    ) -> Int {
        guard case .aggregate(let aggregate, _) = accumulator.kind else { return 0 }
        if case .percentile(let fraction, let isInterpolated) = aggregate {
            percentile.meet(value, at: fraction, isInterpolated)
            return 0
        }
        return take(aggregate, value, accumulator.collation, frame)
    }

    /// Takes a number of which a percentile is wanted: in memory, or aside, sorted by the number and then by which one it is.
    private mutating func takeNumber(
        _ value: Value, _ frame: Frame, _ spill: (_ key: [UInt8]) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) -> Int {
        guard value.double != nil else { return 0 }
        let encoder = frame.encoder(.binary)
        encoder.reset()
        encoder.append(value)
        let number = UInt64(percentile.count)
        percentile.count += 1
        let key =
            encoder.key + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        guard try !spill(key) else { return 0 }
        return percentile.keep(value)
    }

    private mutating func take(
        _ aggregate: Aggregate, _ value: Value, _ collation: Collation, _ frame: Frame
    ) -> Int {
        switch aggregate {
        case .count: count += 1
        case .sum, .avg: sum.add(value)
        case .min, .max:
            let value = value.computable
            let order = best.map { value.compare($0.value(in: frame.arena), collation) }
            guard order.map({ aggregate == .min ? $0 < 0 : $0 > 0 }) ?? true else { return 0 }
            let owned = OwnedValue(value)
            let known = best?.size ?? 0
            best = owned
            return owned.size - known
        case .spread: spread.add(value)
        case .percentile: break
        case .arrayAggregate, .joined:
            let owned = OwnedValue(value)
            list.append(owned)
            return owned.size
        }
        return 0
    }

    /// What the measure comes to.
    func result(_ accumulator: Accumulator, _ frame: Frame) -> Value {
        switch accumulator.kind {
        case .first: return best?.value(in: frame.arena) ?? .missing
        case .aggregate(.count, _): return .integer(Int64(count))
        case .aggregate(.sum, _): return sum.totalOfAny
        case .aggregate(.avg, _): return sum.average
        case .aggregate(.min, _), .aggregate(.max, _): return best?.value(in: frame.arena) ?? .null
        case .aggregate(.arrayAggregate, _):
            return list.isEmpty ? .null : frame.array(list.map { $0.value(in: frame.arena) })
        case .aggregate(.joined(let separator), _):
            return list.isEmpty
                ? .null : Strings.joined(list.map { $0.value(in: frame.arena) }, separator, frame)
        case .aggregate(.spread(let measure), _): return spread.result(measure)
        case .aggregate(.percentile(let fraction, let isInterpolated), _):
            return percentile.result(at: fraction, isInterpolated)
        }
    }
}

// MARK: - Stream aggregate

/// A row for each group, of rows that an index yields group by group: one group at a time is in memory.
final class StreamAggregation: GroupOperator {
    private let rows: Operator
    private var isBegun = false
    /// The group that the row read last belongs to, with what was spilled of its values and about how much memory it takes.
    private var present: (group: Group, aside: DistinctValues?, taken: Int)?

    init(_ node: AggregateNode, _ rows: Operator, _ execution: Execution) {
        self.rows = rows
        super.init(node, node.plan, node.grouping, execution, [rows])
    }

    override func release() {
        super.release()
        execution.budget.giveBack(present?.taken ?? 0)
        present = nil
        isBegun = false
    }

    override func nextGroup() throws(DatabaseError) -> Group? {
        if !isBegun {
            isBegun = true
            _ = try takeRow()
        }
        while present != nil {
            if let done = try takeRow() { return done }
        }
        return nil
    }

    /// Takes the next row; answers the group before it if that has no more.
    private func takeRow() throws(DatabaseError) -> Group? {
        guard try rows.next() else {
            try frame.check()
            return try endGroup()
        }
        let mark = frame.arena.mark
        defer { frame.arena.release(to: mark) }
        let key = readKey()
        var done: Group?
        if present?.group.key.withView({ $0.compare(key) }) != 0 {
            done = try endGroup()
            let (group, size) = makeGroup()
            try execution.budget.take(size)
            present = (group, nil, size)
        }
        guard var (group, aside, taken) = present else { return done }
        // Nothing else has the group, so that its arrays are changed in place.
        present = nil
        let size = try take(into: &group, &aside)
        if size != 0 { try execution.budget.take(size) }
        taken += size
        present = (group, aside, taken)
        try frame.check()
        return done
    }

    /// Ends the present group.
    private func endGroup() throws(DatabaseError) -> Group? {
        guard let done = present else { return nil }
        present = nil
        var group = done.group
        if let aside = done.aside { try complete(&group, aside) }
        execution.budget.giveBack(done.taken)
        return group
    }
}
