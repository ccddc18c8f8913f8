import RoostBytes
import RoostOrder

/// The operators that compare.
enum Comparisons {
    /// Missing where a side is missing, else null where one is null, else whether it holds.
    @inline(__always)
    static func compare(_ left: Value, _ right: Value, _ comparison: Comparison, _ collation: Collation)
        -> Value
    {
        guard left.isValued, right.isValued else {
            return left.isMissing || right.isMissing ? .missing : .null
        }
        return .bool(comparison.holds(left.compare(right, collation)))
    }

    /// CouchDB's comparison: of values of all kinds, and false of what is missing.
    static func collated(
        _ comparison: Comparison, _ left: @escaping Evaluation, _ right: @escaping Evaluation,
        _ collation: Collation
    ) -> Evaluation {
        { frame in
            let (left, right) = (left(frame), right(frame))
            guard !left.isMissing, !right.isMissing else { return .bool(false) }
            return .bool(comparison.holds(left.compare(right, collation)))
        }
    }

    /// IS: null and missing are equal to themselves only.
    static func identity(
        _ left: @escaping Evaluation, _ right: @escaping Evaluation, _ collation: Collation, _ isNegated: Bool
    ) -> Evaluation {
        { frame in
            let (left, right) = (left(frame), right(frame))
            let isSame = left.rank == right.rank && left.compare(right, collation) == 0
            return .bool(isSame != isNegated)
        }
    }

    static func test(_ value: @escaping Evaluation, _ test: ValueTest, _ isNegated: Bool) -> Evaluation {
        switch test {
        // What is missing is no value either, and IS NOT NULL asks for one.
        case .null where isNegated: { .bool(value($0).isValued) }
        case .null: { .bool(value($0).isNull) }
        case .missing: { .bool(value($0).isMissing != isNegated) }
        case .valued: { .bool(value($0).isValued != isNegated) }
        }
    }

    static func membership(_ value: Value, _ list: Value, _ collation: Collation, _ isNegated: Bool) -> Value
    {
        guard !value.isMissing, !list.isMissing else { return .missing }
        guard !value.isNull, let elements = list.arrayElements else { return .null }
        return .bool(contains(elements, value, collation) != isNegated)
    }

    /// Whether one of the elements is equal to `value`. Of many, it is not looked for any more once the task is cancelled, which whoever
    /// reads rows sees then.
    static func contains(_ elements: Value.Elements, _ value: Value, _ collation: Collation) -> Bool {
        var untilCheck = checkInterval
        for element in elements {
            if element.rank == value.rank, element.compare(value, collation) == 0 { return true }
            untilCheck -= 1
            guard untilCheck == 0 else { continue }
            if Task.isCancelled { return false }
            untilCheck = checkInterval
        }
        return false
    }

    private static let checkInterval = 4096
}

/// AND, OR and NOT with four truth values: true, false, null and missing.
enum Logic {
    /// A value as a truth value: numbers are false when they are 0, everything else that is no truth value is false.
    @inline(__always)
    private static func truth(_ value: Value) -> Value {
        switch value {
        case .bool, .null, .missing: value
        case .integer(let number): .bool(number != 0)
        case .unsigned: .bool(true)
        case .double(let number): .bool(number != 0)
        case .decimal: .bool(value.double != 0)
        default: .bool(false)
        }
    }

    /// False wins, then missing, then null.
    static func all(_ parts: [Evaluation]) -> Evaluation {
        if parts.count == 2 {
            let (first, second) = (parts[0], parts[1])
            return { frame in
                let left = truth(first(frame))
                if case .bool(false) = left { return left }
                let right = truth(second(frame))
                if case .bool(true) = left { return right }
                if case .bool(false) = right { return right }
                return left.isMissing || right.isMissing ? .missing : .null
            }
        }
        return { frame in
            var result = Value.bool(true)
            for part in parts {
                switch truth(part(frame)) {
                case .bool(false): return .bool(false)
                case .missing: result = .missing
                case .null: if !result.isMissing { result = .null }
                default: break
                }
            }
            return result
        }
    }

    /// True wins, then null, then missing.
    static func any(_ parts: [Evaluation]) -> Evaluation {
        { frame in
            var result = Value.bool(false)
            for part in parts {
                switch truth(part(frame)) {
                case .bool(true): return .bool(true)
                case .null: result = .null
                case .missing: if !result.isNull { result = .missing }
                default: break
                }
            }
            return result
        }
    }

    static func not(_ value: @escaping Evaluation) -> Evaluation {
        { frame in
            let result = truth(value(frame))
            if case .bool(let value) = result { return .bool(!value) }
            return result
        }
    }

    /// Whether a condition holds, as WHERE, HAVING, ON, WHEN and SATISFIES ask: true, or a number other than 0.
    @inline(__always)
    static func holds(_ value: Value) -> Bool { truth(value).isTrue }
}
