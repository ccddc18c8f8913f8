import Roost

extension JSONQueryParser {
    mutating func expression(_ value: DocumentValue) throws(QueryError) -> Expression {
        try nested { (parser) throws(QueryError) in
            switch value {
            case .dictionary(let members):
                var pairs: [Expression.Pair] = []
                for (name, value) in members {
                    pairs.append(Expression.Pair(name: name, value: try parser.expression(value)))
                }
                return .dictionary(pairs)
            case .array(let items): return try parser.operation(items)
            default: return .literal(value)
            }
        }
    }

    private mutating func operation(_ items: [DocumentValue]) throws(QueryError) -> Expression {
        guard let name = items.first?.string else {
            throw QueryError(
                "An expression is an array that begins with the name of its operator as a string")
        }
        let operands = Array(items.dropFirst())
        if let property = try property(name, operands) { return property }
        if name.hasSuffix("()") { return try call(String(name.dropLast(2)), operands) }
        let upper = name.uppercased()
        if let comparison = Self.comparisons[upper] {
            let (left, right) = try pair(operands, upper)
            return .comparison(comparison, left, right)
        }
        if let arithmetic = Arithmetic(rawValue: upper) { return try self.arithmetic(arithmetic, operands) }
        return try word(upper, operands)
    }

    private static let comparisons: [String: Comparison] = [
        "=": .equal, "==": .equal, "!=": .unequal, "<>": .unequal, "<": .less, "<=": .lessOrEqual,
        ">": .greater,
        ">=": .greaterOrEqual,
    ]

    // MARK: Properties, parameters and variables

    /// The expression of an operator that begins with one of `.`, `$`, `?` and `_.`; `nil` for any other.
    private mutating func property(_ name: String, _ operands: [DocumentValue]) throws(QueryError)
        -> Expression?
    {
        if name == "_." || name.hasPrefix("_.") {
            let inline = String(name.dropFirst(2))
            guard operands.count == (inline.isEmpty ? 2 : 1),
                let path = inline.isEmpty ? operands[1].string : inline
            else {
                throw QueryError(
                    "A path into a value is written [\"_.\", value, path] or [\"_.path\", value]")
            }
            return try expression(operands[0]).reaching(
                try steps(path.hasPrefix(".") ? String(path.dropFirst()) : path))
        }
        switch name.first {
        case ".": return .path(try steps(name, operands), .unknown)
        case "$":
            let given = operands.first.flatMap { $0.string ?? $0.int.map(String.init) }
            guard let parameter = name.count > 1 ? String(name.dropFirst()) : given else {
                throw QueryError("A parameter is written [\"$name\"]")
            }
            return .parameter(parameter)
        case "?":
            let steps = try steps(name, operands)
            guard case .key(let variable)? = steps.first else {
                throw QueryError("A variable is written [\"?name\"]")
            }
            return .variable(variable, Array(steps.dropFirst()), .unknown)
        default: return nil
        }
    }

    /// The steps of `[".a.b"]`, or of `[".", "a", [1], "b"]`, where each operand is a name or an index in brackets.
    private func steps(_ name: String, _ operands: [DocumentValue]) throws(QueryError) -> [Step] {
        var steps = try steps(String(name.dropFirst()))
        for operand in operands {
            if let items = operand.array, items.count == 1, let index = items[0].int {
                steps.append(.index(index))
                continue
            }
            guard let part = operand.string else {
                throw QueryError(
                    "A path's parts are names and indexes in brackets, and \(operand) is neither")
            }
            if part.hasPrefix("["), part.hasSuffix("]") {
                steps += try self.steps(part)
            } else {
                steps.append(.key(part))
            }
        }
        return steps
    }

    // MARK: Operators

    private mutating func word(_ word: String, _ operands: [DocumentValue]) throws(QueryError) -> Expression {
        switch word {
        case "[]": return .array(try expressions(operands))
        case "MISSING": return .missing
        case "||": return .concatenation(try expressions(operands, atLeast: 2, word))
        case "AND": return .all(try expressions(operands, atLeast: 1, word))
        case "OR": return .any(try expressions(operands, atLeast: 1, word))
        case "NOT": return .not(try single(operands, word))
        case "IS", "IS NOT": return try identity(operands, word)
        case "IS VALUED", "IS NOT VALUED":
            return .test(try single(operands, word), .valued, isNegated: word == "IS NOT VALUED")
        case "IN", "NOT IN":
            let (left, right) = try pair(operands, word)
            return .membership(left, right, isNegated: word == "NOT IN")
        case "LIKE", "NOT LIKE":
            let (left, right) = try pair(operands, word)
            return .like(left, right, isNegated: word == "NOT LIKE")
        case "BETWEEN", "NOT BETWEEN":
            guard operands.count == 3 else { throw QueryError("\(word) takes a value and two bounds") }
            let value = try expression(operands[0])
            let both = Expression.all([
                .comparison(.greaterOrEqual, value, try expression(operands[1])),
                .comparison(.lessOrEqual, value, try expression(operands[2])),
            ])
            return word == "BETWEEN" ? both : .not(both)
        case "CASE": return try choice(operands)
        case "ANY", "SOME": return try quantified(.any, operands)
        case "EVERY": return try quantified(.every, operands)
        case "ANY AND EVERY", "SOME AND EVERY": return try quantified(.anyAndEvery, operands)
        case "EXISTS": return try exists(operands)
        case "COLLATE": return try collate(operands)
        case "BLOB":
            guard let path = operands.first?.string, operands.count == 1 else {
                throw QueryError("BLOB is written [\"BLOB\", path]")
            }
            return .call(
                .blob, [.path(try steps(path.hasPrefix(".") ? "\(path.dropFirst())" : path), .unknown)])
        case "SELECT":
            guard case .dictionary(let clauses)? = operands.first, operands.count == 1 else {
                throw QueryError("SELECT is written [\"SELECT\", {clauses}]")
            }
            return .select(try select(clauses))
        default:
            let names = Self.words + Self.comparisons.keys
            throw QueryError(
                "There is no operator \(word.debugDescription)\(Suggestion.text(for: word, among: names))"
                    + (Function(name: word) != nil ? ": a function is written \"\(word)()\"" : ""))
        }
    }

    private static let words = [
        "MISSING", "AND", "OR", "NOT", "IS", "IS NOT", "IS VALUED", "IS NOT VALUED", "IN", "NOT IN", "LIKE",
        "NOT LIKE", "BETWEEN", "NOT BETWEEN", "CASE", "ANY", "EVERY", "ANY AND EVERY", "EXISTS", "COLLATE",
        "BLOB",
        "SELECT",
    ]

    private mutating func identity(_ operands: [DocumentValue], _ word: String) throws(QueryError)
        -> Expression
    {
        let (left, right) = try pair(operands, word)
        let isNegated = word == "IS NOT"
        switch right {
        case .missing: return .test(left, .missing, isNegated: isNegated)
        case .literal(.null): return .test(left, .null, isNegated: isNegated)
        default: return .identity(left, right, isNegated: isNegated)
        }
    }

    /// `-` of one operand is its negative; `+` and `*` take as many as there are.
    private mutating func arithmetic(
        _ operation: Arithmetic, _ operands: [DocumentValue]
    ) throws(QueryError) -> Expression {
        if operation == .subtract, operands.count == 1 { return .negative(try expression(operands[0])) }
        let takesMany = operation == .add || operation == .multiply
        guard operands.count == 2 || takesMany && !operands.isEmpty else {
            throw QueryError(
                "\(operation.rawValue.debugDescription) does not take \(operands.count) operands")
        }
        let first = try expression(operands[0])
        guard operands.count > 1 else { return first }
        return .chain(
            first,
            try operands.dropFirst().map { (operand) throws(QueryError) in
                Operation(arithmetic: operation, operand: try expression(operand))
            })
    }

    private mutating func choice(_ operands: [DocumentValue]) throws(QueryError) -> Expression {
        guard operands.count >= 3 else {
            throw QueryError("CASE is written [\"CASE\", value or null, when, then, …, else]")
        }
        let base = operands[0].isNull ? nil : try expression(operands[0])
        var branches: [Expression.Branch] = []
        var rest = operands.dropFirst()
        while rest.count >= 2 {
            let condition = try expression(rest.removeFirst())
            branches.append(
                Expression.Branch(condition: condition, value: try expression(rest.removeFirst())))
        }
        let otherwise = try rest.first.map { (last) throws(QueryError) in try expression(last) }
        return .choice(base, branches, otherwise: otherwise)
    }

    private mutating func quantified(
        _ quantifier: Quantifier, _ operands: [DocumentValue]
    ) throws(QueryError) -> Expression {
        guard operands.count == 3, let variable = operands[0].string, !variable.isEmpty else {
            throw QueryError(
                "\(quantifier.rawValue) is written [\"\(quantifier.rawValue)\", variable, array, condition]")
        }
        let name = variable.hasPrefix("?") ? String(variable.dropFirst()) : variable
        return .quantified(
            quantifier, variable: name, try expression(operands[1]), satisfies: try expression(operands[2]))
    }

    private mutating func exists(_ operands: [DocumentValue]) throws(QueryError) -> Expression {
        let value = try single(operands, "EXISTS")
        if case .select(let select) = value { return .exists(select) }
        return .test(value, .missing, isNegated: true)
    }

    private mutating func collate(_ operands: [DocumentValue]) throws(QueryError) -> Expression {
        guard operands.count == 2, case .dictionary(let members) = operands[0] else {
            throw QueryError("COLLATE is written [\"COLLATE\", {options}, expression]")
        }
        var options = CollationOptions()
        for (name, value) in members {
            switch (name.uppercased(), value) {
            case ("UNICODE", .bool(let flag)): options.isUnicode = flag
            case ("CASE", .bool(let flag)): options.isCaseSensitive = flag
            case ("DIAC", .bool(let flag)), ("DIACRITICS", .bool(let flag)):
                options.isDiacriticSensitive = flag
            case ("LOCALE", .string(let locale)): options.locale = locale
            case ("LOCALE", .null): break
            default:
                let hint = Suggestion.text(for: name, among: ["UNICODE", "CASE", "DIAC", "LOCALE"])
                throw QueryError("COLLATE takes no \(name.debugDescription) with the value \(value)\(hint)")
            }
        }
        return .collate(options, try expression(operands[1]))
    }

    // MARK: Calls

    private mutating func call(_ name: String, _ operands: [DocumentValue]) throws(QueryError) -> Expression {
        switch name.uppercased() {
        case "META":
            return .meta(nil, alias: operands.first?.string, .unknown)
        case "MATCH":
            guard operands.count == 2, let index = operands[0].string else {
                throw QueryError("MATCH is written [\"MATCH()\", index, text]")
            }
            return .match(index: index, try expression(operands[1]))
        case "RANK":
            guard operands.count == 1, let index = operands[0].string else {
                throw QueryError("RANK is written [\"RANK()\", index]")
            }
            return .rank(index: index)
        default: break
        }
        // COUNT of the whole document counts rows.
        if name.uppercased() == "COUNT", operands == [["."]] {
            return .aggregate(.count, nil, isDistinct: false)
        }
        return try .call(named: name, try expressions(operands))
    }

    // MARK: Operands

    private mutating func expressions(
        _ operands: [DocumentValue], atLeast least: Int = 0, _ word: String = ""
    ) throws(QueryError) -> [Expression] {
        guard operands.count >= least else {
            throw QueryError("\(word) takes at least \(least) operands, and \(operands.count) are given")
        }
        var result: [Expression] = []
        for operand in operands { result.append(try expression(operand)) }
        return result
    }

    private mutating func single(_ operands: [DocumentValue], _ word: String) throws(QueryError) -> Expression
    {
        guard operands.count == 1 else {
            throw QueryError("\(word) takes one operand, and \(operands.count) are given")
        }
        return try expression(operands[0])
    }

    private mutating func pair(
        _ operands: [DocumentValue], _ word: String
    ) throws(QueryError) -> (Expression, Expression) {
        guard operands.count == 2 else {
            throw QueryError("\(word) takes two operands, and \(operands.count) are given")
        }
        return (try expression(operands[0]), try expression(operands[1]))
    }
}
