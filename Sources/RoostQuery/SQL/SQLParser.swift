import Roost

/// Reads queries in SQL++, as Couchbase Lite has it, by precedence climbing (V. Pratt, "Top down operator precedence", 1973).
struct SQLParser {
    private let tokens: [Token]
    private var position = 0
    private var depth = 0
    /// The queries of WITH, by their names.
    var named: [ByteKey: Select] = [:]
    /// How many expressions lie within each other at most in what was parsed of the present one.
    var height = 0
    /// No expression has others deeper within it, so that going through one needs little of a thread's stack.
    static let deepest = 50

    init(_ text: String) throws(QueryError) { tokens = try Lexer.tokens(of: text) }

    /// The query that `text` is.
    static func select(_ text: String) throws(QueryError) -> Select {
        var parser = try SQLParser(text)
        let select = try parser.select()
        _ = parser.take(.semicolon)
        try parser.expectEnd(after: "the query")
        return select
    }

    /// The expression that `text` is, such as the columns of an index have.
    static func expression(_ text: String) throws(QueryError) -> Expression {
        var parser = try SQLParser(text)
        let expression = try parser.expression()
        try parser.expectEnd(after: "the expression")
        return expression
    }

    /// Expressions, each with ASC or DESC, parted by commas.
    static func orderings(_ text: String) throws(QueryError) -> [Select.Ordering] {
        var parser = try SQLParser(text)
        let orderings = try parser.orderings()
        guard orderings.allSatisfy({ $0.nulls == nil }) else {
            throw QueryError("An index has null and missing values as the least of all: leave NULLS away")
        }
        try parser.expectEnd(after: "the expressions")
        return orderings
    }

    // MARK: Tokens

    var next: Token { tokens[position] }
    func peek(_ distance: Int) -> Token { tokens[max(0, min(position + distance, tokens.count - 1))] }
    mutating func advance() { position = min(position + 1, tokens.count - 1) }

    mutating func take(_ sign: Token.Sign) -> Bool {
        guard next.kind == .sign(sign) else { return false }
        advance()
        return true
    }

    func isNext(_ keyword: String) -> Bool { next.keyword == keyword }

    mutating func take(_ keyword: String) -> Bool {
        guard next.keyword == keyword else { return false }
        advance()
        return true
    }

    mutating func expect(_ keyword: String, after what: String) throws(QueryError) {
        guard take(keyword) else { throw expected(keyword, after: what, among: [keyword]) }
    }

    mutating func expect(_ sign: Token.Sign, after what: String) throws(QueryError) {
        guard take(sign) else { throw expected("\"\(sign.rawValue)\"", after: what) }
    }

    func expectEnd(after what: String) throws(QueryError) {
        guard next.kind != .end else { return }
        // A misspelt keyword is taken for a name without AS; what follows is what does not fit then.
        var hint = ""
        for token in [peek(-1), next] where hint.isEmpty {
            guard let word = token.keyword, word.utf8.count > 2 else { continue }
            hint = Suggestion.text(for: word, among: Keywords.clauses)
        }
        throw QueryError(
            "\(next.shown) can't follow here: \(what) is complete before it\(hint)", at: next.offset)
    }

    func expected(_ what: String, after before: String, among words: [String] = []) -> QueryError {
        let hint = next.keyword.map { Suggestion.text(for: $0, among: words) } ?? ""
        return QueryError(
            "\(what) is expected after \(before), and \(next.shown) was found\(hint)", at: next.offset)
    }

    /// Runs `body` one level deeper.
    mutating func nested<R>(
        _ body: (inout SQLParser) throws(QueryError) -> R
    ) throws(QueryError) -> R {
        guard depth < Self.deepest else {
            throw QueryError("The query is nested more than \(Self.deepest) deep.", at: next.offset)
        }
        depth += 1
        let before = height
        height = 0
        let result = try body(&self)
        depth -= 1
        height = max(before, height + 1)
        try checkHeight()
        return result
    }

    func checkHeight() throws(QueryError) {
        guard height <= Self.deepest else {
            throw QueryError(
                "More than \(Self.deepest) operators lie within each other; split the expression",
                at: next.offset)
        }
    }

    // MARK: Names

    /// A name that is no keyword.
    mutating func name(after what: String) throws(QueryError) -> String {
        guard let name = optionalName() else {
            let hint =
                next.keyword.map { Keywords.isReserved($0) } == true
                ? ": it is a keyword; put it in back quotes if it is meant as a name" : ""
            throw QueryError(
                "A name is expected after \(what), and \(next.shown) was found\(hint)", at: next.offset)
        }
        return name
    }

    /// Whether UNION, INTERSECT or EXCEPT comes next. They are names elsewhere.
    var isSetOperation: Bool {
        guard let word = next.keyword, Select.SetOperation(rawValue: word) != nil else { return false }
        return ["ALL", "DISTINCT"].contains(peek(1).keyword) || isQuery(at: 1)
            || peek(1).kind == .sign(.openParenthesis) && isQuery(at: 2)
    }

    /// Whether a query begins at a distance in tokens.
    func isQuery(at distance: Int) -> Bool {
        switch peek(distance).keyword {
        case "SELECT": true
        // A name elsewhere.
        case "WITH": peek(distance + 2).keyword == "AS" && peek(distance + 3).kind == .sign(.openParenthesis)
        default: false
        }
    }

    /// Whether WINDOW comes next with a window that has a name. It is a name elsewhere.
    var isWindowClause: Bool {
        isNext("WINDOW") && peek(2).keyword == "AS" && peek(3).kind == .sign(.openParenthesis)
    }

    mutating func optionalName() -> String? {
        guard !isSetOperation, !isWindowClause else { return nil }
        switch next.kind {
        case .word(let text) where !Keywords.isReserved(text.uppercased()):
            advance()
            return text
        case .quoted(let text):
            advance()
            return text
        default: return nil
        }
    }
}

/// The words that have a meaning of their own.
enum Keywords {
    static let clauses = [
        "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "JOIN", "LEFT", "INNER", "CROSS",
        "UNNEST",
        "AND", "OR", "AS", "DESC", "ASC", "IN", "LIKE", "BETWEEN", "IS", "COLLATE",
    ]
    private static let reserved = Set(
        clauses + [
            "ALL", "ANY", "BY", "CASE", "DISTINCT", "ELSE", "END", "EVERY", "EXISTS", "FALSE", "MISSING",
            "NOT", "NULL",
            "ON", "OUTER", "SATISFIES", "SELECT", "SOME", "THEN", "TRUE", "VALUED", "WHEN",
        ])

    static var all: [String] { reserved.sorted() }

    static func isReserved(_ word: String) -> Bool { reserved.contains(word) }
}
