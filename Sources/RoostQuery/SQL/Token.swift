/// A word, number, string or sign in the text of a query.
struct Token: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// A name or a keyword, as it is written.
        case word(String)
        /// A name in back quotes, which is no keyword.
        case quoted(String)
        case string(String)
        case integer(Int64)
        case unsigned(UInt64)
        case double(Double)
        /// A parameter's name, without the dollar sign.
        case parameter(String)
        case sign(Sign)
        case end
    }

    enum Sign: String, Hashable, Sendable, CaseIterable {
        case equal = "=", doubleEqual = "==", unequal = "!=", angles = "<>"
        case lessOrEqual = "<=", greaterOrEqual = ">=", less = "<", greater = ">"
        case shiftLeft = "<<", shiftRight = ">>", and = "&", concatenate = "||", or = "|"
        case plus = "+", minus = "-", star = "*", slash = "/", percent = "%"
        case dot = ".", comma = ",", colon = ":", semicolon = ";"
        case openParenthesis = "(", closeParenthesis = ")", openBracket = "[", closeBracket = "]"
        case openBrace = "{", closeBrace = "}"
    }

    let kind: Kind
    /// Where it begins, in bytes.
    let offset: Int

    /// The token as an error shows it.
    var shown: String {
        switch kind {
        case .word(let text): text
        case .quoted(let text): "`\(text)`"
        case .string(let text): "'\(text.prefix(40))'"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .double(let value): "\(value)"
        case .parameter(let name): "$\(name)"
        case .sign(let sign): "\"\(sign.rawValue)\""
        case .end: "the end"
        }
    }

    /// The keyword that the token is, in capitals; `nil` for anything that is no word.
    var keyword: String? { if case .word(let text) = kind { text.uppercased() } else { nil } }
}
