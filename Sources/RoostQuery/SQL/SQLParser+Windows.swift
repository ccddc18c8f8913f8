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
