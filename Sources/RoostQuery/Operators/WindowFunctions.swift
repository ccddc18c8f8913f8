import Roost
import RoostOrder

/// A window function on its way through the rows of one partition after the other.
class WindowFunctionState {
    let frame: Frame

    init(_ frame: Frame) { self.frame = frame }

    static func of(
        _ call: WindowPlan.Call, _ execution: Execution
    ) throws(DatabaseError) -> WindowFunctionState {
        let frame = execution.frame
        return switch call.function {
        case .named(.lag): try NeighbourState(call, -1, frame)
        case .named(.lead): try NeighbourState(call, 1, frame)
        case .named(.firstValue), .named(.lastValue), .named(.nthValue): try FrameValueState(call, frame)
        case .named(let name): try RankingState(call, name, frame)
        case .aggregate(let aggregate, let isDistinct):
            try FrameAggregateState(call, aggregate, isDistinct: isDistinct, execution)
        }
    }

    /// Begins with the first row of a partition.
    func begin() {}

    /// The value for the present row, in the frame's arena.
    func value(_ rows: WindowPartitions) throws(DatabaseError) -> Value { .null }

    /// The number of the first row that is needed for the rows after the present one.
    var oldest: Int { .max }

    /// The whole number that an argument is.
    ///
    /// - Throws: `invalidQuery` where it is none that is at least `least`.
    static func number(
        _ operand: WindowPlan.Operand?, _ call: WindowPlan.Call, least: Int, usually: Int, _ frame: Frame
    ) throws(DatabaseError) -> Int {
        guard case .given(let given)? = operand else { return usually }
        guard let number = given.value(frame).double, number >= Double(least), number == number.rounded()
        else {
            throw DatabaseError(
                .invalidQuery,
                "\(call.function.name)() takes a whole number\(least == .min ? "" : " that is at least \(least)"), and the one given is "
                    + "none. Is its parameter set?")
        }
        return number < Double(Int.max) ? Int(max(number, Double(Int.min))) : .max
    }
}

/// `row_number`, `rank` and what else follows from the place of a row alone.
private final class RankingState: WindowFunctionState {
    private let name: WindowFunction.Name
    /// How many buckets `ntile` has.
    private let buckets: Int

    init(_ call: WindowPlan.Call, _ name: WindowFunction.Name, _ frame: Frame) throws(DatabaseError) {
        self.name = name
        buckets = try WindowFunctionState.number(call.arguments.first, call, least: 1, usually: 1, frame)
        super.init(frame)
    }

    override func value(_ rows: WindowPartitions) throws(DatabaseError) -> Value {
        switch name {
        case .rank: return .integer(Int64(rows.firstPeer + 1))
        case .denseRank: return .integer(Int64(rows.peerGroups))
        case .percentRank:
            let count = try rows.count()
            return .double(count > 1 ? Double(rows.firstPeer) / Double(count - 1) : 0)
        case .cumulativeDistribution:
            return .double(Double(try rows.afterPeers()) / Double(try rows.count()))
        case .ntile:
            let (size, larger) = try rows.count().quotientAndRemainder(dividingBy: buckets)
            // The first buckets have one row more.
            let place = rows.current
            let end = larger * (size + 1)
            let bucket = place < end ? place / (size + 1) : larger + (place - end) / max(size, 1)
            return .integer(Int64(bucket + 1))
        default: return .integer(Int64(rows.current + 1))
        }
    }
}

/// `lag` and `lead`.
private final class NeighbourState: WindowFunctionState {
    private let call: WindowPlan.Call
    private let distance: Int
    private var current = 0

    init(_ call: WindowPlan.Call, _ direction: Int, _ frame: Frame) throws(DatabaseError) {
        self.call = call
        let second = call.arguments.count > 1 ? call.arguments[1] : nil
        let distance = try WindowFunctionState.number(second, call, least: .min, usually: 1, frame)
        self.distance = max(distance, -Int.max) * direction
        super.init(frame)
    }

    override func value(_ rows: WindowPartitions) throws(DatabaseError) -> Value {
        current = rows.current
        let (number, isPast) = current.addingReportingOverflow(distance)
        if !isPast, try rows.has(number) { return try rows.value(call.arguments[0], of: number) }
        return call.arguments.count > 2 ? try rows.value(call.arguments[2], of: current) : .null
    }

    override var oldest: Int { distance < 0 ? max(0, current + 1 + max(distance, -(current + 1))) : .max }
}

/// `first_value`, `last_value` and `nth_value`.
private final class FrameValueState: WindowFunctionState {
    private let call: WindowPlan.Call
    private let bounds: FrameBounds
    /// Which row of the frame it is, from 0; `nil` for the last one.
    private let place: Int?
    /// The value of the row, where all frames begin at the same one.
    private var known: OwnedValue?
    private var row = 0

    init(_ call: WindowPlan.Call, _ frame: Frame) throws(DatabaseError) {
        self.call = call
        bounds = try FrameBounds(call, frame)
        switch call.function {
        case .named(.nthValue):
            place = try WindowFunctionState.number(call.arguments[1], call, least: 1, usually: 1, frame) - 1
        case .named(.lastValue): place = nil
        default: place = 0
        }
        super.init(frame)
    }

    override func begin() {
        bounds.begin()
        (known, row) = (nil, 0)
    }

    override func value(_ rows: WindowPartitions) throws(DatabaseError) -> Value {
        let range = try bounds.range(rows)
        guard let place else {
            row = max(0, range.upperBound - 1)
            return range.isEmpty ? .null : try rows.value(call.arguments[0], of: row)
        }
        row = bounds.isGrowing ? place : range.lowerBound
        guard place < range.count else { return .null }
        if let known { return known.value(in: frame.arena) }
        let value = try rows.value(call.arguments[0], of: range.lowerBound + place)
        if bounds.isGrowing { known = OwnedValue(value) }
        return value
    }

    override var oldest: Int { min(bounds.oldest, known == nil ? row : .max) }
}

/// An aggregate of the rows of a frame.
private final class FrameAggregateState: WindowFunctionState {
    private let argument: WindowPlan.Operand?
    private let accumulator: Accumulator
    private let bounds: FrameBounds
    private let budget: MemoryBudget
    /// Whether what it comes to is as long as the frame, so that adding it up again takes no longer than making it.
    private let isList: Bool
    /// What was gathered of the rows that a frame that only grows has, or of the later rows of one that moves.
    private var total = Accumulated()
    /// What comes of the rows from each of the earlier ones of a moving frame on, up to the first that is gathered in ``total``: the
    /// frame's first row last. So a row is taken out of a frame without anything being subtracted.
    private var suffixes: [Accumulated] = []
    /// The rows that are gathered.
    private var gathered = 0..<0
    private var taken = 0
    /// The last frame, and what came of it.
    private var last: (range: Range<Int>, value: OwnedValue)?

    init(
        _ call: WindowPlan.Call, _ aggregate: Aggregate, isDistinct: Bool, _ execution: Execution
    ) throws(DatabaseError) {
        argument = call.arguments.first
        accumulator = Accumulator(
            kind: .aggregate(aggregate, isDistinct: isDistinct), collation: call.collation)
        bounds = try FrameBounds(call, execution.frame)
        budget = execution.budget
        switch aggregate {
        case .arrayAggregate, .joined: isList = true
        default: isList = false
        }
        super.init(execution.frame)
    }

    deinit { budget.giveBack(taken) }

    override func begin() {
        bounds.begin()
        last = nil
        forget(from: 0)
    }

    private func forget(from row: Int) {
        (total, suffixes, gathered) = (Accumulated(), [], row..<row)
        budget.giveBack(taken)
        taken = 0
    }

    override func value(_ rows: WindowPartitions) throws(DatabaseError) -> Value {
        let range = try bounds.range(rows)
        if let last, last.range == range { return last.value.value(in: frame.arena) }
        if !bounds.isGrowing, isList || range.lowerBound >= gathered.upperBound {
            forget(from: range.lowerBound)
        }
        for row in gathered.upperBound..<max(range.upperBound, gathered.upperBound) {
            try add(row, rows, to: &total)
        }
        gathered = gathered.lowerBound..<max(range.upperBound, gathered.upperBound)
        var result = total
        if !bounds.isGrowing, !isList { result = try moved(to: range.lowerBound, rows) }
        let value = result.result(accumulator, frame)
        last = (range, OwnedValue(value))
        return value
    }

    /// What comes of the rows that are gathered, from `start` on.
    private func moved(to start: Int, _ rows: WindowPartitions) throws(DatabaseError) -> Accumulated {
        let passed = start - gathered.lowerBound
        gathered = start..<gathered.upperBound
        suffixes.removeLast(min(passed, suffixes.count))
        if passed > 0, suffixes.isEmpty {
            // All that is left is gathered again, from the last row to the first.
            budget.giveBack(taken)
            taken = gathered.count * Self.suffixSize
            try budget.take(taken)
            for row in gathered.reversed() {
                let mark = frame.arena.mark
                defer { frame.arena.release(to: mark) }
                var suffix = Accumulated()
                try add(row, rows, to: &suffix)
                if let later = suffixes.last { suffix.take(later, accumulator, frame) }
                suffixes.append(suffix)
            }
            total = Accumulated()
        }
        guard var result = suffixes.last else { return total }
        result.take(total, accumulator, frame)
        return result
    }

    private static let suffixSize = MemoryLayout<Accumulated>.stride + 96

    private func add(
        _ row: Int, _ rows: WindowPartitions, to accumulated: inout Accumulated
    ) throws(DatabaseError) {
        guard let argument else { return accumulated.countRow() }
        let mark = frame.arena.mark
        defer { frame.arena.release(to: mark) }
        let size = try accumulated.take(try rows.value(argument, of: row), accumulator, frame) {
            (_) throws(DatabaseError) in false
        }
        taken += size
        if size != 0 { try budget.take(size) }
    }

    override var oldest: Int {
        min(bounds.oldest, bounds.isGrowing ? gathered.upperBound : gathered.lowerBound)
    }
}

// MARK: - Frames

/// The frames of the rows of a partition, one after the other: neither end ever goes back.
final class FrameBounds {
    private let start: Edge
    private let end: Edge
    private let order: (operand: WindowPlan.Operand, collation: Collation, isDescending: Bool)?
    /// The first row that a frame of values may begin, or end before.
    private var (first, behind) = (0, 0)

    private enum Edge {
        /// An end of the partition.
        case partition
        case peers
        /// A row at a distance.
        case row(Int)
        /// The value of the present row, and a number more or less.
        case value(Value, isPreceding: Bool)
    }

    init(_ call: WindowPlan.Call, _ frame: Frame) throws(DatabaseError) {
        start = try Self.edge(call.frame.start, call, frame)
        end = try Self.edge(call.frame.end, call, frame)
        order = call.order
    }

    private static func edge(
        _ bound: WindowFrame<WindowPlan.Operand>.Bound, _ call: WindowPlan.Call, _ frame: Frame
    ) throws(DatabaseError) -> Edge {
        switch bound {
        case .unboundedPreceding, .unboundedFollowing: return .partition
        case .currentRow: return call.frame.unit == .rows ? .row(0) : .peers
        case .preceding(let operand), .following(let operand):
            let isPreceding = if case .preceding = bound { true } else { false }
            guard call.frame.unit == .range else {
                let distance = try WindowFunctionState.number(operand, call, least: 0, usually: 0, frame)
                return .row(isPreceding ? -distance : distance)
            }
            guard case .given(let given) = operand, let number = given.value(frame).double, number >= 0 else {
                throw DatabaseError(
                    .invalidQuery,
                    "The bound of a frame is a number that is not negative, and the one given is none. Is its parameter set?"
                )
            }
            let value = given.value(frame)
            return .value(
                value.wholeNumber.map(Value.integer) ?? .double(number), isPreceding: isPreceding)
        }
    }

    /// Whether all frames begin with the first row.
    var isGrowing: Bool { if case .partition = start { true } else { false } }

    func begin() { (first, behind) = (0, 0) }

    /// The numbers of the rows in the frame of the present row.
    func range(_ rows: WindowPartitions) throws(DatabaseError) -> Range<Int> {
        let upper: Int
        switch end {
        case .partition: upper = try rows.count()
        case .peers: upper = try rows.afterPeers()
        case .row(let distance):
            let (number, isPast) = rows.current.addingReportingOverflow(distance)
            let isThere = isPast ? false : try rows.has(number)
            if isThere {
                upper = number + 1
            } else {
                upper = distance < 0 ? 0 : try rows.count()
            }
        case .value(let offset, let isPreceding):
            if let number = try bound(offset, isPreceding, rows, from: &behind, isEnd: true) {
                upper = number
            } else {
                upper = try rows.afterPeers()
            }
        }
        let lower: Int
        switch start {
        case .partition: lower = 0
        case .peers: lower = rows.firstPeer
        case .row(let distance):
            let (number, isPast) = rows.current.addingReportingOverflow(distance)
            lower = isPast ? upper : max(0, number)
        case .value(let offset, let isPreceding):
            let number = try bound(offset, isPreceding, rows, from: &first, isEnd: false)
            lower = number ?? rows.firstPeer
        }
        return min(lower, upper)..<upper
    }

    /// The number of the first row that is in a frame of values, or behind it; `nil` where the present row has no number, and its frame
    /// ends with its peers.
    private func bound(
        _ offset: Value, _ isPreceding: Bool, _ rows: WindowPartitions, from row: inout Int, isEnd: Bool
    ) throws(DatabaseError) -> Int? {
        guard let order else { return nil }
        let present = try rows.value(order.operand, of: rows.current).computable
        guard present.double != nil else {
            if isEnd { row = try rows.afterPeers() } else { row = rows.firstPeer }
            return nil
        }
        let limit =
            isPreceding != order.isDescending
            ? Arithmetics.subtract(present, offset) : Arithmetics.add(present, offset)
        while try rows.has(row) {
            var isBefore = false
            try rows.take(order.operand, of: row) { (value) throws(DatabaseError) in
                // Rows without a number are before or behind all that have one.
                guard value.double != nil else { return isBefore = row < rows.current }
                let comparison = value.computable.compare(limit, order.collation)
                let distance = order.isDescending ? -comparison : comparison
                isBefore = isEnd ? distance <= 0 : distance < 0
            }
            guard isBefore else { break }
            row += 1
        }
        return row
    }

    /// The first row that is needed for later frames.
    var oldest: Int {
        var oldest = Int.max
        if case .value = start { oldest = min(oldest, first) }
        if case .value = end { oldest = min(oldest, behind) }
        return oldest
    }
}
