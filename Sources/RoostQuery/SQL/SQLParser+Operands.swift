import Roost

extension SQLParser {
    /// A value without an operator around it, and the path that follows it.
    mutating func operand(after what: String) throws(QueryError) -> Expression {
        let value = try primary(after: what)
        guard next.kind == .sign(.dot) || next.kind == .sign(.openBracket) else { return value }
        return value.reaching(try steps())
    }

    private mutating func primary(after what: String) throws(QueryError) -> Expression {
        let token = next
        switch token.kind {
        case .integer(let value): return literal(.integer(value))
        case .unsigned(let value): return literal(.unsigned(value))
        case .double(let value): return literal(.double(value))
        case .string(let value): return literal(.string(value))
        case .parameter(let name):
            advance()
            return .parameter(name)
        case .quoted: return try path()
        case .word(let word): return try word.isEmpty ? path() : keyword(word, after: what)
        case .sign(let sign): return try signed(sign, after: what)
        case .end: throw expected("An expression", after: what)
        }
    }

    private mutating func literal(_ value: DocumentValue) -> Expression {
        advance()
        return .literal(value)
    }

    private mutating func signed(_ sign: Token.Sign, after what: String) throws(QueryError) -> Expression {
        switch sign {
        case .minus, .plus:
            advance()
            if sign == .minus, let value = negativeLiteral() { return value }
            let value = try nested { (parser) throws(QueryError) in
                try parser.operand(after: "\"\(sign.rawValue)\"")
            }
            return sign == .minus ? .negative(value) : value
        case .star:
            advance()
            return .path([], Place(offset: peek(-1).offset))
        case .openBracket:
            advance()
            return .array(try values(until: .closeBracket))
        case .openBrace:
            advance()
            return try dictionary()
        case .openParenthesis:
            advance()
            let value: Expression
            if isNext("SELECT") {
                value = .select(try nested { (parser) throws(QueryError) in try parser.select() })
            } else {
                value = try expression(after: "\"(\"")
            }
            try expect(.closeParenthesis, after: "the expression")
            return value
        default: throw expected("An expression", after: what)
        }
    }

    /// The number that comes next, made negative: the smallest integer has no positive counterpart.
    private mutating func negativeLiteral() -> Expression? {
        switch next.kind {
        case .integer(let value): return literal(.integer(-value))
        case .unsigned(let value) where value == UInt64(1) << 63: return literal(.integer(.min))
        case .double(let value): return literal(.double(-value))
        default: return nil
        }
    }

    /// Expressions parted by commas, up to `end`.
    private mutating func values(until end: Token.Sign) throws(QueryError) -> [Expression] {
        var values: [Expression] = []
        if take(end) { return values }
        repeat { values.append(try expression(after: "the comma")) } while take(.comma)
        try expect(end, after: "the last value")
        return values
    }

    private mutating func dictionary() throws(QueryError) -> Expression {
        var pairs: [Expression.Pair] = []
        if take(.closeBrace) { return .dictionary([]) }
        repeat {
            let name: String
            switch next.kind {
            case .string(let text), .quoted(let text), .word(let text): name = text
            default: throw expected("A name", after: "\"{\" or a comma")
            }
            advance()
            try expect(.colon, after: "a name")
            pairs.append(Expression.Pair(name: name, value: try expression(after: "the colon")))
        } while take(.comma)
        try expect(.closeBrace, after: "the last value")
        return .dictionary(pairs)
    }

    // MARK: Words

    private mutating func keyword(_ word: String, after what: String) throws(QueryError) -> Expression {
        let upper = word.uppercased()
        switch upper {
        case "TRUE": return literal(.bool(true))
        case "FALSE": return literal(.bool(false))
        case "NULL": return literal(.null)
        case "MISSING":
            advance()
            return .missing
        case "NOT":
            advance()
            return .not(try nested { (parser) throws(QueryError) in try parser.operand(after: "NOT") })
        case "CASE":
            advance()
            return try nested { (parser) throws(QueryError) in try parser.choice() }
        case "ANY", "SOME", "EVERY":
            advance()
            return try nested { (parser) throws(QueryError) in try parser.quantified(upper) }
        case "EXISTS":
            advance()
            return try exists()
        default: break
        }
        if peek(1).kind == .sign(.openParenthesis), !Keywords.isReserved(upper) { return try call(word) }
        guard !Keywords.isReserved(upper) else {
            throw QueryError(
                "An expression is expected after \(what), and the keyword \(upper) was found", at: next.offset
            )
        }
        return try path()
    }

    private mutating func exists() throws(QueryError) -> Expression {
        let isSelect = next.kind == .sign(.openParenthesis) && peek(1).keyword == "SELECT"
        guard isSelect else {
            let value = try operand(after: "EXISTS")
            return .test(value, .missing, isNegated: true)
        }
        advance()
        let select = try nested { (parser) throws(QueryError) in try parser.select() }
        try expect(.closeParenthesis, after: "the query of EXISTS")
        return .exists(select)
    }

    private mutating func choice() throws(QueryError) -> Expression {
        let base = isNext("WHEN") ? nil : try expression(after: "CASE")
        var branches: [Expression.Branch] = []
        while take("WHEN") {
            let condition = try expression(after: "WHEN")
            try expect("THEN", after: "the condition of WHEN")
            branches.append(Expression.Branch(condition: condition, value: try expression(after: "THEN")))
        }
        guard !branches.isEmpty else { throw expected("WHEN", after: "CASE", among: ["WHEN"]) }
        let otherwise = take("ELSE") ? try expression(after: "ELSE") : nil
        try expect("END", after: "the branches of CASE")
        return .choice(base, branches, otherwise: otherwise)
    }

    private mutating func quantified(_ word: String) throws(QueryError) -> Expression {
        var quantifier: Quantifier = word == "EVERY" ? .every : .any
        if quantifier == .any, take("AND") {
            try expect("EVERY", after: "\(word) AND")
            quantifier = .anyAndEvery
        }
        let variable = try name(after: quantifier.rawValue)
        try expect("IN", after: "the variable")
        let collection = try expression(after: "IN")
        try expect("SATISFIES", after: "what \(quantifier.rawValue) looks at")
        let condition = try expression(after: "SATISFIES")
        try expect("END", after: "the condition of SATISFIES")
        return .quantified(quantifier, variable: variable, collection, satisfies: condition)
    }

    // MARK: Calls

    private mutating func call(_ name: String) throws(QueryError) -> Expression {
        let place = Place(offset: next.offset)
        advance()
        advance()
        switch name.uppercased() {
        case "META":
            var alias = next.kind == .sign(.closeParenthesis) ? nil : try self.name(after: "META(")
            if let scope = alias, take(.dot) { alias = "\(scope).\(try self.name(after: "the dot"))" }
            try expect(.closeParenthesis, after: "META(")
            return .meta(try metaField(), alias: alias, place)
        case "MATCH":
            let index = try indexName("MATCH(")
            try expect(.comma, after: "the name of the index")
            let text = try expression(after: "the comma")
            try expect(.closeParenthesis, after: "the text to look for")
            return .match(index: index, text, place)
        case "RANK":
            let index = try indexName("RANK(")
            try expect(.closeParenthesis, after: "the name of the index")
            return .rank(index: index, place)
        default: break
        }
        if let aggregate = Aggregate(rawValue: name.lowercased()) { return try call(aggregate, at: place) }
        guard let function = Function(name: name) else {
            let names = Function.names + Aggregate.allCases.map { $0.rawValue.uppercased() }
            let hint = Suggestion.text(for: name, among: names)
            throw QueryError("There is no function \(name)()\(hint)", at: place.offset)
        }
        let arguments = try values(until: .closeParenthesis)
        if let problem = function.problem(withArguments: arguments.count) {
            throw QueryError(problem, at: place.offset)
        }
        return .call(function, arguments)
    }

    private mutating func call(_ aggregate: Aggregate, at place: Place) throws(QueryError) -> Expression {
        let isDistinct = take("DISTINCT")
        if aggregate == .count, next.kind == .sign(.star), peek(1).kind == .sign(.closeParenthesis) {
            advance()
            advance()
            return .aggregate(.count, nil, isDistinct: isDistinct, place)
        }
        let arguments = try values(until: .closeParenthesis)
        guard arguments.count == 1 || arguments.isEmpty && aggregate == .count && !isDistinct else {
            throw QueryError(
                "\(aggregate.rawValue)() takes one argument, and \(arguments.count) are given",
                at: place.offset)
        }
        return .aggregate(aggregate, arguments.first, isDistinct: isDistinct, place)
    }

    private mutating func metaField() throws(QueryError) -> MetaField? {
        guard take(.dot) else { return nil }
        let place = next.offset
        let name = try anyWord(after: "META().")
        guard let field = MetaField.whole.first(where: { $0.rawValue == name }) else {
            let names = MetaField.whole.map(\.rawValue)
            let hint = Suggestion.text(for: name, among: names)
            throw QueryError(
                "META() knows \(names.joined(separator: ", ")), and no \(name)\(hint)", at: place)
        }
        return field
    }

    private mutating func indexName(_ what: String) throws(QueryError) -> String {
        if case .string(let text) = next.kind {
            advance()
            return text
        }
        let first = try name(after: what)
        return take(.dot) ? "\(first).\(try name(after: "the dot"))" : first
    }

    // MARK: Paths

    private mutating func path() throws(QueryError) -> Expression {
        let place = Place(offset: next.offset)
        let first = try name(after: "this")
        return .path([.key(first)] + (try steps()), place)
    }

    /// `.name`, `[3]`, `[-1]`, `.*`, as many as there are.
    private mutating func steps() throws(QueryError) -> [Step] {
        var steps: [Step] = []
        while true {
            if take(.dot) {
                if take(.star) { return steps }
                steps.append(.key(try anyWord(after: "the dot")))
            } else if take(.openBracket) {
                let isNegative = take(.minus)
                guard case .integer(let value) = next.kind, let index = Int(exactly: value) else {
                    throw expected("A whole number", after: "\"[\"")
                }
                advance()
                steps.append(.index(isNegative ? -index : index))
                try expect(.closeBracket, after: "the index")
            } else {
                return steps
            }
            guard steps.count <= 512 else {
                throw QueryError("The path has more than 512 steps", at: next.offset)
            }
        }
    }

    /// A name where no keyword could stand.
    private mutating func anyWord(after what: String) throws(QueryError) -> String {
        switch next.kind {
        case .word(let text), .quoted(let text):
            advance()
            return text
        default: throw expected("A name", after: what)
        }
    }
}
