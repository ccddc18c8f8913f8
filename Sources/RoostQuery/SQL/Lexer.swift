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
