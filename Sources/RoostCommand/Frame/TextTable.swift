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

    /// A value on one line: text as it is, everything else as JSON, nothing for what is not there.
    static func text(_ value: FleeceValue) -> String {
        guard value.exists else { return "" }
        let text = value.string ?? value.json()
        return text.contains { $0.isNewline || $0 == "\t" } ? text.debugDescription : text
    }

    func print() {
        let lines = [names] + rows
        let widths = names.indices.map { column in
            min(Self.widestColumn, lines.map { $0[column].count }.max() ?? 0)
        }
        for line in lines {
            let cells = line.enumerated().map { column, text -> String in
                let cut = text.count > widths[column] ? text.prefix(widths[column] - 1) + "…" : text[...]
                let space = String(repeating: " ", count: widths[column] - cut.count)
                return isNumeric[column] ? space + cut : cut + space
            }
            Console.print(cells.joined(separator: "  ").trimmingEnd())
        }
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
