/// The operators on numbers: of integers an integer, unless it doesn't fit; null for what is no number or not finite.
enum Arithmetics {
    static func evaluation(
        _ operation: Arithmetic, _ left: @escaping Evaluation, _ right: @escaping Evaluation
    ) -> Evaluation {
        switch operation {
        case .add: { add(left($0), right($0)) }
        case .subtract: { subtract(left($0), right($0)) }
        case .multiply: { multiply(left($0), right($0)) }
        case .divide: { divide(left($0), right($0)) }
        case .remainder: { remainder(left($0), right($0)) }
        }
    }

    /// What an operation on something else than two integers yields.
    @inline(__always)
    private static func mixed(_ left: Value, _ right: Value, _ operation: (Double, Double) -> Double) -> Value
    {
        guard let a = left.double, let b = right.double else {
            return left.isMissing || right.isMissing ? .missing : .null
        }
        return .number(operation(a, b))
    }

    @inline(__always)
    static func add(_ left: Value, _ right: Value) -> Value {
        if case .integer(let a) = left, case .integer(let b) = right {
            let (sum, isPast) = a.addingReportingOverflow(b)
            return isPast ? .double(Double(a) + Double(b)) : .integer(sum)
        }
        return mixed(left, right, +)
    }

    @inline(__always)
    static func subtract(_ left: Value, _ right: Value) -> Value {
        if case .integer(let a) = left, case .integer(let b) = right {
            let (difference, isPast) = a.subtractingReportingOverflow(b)
            return isPast ? .double(Double(a) - Double(b)) : .integer(difference)
        }
        return mixed(left, right, -)
    }

    @inline(__always)
    static func multiply(_ left: Value, _ right: Value) -> Value {
        if case .integer(let a) = left, case .integer(let b) = right {
            let (product, isPast) = a.multipliedReportingOverflow(by: b)
            return isPast ? .double(Double(a) * Double(b)) : .integer(product)
        }
        return mixed(left, right, *)
    }

    /// Of two integers the quotient without its fraction; null for a divisor of 0.
    static func divide(_ left: Value, _ right: Value) -> Value {
        if case .integer(let a) = left, case .integer(let b) = right {
            guard b != 0 else { return .null }
            let (quotient, isPast) = a.dividedReportingOverflow(by: b)
            return isPast ? .double(-Double(a)) : .integer(quotient)
        }
        return mixed(left, right, /)
    }

    /// The remainder with the sign of the dividend; null for a divisor of 0.
    static func remainder(_ left: Value, _ right: Value) -> Value {
        if case .integer(let a) = left, case .integer(let b) = right {
            guard b != 0 else { return .null }
            return .integer(b == -1 ? 0 : a % b)
        }
        return mixed(left, right) { $0.truncatingRemainder(dividingBy: $1) }
    }

    static func negative(_ value: @escaping Evaluation) -> Evaluation {
        { subtract(.integer(0), value($0)) }
    }
}
