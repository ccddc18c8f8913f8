import Foundation
import Roost

/// A function of many rows.
enum Aggregate: Hashable, Sendable {
    case count, sum, avg, min, max
    case arrayAggregate
    /// How far numbers are from their average.
    case spread(Spread)
    /// The number that a fraction of all numbers is at most; between two numbers where it is interpolated.
    case percentile(Double, isInterpolated: Bool)
    /// Texts one after the other.
    case joined(separator: String)

    /// A measure of how far numbers are from their average.
    struct Spread: Hashable, Sendable {
        /// Whether the numbers are all that there are, and not a sample.
        let isOfPopulation: Bool
        /// Whether the square root is taken.
        let isDeviation: Bool
    }

    /// What an aggregate is called.
    enum Name: String, Hashable, Sendable, CaseIterable {
        case count, sum, avg, min, max, median
        case percentileCont = "percentile_cont", percentileDisc = "percentile_disc"
        case standardDeviation = "stddev_samp", populationDeviation = "stddev_pop"
        case variance = "var_samp", populationVariance = "var_pop"
        case joined = "group_concat"
        case arrayAggregate = "array_agg"
    }

    /// The name that it is shown by.
    var name: Name {
        switch self {
        case .count: .count
        case .sum: .sum
        case .avg: .avg
        case .min: .min
        case .max: .max
        case .arrayAggregate: .arrayAggregate
        case .spread(let spread):
            switch (spread.isDeviation, spread.isOfPopulation) {
            case (true, false): .standardDeviation
            case (true, true): .populationDeviation
            case (false, false): .variance
            case (false, true): .populationVariance
            }
        case .percentile(_, let isInterpolated): isInterpolated ? .percentileCont : .percentileDisc
        case .joined: .joined
        }
    }

    /// Its arguments beside the value, as a query has them.
    var optionsText: String {
        switch self {
        case .percentile(let fraction, _): ", \(fraction)"
        case .joined(let separator): ", " + Expression.literal(.string(separator)).sqlText
        default: ""
        }
    }

    /// - Parameter options: the arguments beside the value, of which there may be as many as the table of functions says.
    /// - Throws: when they are no constants, or not what the aggregate takes.
    init(_ name: Name, _ options: [Expression]) throws(QueryError) {
        switch name {
        case .count: self = .count
        case .sum: self = .sum
        case .avg: self = .avg
        case .min: self = .min
        case .max: self = .max
        case .arrayAggregate: self = .arrayAggregate
        case .standardDeviation: self = .spread(Spread(isOfPopulation: false, isDeviation: true))
        case .populationDeviation: self = .spread(Spread(isOfPopulation: true, isDeviation: true))
        case .variance: self = .spread(Spread(isOfPopulation: false, isDeviation: false))
        case .populationVariance: self = .spread(Spread(isOfPopulation: true, isDeviation: false))
        case .median: self = .percentile(0.5, isInterpolated: true)
        case .percentileCont, .percentileDisc:
            guard case .literal(let value)? = options.first, let fraction = value.double, 0...1 ~= fraction
            else {
                throw QueryError(
                    "\(name.rawValue)() takes a value and a fraction, which is a number from 0 to 1")
            }
            self = .percentile(fraction, isInterpolated: name == .percentileCont)
        case .joined:
            guard let option = options.first else {
                self = .joined(separator: ",")
                return
            }
            guard case .literal(.string(let separator)) = option else {
                throw QueryError(
                    "group_concat() takes a value and a separator, which is a text in quotation marks")
            }
            self = .joined(separator: separator)
        }
    }
}

extension Expression {
    /// A call of a function or an aggregate by one of its names.
    ///
    /// - Throws: when there is no function of that name, or it takes other arguments.
    static func call(
        named name: String, _ arguments: [Expression], isDistinct: Bool = false, at place: Place = .unknown
    ) throws(QueryError) -> Expression {
        guard let entry = FunctionTable.entry(named: name) else {
            throw QueryError(FunctionTable.unknown(name))
        }
        if !entry.target.isForm,
            let problem = FunctionTable.problem(of: entry, withArguments: arguments.count)
        {
            throw QueryError(problem)
        }
        if isDistinct, entry.topic != .aggregates {
            throw QueryError("\(entry.name)() is no aggregate, and takes no DISTINCT")
        }
        switch entry.target {
        case .function(let function): return .call(function, arguments)
        case .part(let field):
            return .call(.datePart, [.literal(.string(field.rawValue))] + arguments)
        case .aggregate(let name):
            let aggregate = try Aggregate(name, Array(arguments.dropFirst()))
            if case .percentile = aggregate, isDistinct {
                throw QueryError("\(entry.name)() takes no DISTINCT")
            }
            guard !isDistinct || !arguments.isEmpty else {
                throw QueryError("\(entry.name)(DISTINCT …) takes a value")
            }
            return .aggregate(aggregate, arguments.first, isDistinct: isDistinct, place)
        case .window: throw QueryError("\(name)() is a window function, and can't be called without OVER")
        case .form: throw QueryError("\(name)() can't be called so: write \(entry.usage)")
        }
    }
}

// MARK: - Spread

/// Adds up how far numbers are from their average, in one pass (B. P. Welford, 1962; T. F. Chan, G. H. Golub and R. J. LeVeque,
/// 1979, for sums of two parts).
struct SpreadSum {
    private var count = 0.0
    private var mean = 0.0
    /// The sum of the squares of the distances to the average.
    private var squares = 0.0

    /// Adds a value, if it is a number.
    mutating func add(_ value: Value) {
        guard let number = value.double else { return }
        count += 1
        let distance = number - mean
        mean += distance / count
        squares += distance * (number - mean)
    }

    mutating func add(_ other: Self) {
        let total = count + other.count
        guard total > 0 else { return }
        let distance = other.mean - mean
        squares += other.squares + distance * distance * count * other.count / total
        mean += distance * other.count / total
        count = total
    }

    /// The measure; null of too few numbers.
    func result(_ measure: Aggregate.Spread) -> Value {
        let divisor = measure.isOfPopulation ? count : count - 1
        guard divisor > 0 else { return .null }
        let variance = squares / divisor
        return .number(measure.isDeviation ? variance.squareRoot() : variance)
    }
}

/// Finds the number at a place in the order of numbers of which some are in memory, and the others come in their order.
struct PercentileSearch {
    /// How many numbers there are, those included that are not in memory.
    var count = 0
    private var kept: [Value] = []
    /// How many numbers were met in their order, and how many of these in memory.
    private var met = 0
    private var metKept = 0
    private var found: (lower: Value, upper: Value) = (.null, .null)

    /// Keeps a number in memory; answers about how many bytes that takes.
    mutating func keep(_ value: Value) -> Int {
        kept.append(value.computable)
        return MemoryLayout<Value>.stride
    }

    /// Meets the next of the numbers that are not in memory; all of them were counted.
    mutating func meet(_ value: Value, at fraction: Double, _ isInterpolated: Bool) {
        meetKept(before: value, at: fraction, isInterpolated)
        note(value, at: fraction, isInterpolated)
    }

    /// The number at a fraction of the way from the least to the greatest; null of none.
    func result(at fraction: Double, _ isInterpolated: Bool) -> Value {
        guard count > 0 else { return .null }
        var search = self
        search.meetKept(before: nil, at: fraction, isInterpolated)
        guard isInterpolated else { return search.found.lower }
        guard let lower = search.found.lower.double, let upper = search.found.upper.double else {
            return .null
        }
        let place = fraction * Double(count - 1)
        let part = place - place.rounded(.down)
        return .number(lower * (1 - part) + upper * part)
    }

    private mutating func meetKept(before limit: Value?, at fraction: Double, _ isInterpolated: Bool) {
        if met == 0 { kept.sort { $0.compare($1, .binary) < 0 } }
        while metKept < kept.count, limit.map({ kept[metKept].compare($0, .binary) <= 0 }) ?? true {
            metKept += 1
            note(kept[metKept - 1], at: fraction, isInterpolated)
        }
    }

    private mutating func note(_ value: Value, at fraction: Double, _ isInterpolated: Bool) {
        let place =
            isInterpolated ? fraction * Double(count - 1) : (fraction * Double(count)).rounded(.up) - 1
        if met == Int(max(place, 0)) { found.lower = value }
        if met == Int(place.rounded(.up)) { found.upper = value }
        met += 1
    }
}
