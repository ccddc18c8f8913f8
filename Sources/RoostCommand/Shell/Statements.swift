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
