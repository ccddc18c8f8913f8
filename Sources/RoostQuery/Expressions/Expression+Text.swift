import Roost

extension Expression {
    /// The expression in SQL++, for people; with parentheses where they might help.
    var sqlText: String {
        switch self {
        case .literal(let value): Self.text(of: value)
        case .missing: "MISSING"
        case .path(let steps, _): steps.isEmpty ? "*" : Self.text(of: steps)
        case .variable(let name, let steps, _): Self.text(of: [.key(name)] + steps)
        case .member(let value, let steps): "(\(value.sqlText))" + Self.text(of: steps, continuing: true)
        case .meta(let field, let alias, _): "META(\(alias ?? ""))" + (field.map { ".\($0.rawValue)" } ?? "")
        case .parameter(let name): "$\(name)"
        case .array(let values): "[\(Self.list(values))]"
        case .dictionary(let pairs):
            "{\(pairs.map { "\($0.name.debugDescription): \($0.value.sqlText)" }.joined(separator: ", "))}"
        case .arithmetic(let first, let operations):
            operations.reduce(first.operand) { "\($0) \($1.arithmetic.rawValue) \($1.operand.operand)" }
        case .negative(let value): "-\(value.operand)"
        case .concatenation(let parts): parts.map(\.operand).joined(separator: " || ")
        case .comparison(let comparison, let left, let right),
            .collation(let comparison, let left, let right):
            "\(left.operand) \(comparison.rawValue) \(right.operand)"
        case .identity(let left, let right, let isNegated):
            "\(left.operand) IS \(isNegated ? "NOT " : "")\(right.operand)"
        case .test(let value, let test, let isNegated):
            "\(value.operand) IS \(isNegated ? "NOT " : "")\(test.rawValue)"
        case .membership(let value, let list, let isNegated):
            "\(value.operand) \(isNegated ? "NOT " : "")IN \(list.operand)"
        case .like(let value, let pattern, let isNegated):
            "\(value.operand) \(isNegated ? "NOT " : "")LIKE \(pattern.operand)"
        case .all(let parts): parts.map(\.operand).joined(separator: " AND ")
        case .any(let parts): parts.map(\.operand).joined(separator: " OR ")
        case .not(let value): "NOT \(value.operand)"
        case .choice(let base, let branches, let otherwise): Self.text(base, branches, otherwise)
        case .quantified(let quantifier, let variable, let collection, let condition):
            "\(quantifier.rawValue) \(variable) IN \(collection.sqlText) SATISFIES \(condition.sqlText) END"
        case .exists: "EXISTS (a query)"
        case .select: "(a query)"
        case .collate(let options, let value): "\(value.operand) COLLATE \(Self.text(of: options))"
        case .call(let function, let values): "\(function.rawValue)(\(Self.list(values)))"
        case .aggregate(let aggregate, let value, let isDistinct, _):
            "\(aggregate.name.rawValue)(\(isDistinct ? "DISTINCT " : "")\(value?.sqlText ?? "*")\(aggregate.optionsText))"
        case .window(let call): call.sqlText
        case .match(let index, let text, _): "MATCH(\(index.map { "\($0), " } ?? "")\(text.sqlText))"
        case .rank(let index, _): "RANK(\(index ?? ""))"
        }
    }

    /// The text as an operand, in parentheses where it is an operator itself.
    private var operand: String {
        switch self {
        case .literal, .missing, .path, .variable, .member, .meta, .parameter, .array, .dictionary, .call,
            .aggregate, .window,
            .choice, .quantified, .exists, .select, .match, .rank:
            sqlText
        default: "(\(sqlText))"
        }
    }

    private static func list(_ values: [Expression]) -> String {
        values.map(\.sqlText).joined(separator: ", ")
    }

    private static func text(of value: DocumentValue) -> String {
        guard case .string(let text) = value else { return value == .null ? "NULL" : "\(value)" }
        return "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
    }

    private static func text(
        _ base: Expression?, _ branches: [Branch], _ otherwise: Expression?
    ) -> String {
        let parts = branches.map { "WHEN \($0.condition.sqlText) THEN \($0.value.sqlText)" }
        return
            (["CASE"] + (base.map { [$0.sqlText] } ?? []) + parts
            + (otherwise.map { ["ELSE \($0.sqlText)"] } ?? [])
            + ["END"]).joined(separator: " ")
    }

    /// A path as it is written, names in back quotes where they need them.
    static func text(of steps: [Step], continuing: Bool = false) -> String {
        var text = ""
        for step in steps {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .key(let name):
                if !text.isEmpty || continuing { text += "." }
                text += isPlain(name) ? name : "`\(name)`"
            }
        }
        return text
    }

    private static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, Lexer.isWordStart(first) else { return false }
        return !Keywords.isReserved(name.uppercased())
            && name.utf8.allSatisfy { Lexer.isWordStart($0) || $0 &- 48 < 10 }
    }

    private static func text(of options: CollationOptions) -> String {
        var words: [String] = []
        if let isUnicode = options.isUnicode {
            words.append(isUnicode ? "UNICODE" + (options.locale.map { ":\($0)" } ?? "") : "NOUNICODE")
        }
        if let isCaseSensitive = options.isCaseSensitive { words.append(isCaseSensitive ? "CASE" : "NOCASE") }
        if let isSensitive = options.isDiacriticSensitive { words.append(isSensitive ? "DIAC" : "NODIAC") }
        return words.count == 1 ? words[0] : "(\(words.joined(separator: " ")))"
    }
}
