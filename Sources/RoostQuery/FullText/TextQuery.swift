import Roost

/// What is searched for in a full-text index.
indirect enum TextQuery: Hashable, Sendable {
    case phrase(TextPhrase)
    /// Phrases that stand near each other, in any order: with at most that many words between the end of the first and the
    /// beginning of the last.
    case near([TextPhrase], distance: Int)
    case all([TextQuery])
    case any([TextQuery])
    case not(TextQuery)

    /// How far apart words near each other may be where nothing else is said.
    static let usualDistance = 10
}

/// Words that follow each other, or one word.
struct TextPhrase: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// Words in any of their forms.
        case words
        /// Words exactly as they are.
        case exact
        /// The last word is the beginning of one.
        case prefix
        /// Words that differ by so many letters at most.
        case fuzzy(Int)
    }

    /// As it was typed.
    var text: String
    var kind = Kind.words
    /// The columns in which it is looked for; `nil` for all.
    var columns: Set<ByteKey>?
    /// Whether those are the columns in which it is not.
    var excludesColumns = false
    /// Whether it is at the beginning of a column.
    var isAnchored = false
    /// What its score is multiplied by.
    var boost = 1.0
}

/// A query that can't be understood.
struct TextQueryError: Error, Equatable {
    let message: String
    /// Where, in bytes.
    let offset: Int
}

// MARK: - Text query parser

/// Reads the language of full-text queries.
///
///     any      = all { OR all }
///     all      = one { [AND] one }
///     one      = (NOT | "-") one | near
///     near     = item { NEAR [ "/" number ] item }
///     item     = [ columns ":" ] ( "(" any ")" | NEAR "(" phrase { phrase } [ "," number ] ")" | phrase )
///     columns  = name | "{" name { name } "}", each with "-" before it for all others
///     phrase   = [ "^" ] [ "=" ] ( word | quoted ) [ "*" | "~" [ number ] ] [ "^" number ]
struct TextQueryParser {
    private let text: [UInt8]
    private var position = 0
    private var depth = 0

    /// How deeply parentheses may be nested.
    private static let deepest = 64
    /// The longest query, in bytes.
    static let longest = 64 << 10

    private init(_ text: String) { self.text = Array(text.utf8) }

    /// The query that a text means.
    static func parse(_ text: String) throws(TextQueryError) -> TextQuery {
        guard text.utf8.count <= longest else {
            throw TextQueryError(message: "A search of more than \(longest) bytes", offset: longest)
        }
        var parser = TextQueryParser(text)
        let query = try parser.any(nil)
        parser.skipSpace()
        guard parser.position == parser.text.count else {
            throw parser.error("Nothing more was expected here")
        }
        return query
    }

    /// What a person means who does not know the language: all of the words, quoted ones side by side, and none of those behind
    /// a minus.
    static func words(_ text: String) -> TextQuery {
        var parts: [TextQuery] = []
        for (index, quoted) in text.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            if index % 2 == 1 {
                parts.append(.phrase(TextPhrase(text: String(quoted))))
                continue
            }
            for word in quoted.split(whereSeparator: \.isWhitespace) {
                let isExcluded = word.first == "-" && word.count > 1
                let phrase = TextPhrase(
                    text: String(word.drop { $0 == "-" }), kind: word.last == "*" ? .prefix : .words)
                parts.append(isExcluded ? .not(.phrase(phrase)) : .phrase(phrase))
            }
        }
        // One that is too long for the language is too long for a search.
        return .all(Array(parts.prefix(256)))
    }

    private func error(_ message: String) -> TextQueryError {
        TextQueryError(message: message, offset: position)
    }

    // MARK: Combinations

    /// Columns that a part of a query is limited to.
    private struct Columns {
        let names: Set<ByteKey>
        let isExcluding: Bool
    }

    private mutating func any(_ columns: Columns?) throws(TextQueryError) -> TextQuery {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw error("Parentheses are nested too deeply") }
        var parts = [try all(columns)]
        while take(keyword: "OR") { parts.append(try all(columns)) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func all(_ columns: Columns?) throws(TextQueryError) -> TextQuery {
        var parts = [try one(columns)]
        while true {
            skipSpace()
            if take(keyword: "AND") {
                parts.append(try one(columns))
                continue
            }
            guard position < text.count, text[position] != UInt8(ascii: ")"), !sees(keyword: "OR") else {
                break
            }
            parts.append(try one(columns))
        }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func one(_ columns: Columns?) throws(TextQueryError) -> TextQuery {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw error("NOT is nested too deeply") }
        skipSpace()
        if take(keyword: "NOT") { return .not(try one(columns)) }
        if sees("-"), !seesColumns {
            position += 1
            guard position < text.count, !isSpace(text[position]) else {
                throw error("A word is missing after -")
            }
            return .not(try one(columns))
        }
        return try near(columns)
    }

    private mutating func near(_ columns: Columns?) throws(TextQueryError) -> TextQuery {
        var query = try item(columns)
        var phrases: [TextPhrase] = []
        var farthest = 0
        while sees(keyword: "NEAR"), !seesNearCall {
            _ = take(keyword: "NEAR")
            var distance = TextQuery.usualDistance
            if take("/") { distance = try number() }
            if phrases.isEmpty {
                guard case .phrase(let first) = query else {
                    throw error("NEAR stands between words and phrases")
                }
                phrases = [first]
            }
            guard case .phrase(let next) = try item(columns) else {
                throw error("NEAR stands between words and phrases")
            }
            phrases.append(next)
            farthest = max(farthest, distance)
            query = .near(phrases, distance: farthest)
        }
        return query
    }

    private mutating func item(_ outer: Columns?) throws(TextQueryError) -> TextQuery {
        skipSpace()
        var columns = outer
        if seesColumns { columns = try columnFilter() }
        skipSpace()
        if sees(keyword: "AND") || sees(keyword: "OR") { throw error("A word was expected here") }
        if take("(") {
            let query = try any(columns)
            skipSpace()
            guard take(")") else { throw error("A closing parenthesis is missing") }
            return query
        }
        if seesNearCall { return try nearCall(columns) }
        return .phrase(try phrase(columns))
    }

    private mutating func nearCall(_ columns: Columns?) throws(TextQueryError) -> TextQuery {
        _ = take(keyword: "NEAR")
        skipSpace()
        _ = take("(")
        var phrases: [TextPhrase] = []
        var distance = TextQuery.usualDistance
        while true {
            skipSpace()
            if take(")") { break }
            if take(",") {
                skipSpace()
                distance = try number()
                skipSpace()
                guard take(")") else { throw error("A closing parenthesis is missing") }
                break
            }
            phrases.append(try phrase(columns))
        }
        guard !phrases.isEmpty else { throw error("NEAR() is of at least one word") }
        return phrases.count == 1 ? .phrase(phrases[0]) : .near(phrases, distance: distance)
    }

    // MARK: Phrases

    private mutating func phrase(_ columns: Columns?) throws(TextQueryError) -> TextPhrase {
        var phrase = TextPhrase(text: "")
        phrase.columns = columns?.names
        phrase.excludesColumns = columns?.isExcluding ?? false
        if take("^") { phrase.isAnchored = true }
        skipSpace()
        if take("=") { phrase.kind = .exact }
        if take("\"") {
            phrase.text = try quoted()
        } else {
            phrase.text = bareword()
            guard !phrase.text.isEmpty else {
                throw error(
                    position < text.count ? "A word was expected here" : "A word is missing at the end")
            }
        }
        if take("*") {
            phrase.kind = .prefix
        } else if take("~") {
            let distance = seesDigit ? try number() : phrase.text.count > 5 ? 2 : 1
            guard 1...2 ~= distance else { throw error("Words may differ by 1 or 2 letters") }
            phrase.kind = .fuzzy(distance)
        }
        if sees("^"), position + 1 < text.count, isDigit(text[position + 1]) {
            position += 1
            phrase.boost = try decimal()
        }
        return phrase
    }

    /// The text up to a closing quote; two quotes stand for one.
    private mutating func quoted() throws(TextQueryError) -> String {
        var bytes: [UInt8] = []
        while position < text.count {
            if take("\"") {
                guard sees("\"") else { return String(decoding: bytes, as: UTF8.self) }
            }
            bytes.append(text[position])
            position += 1
        }
        throw error("A closing quote is missing")
    }

    private mutating func bareword() -> String {
        let start = position
        while position < text.count, !isSpace(text[position]), !Self.signs.contains(text[position]) {
            position += 1
        }
        return String(decoding: text[start..<position], as: UTF8.self)
    }

    /// What ends a word.
    private static let signs = Set("\"()*~^,{}:".utf8)

    // MARK: Columns

    /// Whether columns and a colon come next.
    private var seesColumns: Bool {
        var copy = self
        guard (try? copy.columnFilter()) != nil else { return false }
        return true
    }

    private mutating func columnFilter() throws(TextQueryError) -> Columns {
        skipSpace()
        let isExcluding = take("-")
        skipSpace()
        var names: Set<ByteKey> = []
        if take("{") {
            skipSpace()
            while !take("}") {
                let name = take("\"") ? try quoted() : bareword()
                guard !name.isEmpty else { throw error("The name of a column was expected here") }
                names.insert(ByteKey(name))
                skipSpace()
            }
        } else {
            let name = take("\"") ? try quoted() : bareword()
            guard !name.isEmpty else { throw error("The name of a column was expected here") }
            names = [ByteKey(name)]
        }
        skipSpace()
        guard take(":") else { throw error("A colon was expected here") }
        return Columns(names: names, isExcluding: isExcluding)
    }

    // MARK: Characters

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }
    private func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    private var seesDigit: Bool { position < text.count && isDigit(text[position]) }

    private mutating func skipSpace() {
        while position < text.count, isSpace(text[position]) { position += 1 }
    }

    private func sees(_ sign: Unicode.Scalar) -> Bool {
        position < text.count && text[position] == UInt8(ascii: sign)
    }

    private mutating func take(_ sign: Unicode.Scalar) -> Bool {
        guard sees(sign) else { return false }
        position += 1
        return true
    }

    /// Whether a keyword, in capitals, comes next.
    private func sees(keyword: StaticString) -> Bool {
        var copy = self
        return copy.take(keyword: keyword)
    }

    private mutating func take(keyword: StaticString) -> Bool {
        skipSpace()
        let word = Array("\(keyword)".utf8)
        let end = position + word.count
        guard end <= text.count, text[position..<end].elementsEqual(word) else { return false }
        guard end == text.count || isSpace(text[end]) || "(\"/^=".utf8.contains(text[end]) else {
            return false
        }
        position = end
        return true
    }

    private var seesNearCall: Bool {
        var copy = self
        guard copy.take(keyword: "NEAR") else { return false }
        copy.skipSpace()
        return copy.sees("(")
    }

    private mutating func number() throws(TextQueryError) -> Int {
        let start = position
        while seesDigit, position - start < 9 { position += 1 }
        guard let number = Int(String(decoding: text[start..<position], as: UTF8.self)) else {
            throw error("A number was expected here")
        }
        return number
    }

    private mutating func decimal() throws(TextQueryError) -> Double {
        let start = position
        while position < text.count, isDigit(text[position]) || text[position] == UInt8(ascii: "."),
            position - start < 12
        {
            position += 1
        }
        guard let number = Double(String(decoding: text[start..<position], as: UTF8.self)) else {
            throw error("A number was expected here")
        }
        return number
    }
}
