import Fleece
import Roost

/// Reads queries in LiteCore's JSON schema (its wiki page "JSON Query Schema").
///
/// A query is an object with the clauses by name, `["SELECT", {…}]`, or an expression, which is WHERE then. Names of
/// clauses, operators and functions may be in letters of any case.
struct JSONQueryParser {
    private var depth = 0
    /// How many expressions lie within each other at most in what was parsed of the present one.
    private var height = 0
    /// As in the text of a query.
    private static let longestPath = 512

    static func select(_ query: DocumentValue) throws(QueryError) -> Select {
        var parser = JSONQueryParser()
        switch query {
        case .dictionary(let clauses): return try parser.select(clauses)
        case .array(let items):
            if items.count == 2, items[0].string?.uppercased() == "SELECT",
                case .dictionary(let clauses) = items[1]
            {
                return try parser.select(clauses)
            }
            var select = Select()
            select.condition = try parser.expression(query)
            return select
        default:
            throw QueryError(
                "A query is an object with clauses such as WHAT and WHERE, or an array with an operator.")
        }
    }

    /// The expression that `value` is.
    static func expression(_ value: DocumentValue) throws(QueryError) -> Expression {
        var parser = JSONQueryParser()
        return try parser.expression(value)
    }

    // MARK: Clauses

    private static let clauseNames = [
        "WHAT", "FROM", "WHERE", "GROUP_BY", "HAVING", "ORDER_BY", "LIMIT", "OFFSET", "DISTINCT",
    ]

    mutating func select(_ clauses: NamedValues<DocumentValue>) throws(QueryError) -> Select {
        var named: [String: DocumentValue] = [:]
        for (name, value) in clauses {
            let upper = name.uppercased()
            guard Self.clauseNames.contains(upper) else {
                let hint = Suggestion.text(for: upper, among: Self.clauseNames)
                throw QueryError("There is no clause \(name.debugDescription)\(hint)")
            }
            guard named.updateValue(value, forKey: upper) == nil else {
                throw QueryError("The clause \(upper) is given twice")
            }
        }
        return try nested { (parser) throws(QueryError) in try parser.select(named: named) }
    }

    private mutating func select(named: [String: DocumentValue]) throws(QueryError) -> Select {
        var select = Select()
        if let distinct = named["DISTINCT"] {
            guard case .bool(let value) = distinct else { throw QueryError("DISTINCT is true or false") }
            select.isDistinct = value
        }
        for item in try items(named["WHAT"], of: "WHAT") { select.columns.append(try column(item)) }
        for item in try items(named["FROM"], of: "FROM") {
            select.sources.append(try source(item, isFirst: select.sources.isEmpty))
        }
        if let condition = named["WHERE"] { select.condition = try expression(condition) }
        for item in try items(named["GROUP_BY"], of: "GROUP_BY") {
            select.groups.append(try pathOrExpression(item))
        }
        if let having = named["HAVING"] {
            guard !select.groups.isEmpty else { throw QueryError("HAVING needs GROUP_BY") }
            select.having = try expression(having)
        }
        for item in try items(named["ORDER_BY"], of: "ORDER_BY") { select.order.append(try ordering(item)) }
        if let limit = named["LIMIT"] { select.limit = try expression(limit) }
        if let offset = named["OFFSET"] { select.offset = try expression(offset) }
        return select
    }

    private func items(_ value: DocumentValue?, of clause: String) throws(QueryError) -> [DocumentValue] {
        guard let value else { return [] }
        guard case .array(let items) = value else { throw QueryError("\(clause) is an array") }
        return items
    }

    private mutating func column(_ item: DocumentValue) throws(QueryError) -> Select.Column {
        if case .array(let parts) = item, parts.first?.string?.uppercased() == "AS" {
            guard parts.count == 3, let alias = parts[2].string, !alias.isEmpty else {
                throw QueryError("AS is written [\"AS\", expression, name]")
            }
            return Select.Column(value: try pathOrExpression(parts[1]), alias: alias)
        }
        return Select.Column(value: try pathOrExpression(item), alias: nil)
    }

    private mutating func ordering(_ item: DocumentValue) throws(QueryError) -> Select.Ordering {
        if case .array(let parts) = item, parts.count == 2, let word = parts[0].string?.uppercased(),
            word == "DESC" || word == "ASC"
        {
            return Select.Ordering(value: try pathOrExpression(parts[1]), isDescending: word == "DESC")
        }
        return Select.Ordering(value: try pathOrExpression(item))
    }

    /// In WHAT, GROUP_BY and ORDER_BY a bare string is the path of a property.
    private mutating func pathOrExpression(_ item: DocumentValue) throws(QueryError) -> Expression {
        guard case .string(let text) = item else { return try expression(item) }
        return .path(try steps(text.hasPrefix(".") ? String(text.dropFirst()) : text), .unknown)
    }

    // MARK: FROM

    private mutating func source(_ item: DocumentValue, isFirst: Bool) throws(QueryError) -> Select.Source {
        guard case .dictionary(let members) = item else { throw QueryError("Each item of FROM is an object") }
        var named: [String: DocumentValue] = [:]
        for (name, value) in members { named[name.uppercased()] = value }
        let known = ["COLLECTION", "SCOPE", "AS", "JOIN", "ON", "UNNEST"]
        for name in named.keys where !known.contains(name) {
            throw QueryError(
                "FROM knows no \(name.debugDescription)\(Suggestion.text(for: name, among: known))")
        }
        let alias = named["AS"]?.string
        if let path = named["UNNEST"] {
            guard !isFirst else { throw QueryError("The first item of FROM is a collection, not UNNEST") }
            guard named["JOIN"] == nil, named["ON"] == nil else {
                throw QueryError("UNNEST takes no JOIN and no ON")
            }
            let value = try pathOrExpression(path)
            guard let alias = alias ?? value.lastName else {
                throw QueryError("UNNEST of an expression needs AS")
            }
            return Select.Source(origin: .elements(value), alias: alias, join: .inner)
        }
        return try collection(named, alias, isFirst)
    }

    private mutating func collection(
        _ named: [String: DocumentValue], _ alias: String?, _ isFirst: Bool
    ) throws(QueryError) -> Select.Source {
        let parts = (named["COLLECTION"]?.string ?? "_").split(separator: ".", maxSplits: 1).map(String.init)
        guard let name = parts.last else { throw QueryError("The name in COLLECTION is empty") }
        let scope = named["SCOPE"]?.string ?? (parts.count == 2 ? parts[0] : "_default")
        var source = Select.Source(
            origin: .collection(name, scope: scope),
            alias: alias ?? (name == "_" || name == "_default" ? "_doc" : name))
        let joins: [String: Select.Join] = [
            "INNER": .inner, "LEFT": .left, "LEFT OUTER": .left, "CROSS": .cross,
        ]
        if isFirst {
            guard named["JOIN"] == nil, named["ON"] == nil else {
                throw QueryError("The first item of FROM has nothing before it that it could be joined to")
            }
            return source
        }
        guard let word = (named["JOIN"] ?? "INNER").string?.uppercased(), let join = joins[word] else {
            throw QueryError("JOIN is one of INNER, LEFT, LEFT OUTER and CROSS")
        }
        source.join = join
        if let condition = named["ON"] {
            guard join != .cross else { throw QueryError("CROSS JOIN takes every row and has no ON") }
            source.condition = try expression(condition)
        } else if join != .cross {
            throw QueryError("A join with \(name) needs ON")
        }
        return source
    }

    /// Runs `body` one level deeper.
    mutating func nested<R>(
        _ body: (inout JSONQueryParser) throws(QueryError) -> R
    ) throws(QueryError) -> R {
        guard depth < SQLParser.deepest else {
            throw QueryError("The query is nested more than \(SQLParser.deepest) deep.")
        }
        depth += 1
        let before = height
        height = 0
        let result = try body(&self)
        depth -= 1
        height = max(before, height + 1)
        return result
    }

    /// The steps of a path such as `a.b[0]`, where a backslash makes a dot part of a name.
    func steps(_ text: String) throws(QueryError) -> [Step] {
        // The whole document of an alias ends in a dot.
        let isWhole = text.hasSuffix(".") && !text.hasSuffix("\\.")
        let components: [Step]
        do throws(FleeceError) {
            components = try FleecePath(parsing: isWhole ? String(text.dropLast()) : text).components
        } catch {
            throw QueryError(error.message)
        }
        guard components.count <= Self.longestPath else {
            throw QueryError("The path has more than \(Self.longestPath) steps")
        }
        return components
    }
}
