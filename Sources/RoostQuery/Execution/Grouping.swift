import Roost
import RoostOrder

/// What is computed of the rows of each group: the values that rows of a group share, aggregates, and what else is asked of a
/// group, which its first row answers.
///
/// Filled while a query is compiled.
final class Grouping {
    /// The sources whose rows are grouped.
    let sources: Set<Int>
    /// The expressions of GROUP BY and their places among the aggregates of a frame.
    private var keySlots: [Expression: Int] = [:]
    private(set) var keys: [Key] = []
    private(set) var accumulators: [Accumulator] = []

    /// An expression of GROUP BY.
    struct Key: Sendable {
        let expression: Expression
        let value: Evaluation
        let collation: Collation
        let slot: Int
    }

    /// What is gathered over the rows of a group.
    struct Accumulator: Sendable {
        let gathering: Gathering
        /// What an aggregate is of; `nil` for the number of rows.
        let expression: Expression?
        /// `nil` for the number of rows.
        let value: Evaluation?
        let slot: Int
    }

    init(sources: Set<Int>) { self.sources = sources }

    func addKey(
        _ expression: Expression, _ value: @escaping Evaluation, _ collation: Collation, _ compiler: Compiler
    ) {
        let slot = compiler.program.addAggregate()
        keys.append(Key(expression: expression, value: value, collation: collation, slot: slot))
        keySlots[expression] = slot
    }

    /// The place of an expression of GROUP BY.
    func slot(of expression: Expression) -> Int? { keySlots.isEmpty ? nil : keySlots[expression] }

    /// The place of an aggregate.
    func add(
        _ aggregate: Aggregate, _ value: Expression?, _ isDistinct: Bool, _ compiler: Compiler
    ) throws(QueryError) -> Int {
        let saved = compiler.grouping
        compiler.grouping = nil
        defer { compiler.grouping = saved }
        let evaluation = try value.map { (value) throws(QueryError) in try compiler.compile(value) }
        let collation = try value.map { (value) throws(QueryError) in try compiler.collation(of: value) }
        return add(
            .aggregate(aggregate, isDistinct: isDistinct), value, evaluation, collation ?? .binary, compiler)
    }

    func addFirst(_ value: @escaping Evaluation, _ compiler: Compiler) -> Int {
        add(.first, nil, value, .binary, compiler)
    }

    private func add(
        _ kind: Gathering.Kind, _ expression: Expression?, _ value: Evaluation?, _ collation: Collation,
        _ compiler: Compiler
    ) -> Int {
        let slot = compiler.program.addAggregate()
        accumulators.append(
            Accumulator(
                gathering: Gathering(kind: kind, collation: collation), expression: expression, value: value,
                slot: slot))
        return slot
    }
}

/// How the values of rows are put together.
struct Gathering: Sendable {
    enum Kind: Sendable {
        case aggregate(Aggregate, isDistinct: Bool)
        /// The value for the first row.
        case first
    }

    let kind: Kind
    let collation: Collation

    /// Whether what was gathered of some rows can be added to what was gathered of others.
    var isAdditive: Bool {
        if case .aggregate(let aggregate, isDistinct: true) = kind {
            aggregate == .min || aggregate == .max
        } else {
            true
        }
    }
}

/// What was gathered so far for one accumulator of one group.
struct Accumulated {
    private var count = 0
    private var sum = NumberSum()
    private var best: OwnedValue?
    private var list: [OwnedValue] = []
    private var seen: Set<[UInt8]> = []

    /// Takes a row whose values don't matter.
    mutating func countRow() { count += 1 }

    /// Takes the value of a row; answers about how many bytes of memory that took.
    ///
    /// - Parameter putAside: takes the key of a value that is wanted only once, if it isn't to be kept in memory.
    mutating func take(
        _ value: Value, _ gathering: Gathering, _ frame: Frame,
        putAside: (_ key: [UInt8]) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) -> Int {
        switch gathering.kind {
        case .first:
            guard best == nil else { return 0 }
            let value = OwnedValue(value)
            best = value
            return value.size
        case .aggregate(let aggregate, let isDistinct):
            guard !value.isMissing, aggregate == .arrayAggregate || !value.isNull else { return 0 }
            var size = 0
            // The least of the different values is the least of all.
            if isDistinct, aggregate != .min, aggregate != .max {
                let encoder = KeyEncoder(gathering.collation)
                encoder.append(value)
                let key = encoder.key
                guard !seen.contains(key), try !putAside(key) else { return 0 }
                seen.insert(key)
                size = key.count + 32
            }
            return size + take(aggregate, value, gathering.collation, frame)
        }
    }

    /// Takes what was gathered of later rows of the group, without DISTINCT.
    mutating func take(_ later: Accumulated, _ gathering: Gathering, _ frame: Frame) {
        count += later.count
        list += later.list
        switch gathering.kind {
        case .first: best = best ?? later.best
        case .aggregate(.sum, _), .aggregate(.avg, _): sum.add(later.sum)
        case .aggregate(let aggregate, _):
            guard aggregate == .min || aggregate == .max, let value = later.best else { return }
            _ = take(aggregate, value.value(in: frame.arena), gathering.collation, frame)
        }
    }

    /// Takes a value that was put aside and no other row had.
    mutating func takePutAside(
        _ value: Value, _ gathering: Gathering, _ frame: Frame
    ) -> Int {
        guard case .aggregate(let aggregate, _) = gathering.kind else { return 0 }
        return take(aggregate, value, gathering.collation, frame)
    }

    private mutating func take(
        _ aggregate: Aggregate, _ value: Value, _ collation: Collation, _ frame: Frame
    ) -> Int {
        switch aggregate {
        case .count: count += 1
        case .sum, .avg: sum.add(value)
        case .min, .max:
            let order = best.map { value.compare($0.value(in: frame.arena), collation) }
            guard order.map({ aggregate == .min ? $0 < 0 : $0 > 0 }) ?? true else { return 0 }
            let owned = OwnedValue(value)
            let known = best?.size ?? 0
            best = owned
            return owned.size - known
        case .arrayAggregate:
            let owned = OwnedValue(value)
            list.append(owned)
            return owned.size
        }
        return 0
    }

    /// What the accumulator comes to.
    func result(_ gathering: Gathering, _ frame: Frame) -> Value {
        switch gathering.kind {
        case .first: return best?.value(in: frame.arena) ?? .missing
        case .aggregate(.count, _): return .integer(Int64(count))
        case .aggregate(.sum, _): return sum.totalOfAny
        case .aggregate(.avg, _): return sum.average
        case .aggregate(.min, _), .aggregate(.max, _): return best?.value(in: frame.arena) ?? .null
        case .aggregate(.arrayAggregate, _):
            return list.isEmpty ? .null : frame.array(list.map { $0.value(in: frame.arena) })
        }
    }
}
