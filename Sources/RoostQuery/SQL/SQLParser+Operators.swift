import Roost

extension SQLParser {
    /// The levels of operators, from those that bind least.
    private enum Level: Int {
        case or, and, equality, comparison, bits, sum, product, concatenation, operand

        var tighter: Level { Level(rawValue: rawValue + 1) ?? .operand }
    }

    mutating func expression(after what: String = "this") throws(QueryError) -> Expression {
        try nested { (parser) throws(QueryError) in
            var value = try parser.operators(.or, what)
            while parser.isNext("COLLATE") {
                parser.advance()
                value = .collate(try parser.collation(), value)
                parser.height += 1
                try parser.checkHeight()
            }
            return value
        }
    }

    private mutating func operators(_ level: Level, _ what: String) throws(QueryError) -> Expression {
        guard level != .operand else { return try operand(after: what) }
        var left = try operators(level.tighter, what)
        if let parts = try joined(level, left) { left = parts }
        if let chain = try chained(level, left) { left = chain }
        while true {
            let leftHeight = height
            height = 0
            guard let joined = try infix(level, left) else {
                height = leftHeight
                return left
            }
            height = max(leftHeight, height, 1) + 1
            try checkHeight()
            left = joined
        }
    }

    /// `first` and all operands that the AND, OR or || of `level` join with it; `nil` where none follows.
    private mutating func joined(_ level: Level, _ first: Expression) throws(QueryError) -> Expression? {
        var parts = [first]
        var tallest = max(height, 1)
        while let name = takeJoining(level) {
            height = 0
            parts.append(try operators(level.tighter, name))
            tallest = max(tallest, height)
        }
        guard parts.count > 1 else { return nil }
        height = tallest
        return switch level {
        case .or: .any(parts)
        case .and: .all(parts)
        default: .concatenation(parts)
        }
    }

    /// `first` and all operators on numbers of `level` that follow it; `nil` where none does.
    private mutating func chained(_ level: Level, _ first: Expression) throws(QueryError) -> Expression? {
        var operations: [Operation] = []
        var tallest = max(height, 1)
        while let (sign, arithmetic) = takeArithmetic(level) {
            height = 0
            let operand = try operators(level.tighter, "\"\(sign.rawValue)\"")
            operations.append(Operation(arithmetic: arithmetic, operand: operand))
            tallest = max(tallest, height)
        }
        guard !operations.isEmpty else { return nil }
        height = tallest
        return .chain(first, operations)
    }

    private mutating func takeArithmetic(_ level: Level) -> (Token.Sign, Arithmetic)? {
        let signs: [(Token.Sign, Arithmetic)] =
            switch level {
            case .sum: [(.plus, .add), (.minus, .subtract)]
            case .product: [(.star, .multiply), (.slash, .divide), (.percent, .remainder)]
            default: []
            }
        for (sign, arithmetic) in signs where take(sign) { return (sign, arithmetic) }
        return nil
    }

    /// The sign that joins operands on a level, if it comes next.
    private mutating func takeJoining(_ level: Level) -> String? {
        switch level {
        case .or: take("OR") ? "OR" : nil
        case .and: take("AND") ? "AND" : nil
        case .concatenation: take(.concatenate) ? "\"||\"" : nil
        default: nil
        }
    }

    /// `left` with the operator of `level` that comes next and its right side; `nil` when another kind of token does.
    private mutating func infix(_ level: Level, _ left: Expression) throws(QueryError) -> Expression? {
        switch level {
        case .equality: return try equality(left)
        case .comparison:
            let signs: [(Token.Sign, Comparison)] = [
                (.lessOrEqual, .lessOrEqual), (.greaterOrEqual, .greaterOrEqual), (.less, .less),
                (.greater, .greater),
            ]
            for (sign, comparison) in signs where take(sign) {
                return .comparison(comparison, left, try operators(.bits, "\"\(sign.rawValue)\""))
            }
            return nil
        case .bits:
            if case .sign(let sign) = next.kind, [.shiftLeft, .shiftRight, .and, .or].contains(sign) {
                throw QueryError(
                    "There are no operators on bits. Write AND, OR or || if one of these was meant",
                    at: next.offset)
            }
            return nil
        case .or, .and, .sum, .product, .concatenation, .operand: return nil
        }
    }

    /// IS, IN, LIKE, BETWEEN and the signs of equality.
    private mutating func equality(_ left: Expression) throws(QueryError) -> Expression? {
        for sign in [Token.Sign.equal, .doubleEqual, .unequal, .angles] where take(sign) {
            let comparison: Comparison = sign == .equal || sign == .doubleEqual ? .equal : .unequal
            return .comparison(comparison, left, try operators(.comparison, "\"\(sign.rawValue)\""))
        }
        if take("IS") {
            let isNegated = take("NOT")
            for test in [ValueTest.null, .missing, .valued] where take(test.rawValue) {
                return .test(left, test, isNegated: isNegated)
            }
            return .identity(
                left, try operators(.comparison, isNegated ? "IS NOT" : "IS"), isNegated: isNegated)
        }
        var isNegated = false
        if isNext("NOT"), let following = peek(1).keyword {
            if following == "NULL" {
                advance()
                advance()
                return .test(left, .null, isNegated: true)
            }
            guard ["IN", "LIKE", "BETWEEN"].contains(following) else { return nil }
            advance()
            isNegated = true
        }
        if take("IN") { return .membership(left, try list(), isNegated: isNegated) }
        if take("LIKE") { return .like(left, try operators(.comparison, "LIKE"), isNegated: isNegated) }
        if take("BETWEEN") {
            let low = try operators(.comparison, "BETWEEN")
            try expect("AND", after: "the lower bound of BETWEEN")
            let high = try operators(.comparison, "AND")
            let both = Expression.all([
                .comparison(.greaterOrEqual, left, low), .comparison(.lessOrEqual, left, high),
            ])
            return isNegated ? .not(both) : both
        }
        return nil
    }

    /// What IN looks in: values in parentheses, a query in parentheses, or anything that is an array.
    private mutating func list() throws(QueryError) -> Expression {
        guard next.kind == .sign(.openParenthesis) else { return try operators(.comparison, "IN") }
        if isQuery(at: 1) { return try operand(after: "IN") }
        advance()
        var values: [Expression] = []
        if take(.closeParenthesis) { return .array([]) }
        repeat { values.append(try expression(after: "IN (")) } while take(.comma)
        try expect(.closeParenthesis, after: "the values of IN")
        return .array(values)
    }

    // MARK: COLLATE

    private mutating func collation() throws(QueryError) -> CollationOptions {
        var options = CollationOptions()
        if take(.openParenthesis) {
            while !take(.closeParenthesis) { try collationWord(&options) }
        } else {
            try collationWord(&options)
            if let word = next.keyword, Self.collationWords.contains(word) {
                throw QueryError(
                    "Several words after COLLATE stand in parentheses: COLLATE (… \(word))", at: next.offset)
            }
        }
        return options
    }

    private static let collationWords = ["UNICODE", "NOUNICODE", "CASE", "NOCASE", "DIAC", "NODIAC"]

    private mutating func collationWord(_ options: inout CollationOptions) throws(QueryError) {
        let words = Self.collationWords
        guard let word = next.keyword, words.contains(word) else {
            throw expected("One of \(words.joined(separator: ", "))", after: "COLLATE", among: words)
        }
        advance()
        switch word {
        case "UNICODE":
            options.isUnicode = true
            if take(.colon) {
                options.localePlace = Place(offset: next.offset)
                options.locale = try localeName()
            }
        case "NOUNICODE": options.isUnicode = false
        case "CASE": options.isCaseSensitive = true
        case "NOCASE": options.isCaseSensitive = false
        case "DIAC": options.isDiacriticSensitive = true
        default: options.isDiacriticSensitive = false
        }
    }

    private mutating func localeName() throws(QueryError) -> String {
        if case .string(let text) = next.kind {
            advance()
            return text
        }
        return try name(after: "UNICODE:")
    }
}
