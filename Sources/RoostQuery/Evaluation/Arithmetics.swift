/// The operators on numbers: of integers an integer, unless it doesn't fit; null for what is no number or not finite.
enum Arithmetics {
    /// Operators that are applied to `first` one after the other.
    static func evaluation(
        _ first: @escaping Evaluation, _ operations: [(Arithmetic, Evaluation)]
    ) -> Evaluation {
        if operations.count == 1 { return evaluation(operations[0].0, first, operations[0].1) }
        return { frame in
            var value = first(frame)
            for (operation, operand) in operations {
                let operand = operand(frame)
                value =
                    switch operation {
                    case .add: add(value, operand)
                    case .subtract: subtract(value, operand)
                    case .multiply: multiply(value, operand)
                    case .divide: divide(value, operand)
                    case .remainder: remainder(value, operand)
                    }
            }
            return value
        }
    }

    private static func evaluation(
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

    /// What an operation yields where the result doesn't fit, or one of the two is no `Int64`.
    @inline(never)
    private static func mixed(
        _ left: Value, _ right: Value, _ whole: (Int128, Int128) -> Int128?,
        _ double: (Double, Double) -> Double
    ) -> Value {
        if let a = left.whole, let b = right.whole, let result = whole(a, b) { return .whole(result) }
        guard let a = left.double, let b = right.double else {
            return left.isMissing || right.isMissing ? .missing : .null
        }
        return .number(double(a, b))
    }

    @inline(__always)
    static func add(_ left: Value, _ right: Value) -> Value {
        if case .integer(let a) = left, case .integer(let b) = right {
            let (sum, isPast) = a.addingReportingOverflow(b)
            if !isPast { return .integer(sum) }
        }
        return mixed(left, right, { $0 + $1 }, +)
    }

    @inline(__always)
    static func subtract(_ left: Value, _ right: Value) -> Value {
        if case .integer(let a) = left, case .integer(let b) = right {
            let (difference, isPast) = a.subtractingReportingOverflow(b)
            if !isPast { return .integer(difference) }
        }
        return mixed(left, right, { $0 - $1 }, -)
    }

    @inline(__always)
    static func multiply(_ left: Value, _ right: Value) -> Value {
        if case .integer(let a) = left, case .integer(let b) = right {
            let (product, isPast) = a.multipliedReportingOverflow(by: b)
            if !isPast { return .integer(product) }
        }
        return mixed(left, right, product, *)
    }

    private static func product(_ a: Int128, _ b: Int128) -> Int128? {
        let (product, isPast) = a.multipliedReportingOverflow(by: b)
        return isPast ? nil : product
    }

    /// Of two integers the quotient without its fraction; null for a divisor of 0.
    static func divide(_ left: Value, _ right: Value) -> Value {
        if case .integer(let a) = left, case .integer(let b) = right, b > 0 { return .integer(a / b) }
        // Floating point makes infinity of a divisor of 0, and so null.
        return mixed(left, right, { $1 == 0 ? nil : $0 / $1 }, /)
    }

    /// The remainder with the sign of the dividend; null for a divisor of 0.
    static func remainder(_ left: Value, _ right: Value) -> Value {
        if case .integer(let a) = left, case .integer(let b) = right, b > 0 { return .integer(a % b) }
        return mixed(left, right, { $1 == 0 ? nil : $0 % $1 }) { $0.truncatingRemainder(dividingBy: $1) }
    }

    static func negative(_ value: @escaping Evaluation) -> Evaluation {
        { subtract(.integer(0), value($0)) }
    }
}
