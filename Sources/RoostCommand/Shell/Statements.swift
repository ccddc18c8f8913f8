import Foundation

/// A query or command that was typed.
struct Statement: Equatable {
    enum Kind { case query, command }

    let kind: Kind
    /// Without the ; that ends it.
    let text: String
    /// The line of the input where it begins, counted from 1.
    let line: Int
}

/// Cuts lines into statements. A query goes on over lines until a ; or an empty line, a command is on one line.
///
/// A ; within quotation marks or a comment ends nothing, nor does an empty line there. Comments before a statement are passed
/// over: `#` and `--` to the end of the line, `/* */` over lines.
struct Statements {
    /// What has been begun.
    enum Open: Equatable {
        case nothing, query, comment
        /// Text or a name in quotation marks of that kind.
        case quoted(Unicode.Scalar)
    }

    /// What has been begun by the lines that were taken, and is not complete.
    private(set) var open = Open.nothing
    /// What there is of a query.
    private var query: (text: String, line: Int)?
    private var lines = 0

    /// The statements that a line completes.
    mutating func take(_ line: String) -> [Statement] {
        lines += 1
        if open == .query, line.allSatisfy(\.isWhitespace) { return finish() }
        var found: [Statement] = []
        var rest = line[...].unicodeScalars
        while let statement = next(&rest) { found.append(statement) }
        query?.text += "\n"
        return found
    }

    /// What the end of the input completes.
    mutating func finish() -> [Statement] {
        defer { drop() }
        guard let query else { return [] }
        return [Statement(kind: .query, text: query.text, line: query.line)]
    }

    /// Forgets what is not complete.
    mutating func drop() {
        open = .nothing
        query = nil
    }

    /// The next statement that ends in the rest of a line.
    private mutating func next(_ rest: inout Substring.UnicodeScalarView) -> Statement? {
        if query == nil {
            guard skipToStatement(&rest) else { return nil }
            guard Self.isQuery(rest) else {
                let text = Substring(rest)
                let end = ShellWords.end(of: text)
                rest = rest[end...]
                return Statement(
                    kind: .command, text: text[..<end].trimmingCharacters(in: .whitespaces), line: lines)
            }
            open = .query
            query = ("", lines)
        }
        return takeQuery(&rest)
    }

    /// Passes over white space, semicolons and comments; `false` at the end of the line.
    private mutating func skipToStatement(_ rest: inout Substring.UnicodeScalarView) -> Bool {
        while let scalar = rest.first {
            if open == .comment {
                if Self.take("*/", from: &rest) { open = .nothing } else { rest.removeFirst() }
            } else if Self.take("/*", from: &rest) {
                open = .comment
            } else if scalar == "#" || rest.starts(with: "--".unicodeScalars) {
                return false
            } else if scalar == ";" || scalar.properties.isWhitespace {
                rest.removeFirst()
            } else {
                return true
            }
        }
        return false
    }

    private mutating func takeQuery(_ rest: inout Substring.UnicodeScalarView) -> Statement? {
        while let scalar = rest.first {
            switch open {
            case .nothing, .query:
                if scalar == ";" {
                    rest.removeFirst()
                    return finish().first
                }
                if rest.starts(with: "--".unicodeScalars) {
                    query?.text += String(rest)
                    rest = rest[rest.endIndex...]
                    continue
                }
                if rest.starts(with: "/*".unicodeScalars) {
                    open = .comment
                    copy(2, from: &rest)
                    continue
                }
                if scalar == "'" || scalar == "\"" || scalar == "`" { open = .quoted(scalar) }
            case .comment:
                if rest.starts(with: "*/".unicodeScalars) {
                    open = .query
                    copy(2, from: &rest)
                    continue
                }
            case .quoted(scalar): open = .query
            case .quoted: break
            }
            copy(1, from: &rest)
        }
        return nil
    }

    private mutating func copy(_ count: Int, from rest: inout Substring.UnicodeScalarView) {
        query?.text.unicodeScalars.append(contentsOf: rest.prefix(count))
        rest.removeFirst(count)
    }

    private static func take(_ text: String, from rest: inout Substring.UnicodeScalarView) -> Bool {
        guard rest.starts(with: text.unicodeScalars) else { return false }
        rest.removeFirst(text.unicodeScalars.count)
        return true
    }

    private static func isQuery(_ rest: Substring.UnicodeScalarView) -> Bool {
        let word = String(rest.prefix { $0.properties.isAlphabetic }).lowercased()
        return ExplainedQuery.starts.contains(word)
    }
}

// MARK: - ShellWords

/// The words of a command, as shells cut it: parted by spaces, quoted with ' or ", a character on its own after \, up to a ; that
/// is none of these.
///
/// What begins with { or [ is JSON, and one word up to its end, quotation marks and spaces included.
enum ShellWords {
    struct Unclosed: Error, CustomStringConvertible {
        let description: String
    }

    static func split(_ line: String) throws -> [String] {
        var rest = line[...]
        return try take(&rest)
    }

    /// Where the command that a line begins with ends: before a ; or at the line's end.
    static func end(of line: Substring) -> Substring.Index {
        var rest = line
        return (try? take(&rest)) == nil ? line.endIndex : rest.startIndex
    }

    private static func take(_ rest: inout Substring) throws -> [String] {
        var words: [String] = []
        while true {
            rest = rest.drop { $0.isWhitespace }
            guard let first = rest.first, first != ";" else { return words }
            words.append(try "{[".contains(first) ? json(&rest) : word(&rest))
        }
    }

    private static func word(_ rest: inout Substring) throws -> String {
        var word = ""
        while let next = rest.first, !next.isWhitespace, next != ";" {
            rest.removeFirst()
            switch next {
            case "\\": if let escaped = rest.popFirst() { word.append(escaped) }
            case "'", "\"":
                guard let end = rest.firstIndex(of: next) else {
                    throw Unclosed(description: "A quotation mark (\(next)) is not closed.")
                }
                word += rest[..<end]
                rest = rest[rest.index(after: end)...]
            default: word.append(next)
            }
        }
        return word
    }

    private static func json(_ rest: inout Substring) throws -> String {
        var word = ""
        var depth = 0
        var isInText = false
        while let next = rest.popFirst() {
            word.append(next)
            if isInText {
                if next == "\\", let escaped = rest.popFirst() { word.append(escaped) }
                if next == "\"" { isInText = false }
                continue
            }
            switch next {
            case "\"": isInText = true
            case "{", "[": depth += 1
            case "}", "]":
                depth -= 1
                if depth == 0 { return word }
            default: break
            }
        }
        throw Unclosed(description: "The JSON that begins with \(word.prefix(12)) is not complete.")
    }
}

// MARK: - ShellWord

/// What the shell understands beside queries and the tool's commands.
enum ShellWord: String, CaseIterable {
    case help, use, set, mode, output, once, read, timer, pager, exit

    /// The word that is meant, also by the names that other shells have for it.
    init?(typed: String) {
        switch typed.lowercased() {
        case "\\?", "?": self = .help
        case "quit", ".quit", "\\q": self = .exit
        case "\\i": self = .read
        case "\\o": self = .output
        case "\\timing": self = .timer
        case let name: self.init(rawValue: name.hasPrefix(".") ? String(name.dropFirst()) : name)
        }
    }

    var usage: String {
        switch self {
        case .help: "help [COMMAND|FUNCTION|functions]"
        case .use: "use [COLLECTION]"
        case .set: "set NAME [JSON]"
        case .mode: "mode [\(OutputMode.allCases.map(\.rawValue).joined(separator: "|"))]"
        case .output: "output [FILE]"
        case .once: "once FILE"
        case .read: "read FILE"
        case .timer: "timer [on|off]"
        case .pager: "pager [on|off]"
        case .exit: "exit"
        }
    }

    var summary: String {
        switch self {
        case .help: "what there is, or more of a command or function"
        case .use: "the collection that `_` and commands mean; without a name, the default one"
        case .set: "the value of $NAME in queries; without JSON there is none"
        case .mode: "how rows are printed; without a name, tells how"
        case .output: "where everything is printed from now on; without a file, here"
        case .once: "where the next statement prints"
        case .read: "carries out the statements in a file"
        case .timer: "whether each statement is followed by how long it took"
        case .pager: "whether long results are shown page by page"
        case .exit: "ends, as Ctrl-D does"
        }
    }
}
