import Fleece
import RoostQuery

/// Rows as people read them: columns under their names, numbers to the right.
struct TextTable {
    private let names: [String]
    private var rows: [[String]] = []
    private var isNumeric: [Bool]
    /// Longer texts are cut off.
    private static let widestColumn = 60

    var count: Int { rows.count }

    init(_ names: [String]) {
        self.names = names
        isNumeric = names.map { _ in true }
    }

    mutating func add(_ row: Row) {
        var texts: [String] = []
        for index in 0..<row.count {
            let value = row[index]
            texts.append(Self.text(value))
            if value.exists, !value.isNull, value.double == nil { isNumeric[index] = false }
        }
        rows.append(texts)
    }

    /// Adds a row of texts.
    mutating func add(_ texts: [String]) {
        for (index, text) in texts.enumerated() where Double(text) == nil { isNumeric[index] = false }
        rows.append(texts)
    }

    /// A value on one line: text as it is, everything else as JSON, nothing for what is not there.
    static func text(_ value: FleeceValue) -> String {
        guard value.exists else { return "" }
        let text = value.string ?? value.json()
        return text.contains { $0.isNewline || $0 == "\t" } ? text.debugDescription : text
    }

    /// Prints the rows below each other.
    ///
    /// - Parameter width: how many columns there are to show them in; where they don't fit, the widest are cut off, and where
    ///   that would leave nothing to read, each row is printed over several lines.
    func print(fitting width: Int = .max) {
        let lines = [names] + rows
        var widths = names.indices.map { column in
            min(Self.widestColumn, lines.map { Self.width(of: $0[column]) }.max() ?? 0)
        }
        let gaps = 2 * max(0, names.count - 1)
        guard names.count * Self.narrowestColumn + gaps <= width || widths.reduce(gaps, +) <= width else {
            return printRecords(width)
        }
        while widths.reduce(gaps, +) > width, let widest = widths.indices.max(by: { widths[$0] < widths[$1] })
        {
            widths[widest] -= 1
        }
        for line in lines {
            let cells = line.enumerated().map { column, text -> String in
                let cut = Self.cut(text, to: widths[column])
                let space = String(repeating: " ", count: max(0, widths[column] - Self.width(of: cut)))
                return isNumeric[column] ? space + cut : cut + space
            }
            Console.print(cells.joined(separator: "  ").trimmingEnd())
        }
    }

    private static let narrowestColumn = 6

    private func printRecords(_ width: Int) {
        let label = names.map { Self.width(of: $0) }.max() ?? 0
        for (number, row) in rows.enumerated() {
            Console.print("— \(number + 1) —")
            for (name, text) in zip(names, row) {
                let space = String(repeating: " ", count: label - Self.width(of: name))
                Console.print("\(name)\(space)  \(Self.cut(text, to: max(8, width - label - 2)))")
            }
        }
    }

    private static func width(of text: String) -> Int { text.reduce(0) { $0 + $1.columns } }

    /// The text, or as much of it as fits before an ellipsis.
    private static func cut(_ text: String, to width: Int) -> String {
        guard self.width(of: text) > width else { return text }
        var (result, used) = ("", 1)
        for character in text {
            used += character.columns
            guard used <= width else { break }
            result.append(character)
        }
        return result + "…"
    }
}

extension String {
    fileprivate func trimmingEnd() -> String {
        var copy = self
        while copy.last == " " { copy.removeLast() }
        return copy
    }
}

/// Values as RFC 4180 has them.
enum CommaSeparated {
    static func field(_ text: String) -> String {
        guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            + "\""
    }

    /// Nothing for what is not there and for null.
    static func field(_ value: FleeceValue) -> String {
        guard value.exists, !value.isNull else { return "" }
        return field(value.string ?? value.json())
    }
}
