import Roost

extension SQLParser {
    /// A value without an operator around it, and the path that follows it.
    mutating func operand(after what: String) throws(QueryError) -> Expression {
        var value = try primary(after: what)
        if next.kind == .sign(.dot) || next.kind == .sign(.openBracket) {
            value = value.reaching(try steps())
        }
        while next.kind == .sign(.colon), peek(1).kind == .sign(.colon) {
            advance()
            advance()
            value = try cast(value)
            height += 1
            try checkHeight()
        }
        return value
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

    mutating func literal(_ value: DocumentValue) -> Expression {
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
            if isQuery(at: 0) {
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
    mutating func values(until end: Token.Sign) throws(QueryError) -> [Expression] {
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
        // LEFT joins only where no value can stand.
        if peek(1).kind == .sign(.openParenthesis), !Keywords.isReserved(upper) || upper == "LEFT" {
            return try call(word)
        }
        guard !Keywords.isReserved(upper) else {
            throw QueryError(
                "An expression is expected after \(what), and the keyword \(upper) was found", at: next.offset
            )
        }
        return try path()
    }

    private mutating func exists() throws(QueryError) -> Expression {
        guard next.kind == .sign(.openParenthesis), isQuery(at: 1) else {
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

    // MARK: Paths

    private mutating func path() throws(QueryError) -> Expression {
        let place = Place(offset: next.offset)
        let first = try name(after: "this")
        return .path([.key(first)] + (try steps()), place)
    }

    /// `.name`, `["name"]`, `[3]`, `[-1]`, `.*`, as many as there are.
    private mutating func steps() throws(QueryError) -> [Step] {
        var steps: [Step] = []
        while true {
            guard steps.count <= 512 else {
                throw QueryError("The path has more than 512 steps", at: next.offset)
            }
            if take(.dot) {
                if take(.star) { return steps }
                steps.append(.key(try anyWord(after: "the dot")))
            } else if take(.openBracket) {
                if let name = bracketedName() {
                    steps.append(.key(name))
                    try expect(.closeBracket, after: "the name")
                    continue
                }
                let isNegative = take(.minus)
                guard case .integer(let value) = next.kind, let index = Int(exactly: value) else {
                    throw expected("A whole number or a name in quotation marks", after: "\"[\"")
                }
                advance()
                steps.append(.index(isNegative ? -index : index))
                try expect(.closeBracket, after: "the index")
            } else {
                return steps
            }
        }
    }

    /// The name of `["name"]`, which is that of `.name`.
    private mutating func bracketedName() -> String? {
        switch next.kind {
        case .string(let text), .quoted(let text):
            advance()
            return text
        default: return nil
        }
    }

    /// A name where no keyword could stand.
    mutating func anyWord(after what: String) throws(QueryError) -> String {
        switch next.kind {
        case .word(let text), .quoted(let text):
            advance()
            return text
        default: throw expected("A name", after: what)
        }
    }
}
