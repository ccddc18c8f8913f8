import Foundation

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
