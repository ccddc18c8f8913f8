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
