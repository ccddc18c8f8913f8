/// Cuts the text of a query into tokens.
struct Lexer {
    private let text: [UInt8]
    private var position = 0
    private var tokens: [Token] = []

    /// The longest text of a query, in bytes.
    static let longestText = 1 << 20

    private init(_ text: [UInt8]) { self.text = text }

    /// All tokens of `text`, the last of them ``Token/Kind/end``.
    static func tokens(of text: String) throws(QueryError) -> [Token] {
        guard text.utf8.count <= longestText else {
            throw QueryError(
                "The query has \(text.utf8.count) bytes, more than the \(longestText) that are read.")
        }
        var lexer = Lexer(Array(text.utf8))
        while try lexer.skipSpace() { try lexer.take() }
        lexer.tokens.append(Token(kind: .end, offset: lexer.text.count))
        return lexer.tokens
    }

    private func byte(_ distance: Int = 0) -> UInt8 {
        position + distance < text.count ? text[position + distance] : 0
    }

    /// Passes over white space and comments; `false` at the end.
    private mutating func skipSpace() throws(QueryError) -> Bool {
        while position < text.count {
            switch byte() {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            case UInt8(ascii: "-") where byte(1) == UInt8(ascii: "-"):
                while position < text.count, byte() != 0x0A { position += 1 }
            case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"):
                let start = position
                position += 2
                while byte() != UInt8(ascii: "*") || byte(1) != UInt8(ascii: "/") {
                    guard position < text.count else {
                        throw QueryError("The comment that begins here is not closed by */.", at: start)
                    }
                    position += 1
                }
                position += 2
            default: return true
            }
        }
        return false
    }

    private mutating func take() throws(QueryError) {
        let start = position
        let kind: Token.Kind
        switch byte() {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): kind = .string(try quoted())
        case UInt8(ascii: "`"): kind = .quoted(try quoted())
        case UInt8(ascii: "$"):
            position += 1
            let name = word()
            guard !name.isEmpty else { throw QueryError("A parameter's name must follow the $.", at: start) }
            kind = .parameter(name)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): kind = try number()
        case UInt8(ascii: ".") where isDigit(byte(1)): kind = try number()
        case let byte where Self.isWordStart(byte): kind = .word(word())
        default: kind = .sign(try sign())
        }
        tokens.append(Token(kind: kind, offset: start))
    }

    private mutating func sign() throws(QueryError) -> Token.Sign {
        for length in [2, 1] where position + length <= text.count {
            let candidate = String(decoding: text[position..<position + length], as: UTF8.self)
            guard let sign = Token.Sign(rawValue: candidate) else { continue }
            position += length
            return sign
        }
        let rest = String(decoding: text[position...].prefix(4), as: UTF8.self)
        throw QueryError(
            "\(String(rest.prefix(1)).debugDescription) is no part of the language.", at: position)
    }

    static func isWordStart(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
            || byte >= 0x80
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

    private mutating func word() -> String {
        let start = position
        while Self.isWordStart(byte()) || isDigit(byte()) || byte() == UInt8(ascii: "$") && position > start {
            position += 1
        }
        return String(decoding: text[start..<position], as: UTF8.self)
    }

    /// Text in quotation marks of one kind, where two of them stand for one.
    private mutating func quoted() throws(QueryError) -> String {
        let (start, mark) = (position, byte())
        var content: [UInt8] = []
        position += 1
        while position < text.count {
            if byte() == mark {
                position += 1
                if byte() != mark || position >= text.count {
                    return String(decoding: content, as: UTF8.self)
                }
            }
            content.append(byte())
            position += 1
        }
        throw QueryError(
            "What begins here with \(Character(Unicode.Scalar(mark))) is not closed by another.", at: start)
    }

    private mutating func number() throws(QueryError) -> Token.Kind {
        let start = position
        while isDigit(byte()) { position += 1 }
        var isWhole = true
        let whole = position
        if byte() == UInt8(ascii: ".") {
            isWhole = false
            position += 1
            while isDigit(byte()) { position += 1 }
        }
        let hasFraction = position > whole + 1
        if byte() | 0x20 == UInt8(ascii: "e") {
            let hasSign = byte(1) == UInt8(ascii: "+") || byte(1) == UInt8(ascii: "-")
            if isDigit(byte(hasSign ? 2 : 1)) {
                isWhole = false
                position += hasSign ? 2 : 1
                while isDigit(byte()) { position += 1 }
            }
        }
        var digits = String(decoding: text[start..<position], as: UTF8.self)
        // `1.` and `1.e3` are numbers in SQL, and none in Swift.
        if !isWhole, !hasFraction { digits.replace(".", with: "", maxReplacements: 1) }
        guard !Self.isWordStart(byte()) else {
            throw QueryError(
                "A number can't run into a name. Put the name in back quotes if it is one.", at: start)
        }
        if isWhole, let value = Int64(digits) { return .integer(value) }
        if isWhole, let value = UInt64(digits) { return .unsigned(value) }
        guard let value = Double(digits), value.isFinite else {
            throw QueryError("The number is beyond those that a floating-point number can hold.", at: start)
        }
        return .double(value)
    }
}

// MARK: - Token

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

// MARK: - Query syntax

/// What tools that help to write queries need to know of SQL++.
package enum QuerySyntax {
    /// The keywords, in capitals.
    package static var keywords: [String] { Keywords.all }

    /// The names of functions.
    package static var functions: [String] {
        FunctionTable.all.map(\.name)
    }

    /// The texts in quotation marks that stand where a query has a collection, behind FROM or JOIN, with their places in bytes.
    package static func textSources(of text: String) -> [(range: Range<Int>, text: String)] {
        guard let tokens = try? Lexer.tokens(of: text) else { return [] }
        let bytes = Array(text.utf8)
        return tokens.indices.dropFirst().compactMap { index in
            guard case .string(let source) = tokens[index].kind, let keyword = tokens[index - 1].keyword,
                keyword == "FROM" || keyword == "JOIN",
                // EXTRACT(year FROM '2024-02-29')
                index < 4 || tokens[index - 4].keyword != "EXTRACT"
            else { return nil }
            let mark = bytes[tokens[index].offset]
            // Each mark in the text stands there twice.
            let length = source.utf8.reduce(2) { $0 + ($1 == mark ? 2 : 1) }
            return (tokens[index].offset..<tokens[index].offset + length, source)
        }
    }

    /// Whether a text is likely to go on: what is wrong with it is that it ends, or it has no FROM.
    package static func isIncomplete(_ text: String) -> Bool {
        do throws(QueryError) {
            return try SQLParser.select(text).sources.isEmpty
        } catch {
            var end = text.utf8.count
            for byte in text.utf8.reversed() {
                guard byte <= 32 else { break }
                end -= 1
            }
            return error.offset.map { $0 >= end } ?? false
        }
    }
}
