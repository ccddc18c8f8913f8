import Roost
import RoostOrder

extension Compiler {
    func call(
        _ function: Function, _ arguments: [BoundExpression], _ collation: Collation
    ) throws(QueryError) -> Evaluation {
        if function == .blob { return try blob(arguments[0]) }
        if let pattern = try patternCall(function, arguments) { return pattern }
        let values = try compile(arguments)
        return Conditionals.evaluation(function, values, collation) ?? Arrays.evaluation(
            function, values, collation)
            ?? Numbers.evaluation(function, values) ?? Strings.evaluation(function, values, collation)
            ?? Kinds.evaluation(function, values) ?? Dates.evaluation(function, values)
            ?? Selectors.evaluation(function, values, collation)
    }

    /// A call with a regular expression, which is compiled once where it is a constant.
    private func patternCall(_ function: Function, _ arguments: [BoundExpression]) throws(QueryError)
        -> Evaluation?
    {
        guard [.regexpContains, .regexpLike, .regexpPosition, .regexpReplace, .matches].contains(function)
        else {
            return nil
        }
        var constant: RegularExpression?
        if case .literal(.string(let text)) = arguments[1] { constant = try RegularExpression(text) }
        let values = try compile(arguments)
        return Patterns.evaluation(function, values, constant)
    }

    /// The content of the blob that a property names, as data.
    private func blob(_ argument: BoundExpression) throws(QueryError) -> Evaluation {
        let value = try compile(argument)
        return { frame in
            guard case .dictionary(let node) = value(frame) else { return .missing }
            return frame.reader?.blob(named: node, frame) ?? .missing
        }
    }
}

/// How most functions treat what is not there.
enum Arguments {
    /// Missing if one of the values is missing, else null if one is null; `nil` when all are there.
    @inline(__always)
    static func absent(_ values: Value...) -> Value? {
        if values.contains(where: \.isMissing) { return .missing }
        return values.contains(where: \.isNull) ? .null : nil
    }

    /// A function of one value that is there.
    static func one(_ value: @escaping Evaluation, _ body: @escaping @Sendable (Value, Frame) -> Value)
        -> Evaluation
    {
        { frame in
            let value = value(frame)
            return value.isValued ? body(value, frame) : value
        }
    }

    /// A function of two values that are there.
    static func two(
        _ values: [Evaluation], _ body: @escaping @Sendable (Value, Value, Frame) -> Value
    ) -> Evaluation {
        let (first, second) = (values[0], values[1])
        return { frame in
            let (a, b) = (first(frame), second(frame))
            guard a.isValued, b.isValued else { return a.isMissing || b.isMissing ? .missing : .null }
            return body(a, b, frame)
        }
    }
}
