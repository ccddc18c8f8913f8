import Roost

extension SQLParser {
    /// A query: one SELECT, or several that UNION, INTERSECT and EXCEPT put together, in an order and up to a limit.
    mutating func select() throws(QueryError) -> Select {
        let known = named
        defer { named = known }
        if take("WITH") { try namedQueries() }
        var select = try combined { (parser) throws(QueryError) in
            try parser.combined({ (parser) throws(QueryError) in try parser.core() }, [.intersect])
        }
        try arrange(&select)
        return select
    }

    /// WITH: queries that FROM names, each by those before it as well.
    private mutating func namedQueries() throws(QueryError) {
        repeat {
            let name = try name(after: "WITH")
            try expect("AS", after: "the name of a query")
            try expect(.openParenthesis, after: "AS")
            let select = try nested { (parser) throws(QueryError) in try parser.select() }
            try expect(.closeParenthesis, after: "the query")
            named[ByteKey(name.lowercased())] = select
        } while take(.comma)
    }

    private mutating func combined(
        _ operand: (inout SQLParser) throws(QueryError) -> Select,
        _ operations: [Select.SetOperation] = [.union, .unionAll, .except]
    ) throws(QueryError) -> Select {
        var select = try operand(&self)
        var count = 0
        while let (operation, place) = try takeSetOperation(operations) {
            count += 1
            guard count < Self.deepest else {
                throw QueryError("More than \(Self.deepest) queries are put together", at: place.offset)
            }
            let other = try nested { (parser) throws(QueryError) in try operand(&parser) }
            var both = Select()
            // All but UNION ALL yield each row once.
            both.isDistinct = operation != .unionAll
            both.isRaw = select.isRaw
            both.sources = [
                Select.Source(
                    origin: .combined(select, operation, other), alias: "_rows", place: place)
            ]
            select = both
        }
        return select
    }

    private mutating func takeSetOperation(
        _ operations: [Select.SetOperation]
    ) throws(QueryError) -> (Select.SetOperation, Place)? {
        guard isSetOperation, var operation = next.keyword.flatMap(Select.SetOperation.init(rawValue:)),
            operations.contains(operation)
        else { return nil }
        let place = Place(offset: next.offset)
        advance()
        if take("ALL") {
            guard operation == .union else {
                throw QueryError(
                    "\(operation.rawValue) yields each row once; there is no \(operation.rawValue) ALL",
                    at: place.offset)
            }
            operation = .unionAll
        } else {
            _ = take("DISTINCT")
        }
        return (operation, place)
    }

    private mutating func core() throws(QueryError) -> Select {
        if next.kind == .sign(.openParenthesis), isQuery(at: 1) {
            advance()
            let select = try nested { (parser) throws(QueryError) in try parser.select() }
            try expect(.closeParenthesis, after: "the query")
            return select
        }
        guard take("SELECT") else {
            let hint = next.keyword.map { Suggestion.text(for: $0, among: ["SELECT"]) } ?? ""
            throw QueryError(
                "A query begins with SELECT, and \(next.shown) was found\(hint)", at: next.offset)
        }
        var select = Select()
        if take("DISTINCT") { select.isDistinct = true } else { _ = take("ALL") }
        if isRaw {
            advance()
            select.isRaw = true
        }
        repeat {
            select.columns.append(try column(after: select.columns.isEmpty ? "SELECT" : "the comma"))
        } while take(.comma)
        if select.isRaw, select.columns.count != 1 {
            throw QueryError("SELECT VALUE yields one value, and so has one column", at: next.offset)
        }
        if take("FROM") { select.sources = try sources() }
        if take("WHERE") { select.condition = try expression(after: "WHERE") }
        if take("GROUP") {
            try expect("BY", after: "GROUP")
            repeat { select.groups.append(try expression(after: "GROUP BY")) } while take(.comma)
            if take("HAVING") { select.having = try expression(after: "HAVING") }
        }
        if isNext("HAVING") { throw QueryError("HAVING must follow GROUP BY", at: next.offset) }
        if isWindowClause {
            advance()
            repeat { select.windows.append(try namedWindow()) } while take(.comma)
        }
        return select
    }

    /// ORDER BY, LIMIT and OFFSET.
    private mutating func arrange(_ select: inout Select) throws(QueryError) {
        if take("ORDER") {
            try expect("BY", after: "ORDER")
            select.order = try orderings()
        }
        while isNext("LIMIT") || isNext("OFFSET") {
            let isLimit = isNext("LIMIT")
            guard isLimit ? select.limit == nil : select.offset == nil else {
                throw QueryError("\(next.shown) is given twice", at: next.offset)
            }
            advance()
            let place = Place(offset: next.offset)
            let value = try expression(after: isLimit ? "LIMIT" : "OFFSET")
            if isLimit {
                (select.limit, select.limitPlace) = (value, place)
            } else {
                (select.offset, select.offsetPlace) = (value, place)
            }
        }
    }

    private mutating func column(after what: String) throws(QueryError) -> Select.Column {
        let value = try expression(after: what)
        var isStar = false
        if case .path = value { isStar = peek(-1).kind == .sign(.star) }
        let hasAs = take("AS")
        let place = Place(offset: next.offset)
        let alias = hasAs ? try name(after: "AS") : optionalName()
        return Select.Column(value: value, alias: alias, isStar: isStar && alias == nil, place: place)
    }

    /// Whether VALUE or RAW comes next, with the value behind it. They are names elsewhere.
    private var isRaw: Bool {
        guard let word = next.keyword, ["VALUE", "RAW", "ELEMENT"].contains(word) else { return false }
        switch peek(1).kind {
        case .word(let text):
            switch text.uppercased() {
            case "LEFT": return peek(2).kind == .sign(.openParenthesis)
            case "NOT": return !["IN", "LIKE", "BETWEEN", "NULL"].contains(peek(2).keyword)
            case let word:
                return !Keywords.clauses.contains(word) && Select.SetOperation(rawValue: word) == nil
            }
        case .quoted, .string, .integer, .unsigned, .double, .parameter: return true
        case .sign(let sign): return sign == .openParenthesis || sign == .openBrace
        case .end: return false
        }
    }

    mutating func orderings() throws(QueryError) -> [Select.Ordering] {
        var orderings: [Select.Ordering] = []
        repeat {
            let value = try expression(after: orderings.isEmpty ? "ORDER BY" : "the comma")
            let isDescending = take("DESC")
            if !isDescending { _ = take("ASC") }
            var nulls: Select.Ordering.Nulls?
            if isNext("NULLS"), let word = peek(1).keyword, word == "FIRST" || word == "LAST" {
                nulls = word == "FIRST" ? .first : .last
                advance()
                advance()
            }
            orderings.append(
                Select.Ordering(value: value, isDescending: isDescending, nulls: nulls))
        } while take(.comma)
        return orderings
    }

    // MARK: FROM

    private mutating func sources() throws(QueryError) -> [Select.Source] {
        var sources = [try source(after: "FROM")]
        while true {
            if take("UNNEST") {
                sources.append(try unnesting())
                continue
            }
            let place = next.offset
            guard let join = try joinKind() else { return sources }
            var source = try source(after: "JOIN")
            source.join = join
            if join != .cross {
                guard take("ON") else { throw expected("ON", after: "what is joined", among: ["ON"]) }
                source.condition = try expression(after: "ON")
            } else if isNext("ON") {
                throw QueryError("CROSS JOIN takes every row and has no ON; write INNER JOIN", at: place)
            }
            sources.append(source)
        }
    }

    private mutating func joinKind() throws(QueryError) -> Select.Join? {
        if take("JOIN") { return .inner }
        let join: Select.Join
        if take("LEFT") {
            _ = take("OUTER")
            join = .left
        } else if take("INNER") {
            join = .inner
        } else if take("CROSS") {
            join = .cross
        } else {
            return nil
        }
        try expect("JOIN", after: join == .left ? "LEFT" : join == .inner ? "INNER" : "CROSS")
        return join
    }

    private mutating func source(after what: String) throws(QueryError) -> Select.Source {
        let place = Place(offset: next.offset)
        if take(.openParenthesis) {
            let select = try nested { (parser) throws(QueryError) in try parser.select() }
            try expect(.closeParenthesis, after: "the query in FROM")
            let hasAs = take("AS")
            guard let alias = hasAs ? try name(after: "AS") : optionalName() else {
                throw expected("AS and a name", after: "a query in FROM")
            }
            return Select.Source(origin: .select(select), alias: alias, place: place)
        }
        var parts = [try name(after: what)]
        if take(.dot) { parts.append(try name(after: "the dot")) }
        let name = parts[parts.count - 1]
        if parts.count == 1, let select = named[ByteKey(name.lowercased())] {
            let alias = take("AS") ? try self.name(after: "AS") : optionalName() ?? name
            return Select.Source(origin: .select(select), alias: alias, place: place)
        }
        let alias = take("AS") ? try self.name(after: "AS") : optionalName() ?? name
        let scope = parts.count == 2 ? parts[0] : "_default"
        return Select.Source(origin: .collection(name, scope: scope), alias: alias, place: place)
    }

    private mutating func unnesting() throws(QueryError) -> Select.Source {
        let place = Place(offset: next.offset)
        let value = try expression(after: "UNNEST")
        let hasAs = take("AS")
        let alias = hasAs ? try name(after: "AS") : optionalName() ?? value.lastName
        guard let alias else { throw expected("AS and a name", after: "what UNNEST takes apart") }
        return Select.Source(origin: .elements(value), alias: alias, join: .inner, place: place)
    }
}

extension Expression {
    /// What a column of this expression is called when no name is given: the name that a path ends with. Elements of arrays have none.
    var columnName: String? {
        switch self {
        case .path(let steps, _), .variable(_, let steps, _), .member(_, let steps):
            if case .index? = steps.last { nil } else { lastName }
        case .collate(_, let inner): inner.columnName
        default: lastName
        }
    }

    /// What a source of this expression is called when no name is given: the last name of a path.
    var lastName: String? {
        switch self {
        case .path(let steps, _), .variable(_, let steps, _), .member(_, let steps):
            for step in steps.reversed() { if case .key(let name) = step { return name } }
            if case .variable(let name, _, _) = self { return name }
            return nil
        case .meta(let field?, _, _): return field.rawValue
        case .collate(_, let inner): return inner.lastName
        default: return nil
        }
    }
}
