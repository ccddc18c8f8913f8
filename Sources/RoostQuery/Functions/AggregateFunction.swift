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
