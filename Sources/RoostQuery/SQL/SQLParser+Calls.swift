import Roost

// Calls of functions and aggregates, and what has a grammar of its own.
extension SQLParser {
    mutating func call(_ name: String) throws(QueryError) -> Expression {
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
        case "RANK" where take(.closeParenthesis):
            return .window(try self.call(.named(.rank), [], place))
        case "RANK":
            let index = try indexName("RANK(")
            try expect(.closeParenthesis, after: "the name of the index")
            return .rank(index: index, place)
        case "CAST", "TRY_CAST":
            let value = try expression(after: "\(name)(")
            try expect("AS", after: "the value")
            let cast = try cast(value)
            try expect(.closeParenthesis, after: "the type")
            return cast
        case "EXTRACT":
            let part = try partName()
            try expect("FROM", after: "the part")
            let value = try expression(after: "FROM")
            try expect(.closeParenthesis, after: "the date")
            return .call(.datePart, [part, value])
        case "IIF", "IF":
            let arguments = try values(until: .closeParenthesis)
            guard 2...3 ~= arguments.count else {
                throw QueryError(
                    "\(name)() takes 2 to 3 arguments, and \(arguments.count) are given", at: place.offset)
            }
            let branch = Expression.Branch(condition: arguments[0], value: arguments[1])
            return .choice(nil, [branch], otherwise: arguments.dropFirst(2).first)
        default: break
        }
        guard let entry = FunctionTable.entry(named: name) else {
            throw QueryError(FunctionTable.unknown(name), at: place.offset)
        }
        let isDistinct = take("DISTINCT")
        var arguments: [Expression] = []
        if name.uppercased() == "COUNT", !isDistinct, next.kind == .sign(.star),
            peek(1).kind == .sign(.closeParenthesis)
        {
            advance()
            advance()
        } else {
            arguments = try values(until: .closeParenthesis)
        }
        if take("WITHIN") { arguments.insert(try orderedValue(), at: 0) }
        if case .window(let function) = entry.target {
            guard !isDistinct else {
                throw QueryError("\(entry.name)() is no aggregate, and takes no DISTINCT", at: place.offset)
            }
            if let problem = FunctionTable.problem(of: entry, withArguments: arguments.count) {
                throw QueryError(problem, at: place.offset)
            }
            return .window(try self.call(.named(function), arguments, place))
        }
        let call: Expression
        do throws(QueryError) {
            call = try .call(named: name, arguments, isDistinct: isDistinct, at: place)
        } catch {
            throw QueryError(error.message, at: place.offset)
        }
        let filtered = try filtered(call)
        guard case .aggregate(let aggregate, let value, let isDistinct, _) = filtered, isOver else {
            return filtered
        }
        let function = WindowFunction.aggregate(aggregate, isDistinct: isDistinct)
        return .window(try self.call(function, value.map { [$0] } ?? [], place))
    }

    /// `GROUP (ORDER BY value)`, behind WITHIN.
    private mutating func orderedValue() throws(QueryError) -> Expression {
        try expect("GROUP", after: "WITHIN")
        try expect(.openParenthesis, after: "WITHIN GROUP")
        try expect("ORDER", after: "\"(\"")
        try expect("BY", after: "ORDER")
        let value = try expression(after: "ORDER BY")
        guard !isNext("DESC") else {
            throw QueryError(
                "WITHIN GROUP orders upwards: write 1 minus the fraction for DESC", at: next.offset)
        }
        _ = take("ASC")
        try expect(.closeParenthesis, after: "the value")
        return value
    }

    /// An aggregate of the rows for which the condition of FILTER holds, where that follows.
    private mutating func filtered(_ call: Expression) throws(QueryError) -> Expression {
        guard case .aggregate(let aggregate, let value, let isDistinct, let place) = call, isNext("FILTER"),
            peek(1).kind == .sign(.openParenthesis)
        else { return call }
        advance()
        advance()
        try expect("WHERE", after: "FILTER (")
        let condition = try expression(after: "WHERE")
        try expect(.closeParenthesis, after: "the condition of FILTER")
        func choice(_ value: Expression) -> Expression {
            if case .collate(let options, let inner) = value { return .collate(options, choice(inner)) }
            return .choice(
                nil, [Expression.Branch(condition: condition, value: value)], otherwise: .missing)
        }
        return .aggregate(aggregate, choice(value ?? .literal(.bool(true))), isDistinct: isDistinct, place)
    }

    /// The name of a part of a date, which may be a keyword or in quotation marks.
    private mutating func partName() throws(QueryError) -> Expression {
        guard case .string(let text) = next.kind else {
            return .literal(.string(try anyWord(after: "EXTRACT(")))
        }
        return literal(.string(text))
    }

    /// `value` as the type whose name comes next.
    mutating func cast(_ value: Expression) throws(QueryError) -> Expression {
        let place = next.offset
        var name = try anyWord(after: "AS").uppercased()
        if name == "DOUBLE" { _ = take("PRECISION") }
        if name == "CHARACTER", take("VARYING") { name = "VARCHAR" }
        guard let function = Self.types[name] else {
            throw QueryError(
                "There is no type \(name)\(Suggestion.text(for: name, among: Self.types.keys.sorted()))",
                at: place)
        }
        // VARCHAR(20) and NUMERIC(10, 2): lengths limit nothing here, as in SQLite.
        if take(.openParenthesis) { _ = try values(until: .closeParenthesis) }
        return .call(function, [value])
    }

    private static let types: [String: Function] = {
        let names: [(Function, String)] = [
            (
                .castInteger,
                "INTEGER INT BIGINT SMALLINT TINYINT HUGEINT INT2 INT4 INT8 LONG UBIGINT UINTEGER"
            ),
            (.castDouble, "DOUBLE REAL FLOAT FLOAT4 FLOAT8"),
            (.toNumber, "NUMERIC DECIMAL NUMBER"),
            (.toString, "TEXT VARCHAR CHAR CHARACTER STRING BPCHAR"),
            (.castBoolean, "BOOLEAN BOOL LOGICAL"),
            (.castDate, "DATE"), (.castTimestamp, "TIMESTAMP DATETIME TIMESTAMPTZ"),
        ]
        var types: [String: Function] = [:]
        for (function, words) in names {
            for word in words.split(separator: " ") { types[String(word)] = function }
        }
        return types
    }()

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
}

// MARK: - Windows

// OVER and WINDOW.
extension SQLParser {
    /// Whether OVER comes next with a window or the name of one. It is a name elsewhere.
    var isOver: Bool {
        guard isNext("OVER") else { return false }
        switch peek(1).kind {
        case .sign(.openParenthesis), .quoted: return true
        case .word(let text): return !Keywords.isReserved(text.uppercased())
        default: return false
        }
    }

    /// A window function with OVER, which comes next.
    mutating func call(
        _ function: WindowFunction, _ arguments: [Expression], _ place: Place
    ) throws(QueryError) -> WindowCall {
        guard isOver else {
            throw QueryError(
                "\(function.name)() is a window function: OVER and a window are expected after it, and \(next.shown) was found",
                at: next.offset)
        }
        advance()
        return WindowCall(function: function, arguments: arguments, window: try window(), place: place)
    }

    /// `name AS (…)`, behind WINDOW.
    mutating func namedWindow() throws(QueryError) -> Select.NamedWindow {
        let place = Place(offset: next.offset)
        let name = try name(after: "WINDOW")
        try expect("AS", after: "the name of a window")
        var window = try window()
        window.place = place
        return Select.NamedWindow(name: name, window: window)
    }

    private mutating func window() throws(QueryError) -> Window {
        var window = Window(place: Place(offset: next.offset))
        if let name = optionalName() {
            window.base = name
            return window
        }
        try expect(.openParenthesis, after: "OVER")
        if !["PARTITION", "ROWS", "RANGE", "GROUPS"].contains(next.keyword) { window.base = optionalName() }
        if take("PARTITION") {
            try expect("BY", after: "PARTITION")
            repeat { window.partition.append(try expression(after: "PARTITION BY")) } while take(.comma)
        }
        if take("ORDER") {
            try expect("BY", after: "ORDER")
            window.order = try orderings()
        }
        window.frame = try frame()
        try expect(.closeParenthesis, after: "the window")
        return window
    }

    private mutating func frame() throws(QueryError) -> WindowFrame<Expression>? {
        if isNext("GROUPS") {
            throw QueryError("A frame is in ROWS or RANGE; there are no GROUPS", at: next.offset)
        }
        guard let unit = next.keyword.flatMap(WindowFrameUnit.init(rawValue:)) else { return nil }
        let place = next.offset
        advance()
        let hasBoth = take("BETWEEN")
        let start = try bound(after: hasBoth ? "BETWEEN" : unit.rawValue)
        if hasBoth { try expect("AND", after: "the beginning of the frame") }
        let end = hasBoth ? try bound(after: "AND") : .currentRow
        guard start != .unboundedFollowing, end != .unboundedPreceding, start.rank <= end.rank else {
            throw QueryError("The frame ends before it begins", at: place)
        }
        if isNext("EXCLUDE") {
            throw QueryError("A frame excludes none of its rows; leave EXCLUDE away", at: next.offset)
        }
        return WindowFrame(unit: unit, start: start, end: end)
    }

    private mutating func bound(after what: String) throws(QueryError) -> WindowFrame<Expression>.Bound {
        if isNext("CURRENT"), peek(1).keyword == "ROW" {
            advance()
            advance()
            return .currentRow
        }
        let isUnbounded = isNext("UNBOUNDED") && ["PRECEDING", "FOLLOWING"].contains(peek(1).keyword)
        if isUnbounded { advance() }
        let offset = isUnbounded ? nil : try operand(after: what)
        let isPreceding = take("PRECEDING")
        guard isPreceding || take("FOLLOWING") else {
            throw expected("PRECEDING or FOLLOWING", after: "the bound", among: ["PRECEDING", "FOLLOWING"])
        }
        guard let offset else { return isPreceding ? .unboundedPreceding : .unboundedFollowing }
        return isPreceding ? .preceding(offset) : .following(offset)
    }
}
