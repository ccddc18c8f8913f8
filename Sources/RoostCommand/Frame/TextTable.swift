import Fleece
import RoostQuery

/// Rows as people read them, printed as they come: columns under their names, numbers to the right.
///
/// The first rows are kept until there are enough of them to tell how wide columns should be. From then on a column only becomes
/// wider, for a row that needs it.
struct TextTable {
    private let names: [String]
    /// How many columns of characters there are to show rows in; `nil` for any number.
    private let room: Int?
    /// Table, box or Markdown.
    private let mode: OutputMode
    private var isRecords: Bool
    private var isNumeric: [Bool]
    private var widths: [Int]
    /// The rows that widths are found by; none any more once these are printed.
    private var first: [[String]]? = []
    private var printed = 0

    /// So many rows tell the widths.
    private static let firstRows = 200
    /// Longer texts are cut off, where there is any number of columns.
    private static let widestColumn = 60
    private static let narrowestColumn = 6

    /// - Parameters:
    ///   - room: how many columns of characters there are: where rows don't fit, the widest columns are cut off, and where that
    ///     would leave nothing to read, each row is printed over several lines.
    ///   - mode: a table, with lines or without them, or records, each of which is printed over several lines. In Markdown nothing is
    ///     cut off.
    init(_ names: [String], fitting room: Int? = nil, as mode: OutputMode = .table) {
        self.names = names.map(Self.text)
        self.room = mode == .markdown ? nil : room
        self.mode = mode
        isRecords = mode == .records
        isNumeric = names.map { _ in true }
        widths = names.map { _ in 0 }
    }

    /// Adds a row of a query.
    mutating func add(_ row: ResultRow) {
        let values = (0..<row.count).map { row[$0] }
        add(values.map(Self.text)) { !values[$0].exists || values[$0].isNull || values[$0].double != nil }
    }

    /// Adds a row of texts.
    mutating func add(_ texts: [String]) { add(texts) { Double(texts[$0]) != nil } }

    private mutating func add(_ texts: [String], isNumber: (Int) -> Bool) {
        let row = texts.map { text in
            mode == .markdown
                ? Self.text(text).replacing("|", with: "\\|")
                : Self.cut(Self.text(text), to: room ?? Self.widestColumn)
        }
        guard var first else { return print([row]) }
        for index in texts.indices where !isNumber(index) { isNumeric[index] = false }
        first.append(row)
        self.first = first
        if first.count == Self.firstRows { printFirst() }
    }

    /// Prints what is not printed yet.
    mutating func finish() {
        if first != nil { printFirst() }
        if mode == .box, !isRecords { printRule("└", "┴", "┘") }
    }

    /// What stands between columns, and how much room it takes at both ends.
    private var gap: (text: String, ends: Int) {
        mode == .table ? ("  ", 0) : (mode == .box ? " │ " : " | ", 4)
    }

    private mutating func printFirst() {
        let rows = first ?? []
        first = nil
        let gaps = gap.text.count * max(0, names.count - 1) + gap.ends
        if let room, names.count * Self.narrowestColumn + gaps > room {
            let needed = names.indices.map { column in
                ([names] + rows).map { Self.width(of: $0[column]) }.max() ?? 0
            }
            isRecords = isRecords || needed.reduce(gaps, +) > room
        }
        guard !isRecords, mode != .table else { return print(isRecords ? rows : [names] + rows) }
        widen(for: [names] + rows)
        if mode == .box { printRule("┌", "┬", "┐") }
        print([names])
        if mode == .box {
            printRule("├", "┼", "┤")
        } else {
            let marks = widths.indices.map {
                String(repeating: "-", count: max(3, widths[$0]) - 1) + (isNumeric[$0] ? ":" : "-")
            }
            Console.print("| " + marks.joined(separator: " | ") + " |")
        }
        print(rows)
    }

    private func printRule(_ left: String, _ middle: String, _ right: String) {
        let lines = widths.map { String(repeating: "─", count: $0 + 2) }
        Console.print(left + lines.joined(separator: middle) + right)
    }

    private mutating func print(_ lines: [[String]]) {
        guard !isRecords else { return lines.forEach { printRecord($0) } }
        // Lines around cells fit no wider ones.
        if mode == .table { widen(for: lines) }
        for line in lines {
            let cells = line.enumerated().map { column, text -> String in
                let cut = mode == .markdown ? text : Self.cut(text, to: widths[column])
                let space = String(repeating: " ", count: max(0, widths[column] - Self.width(of: cut)))
                return isNumeric[column] ? space + cut : cut + space
            }
            let text = cells.joined(separator: gap.text)
            switch mode {
            case .box: Console.print("│ \(text) │")
            case .markdown: Console.print("| \(text) |")
            default: Console.print(text.trimmingEnd())
            }
        }
    }

    /// Makes columns as wide as `lines` need them, as far as there is room.
    private mutating func widen(for lines: [[String]]) {
        let least = widths
        for column in names.indices {
            if mode == .markdown { widths[column] = max(3, widths[column]) }
            widths[column] = lines.reduce(widths[column]) { max($0, Self.width(of: $1[column])) }
        }
        guard let room else { return }
        var excess = widths.reduce(gap.text.count * max(0, names.count - 1) + gap.ends, +) - room
        while excess > 0,
            let widest = widths.indices.filter({ widths[$0] > least[$0] }).max(by: { widths[$0] < widths[$1] }
            )
        {
            widths[widest] -= 1
            excess -= 1
        }
    }

    private mutating func printRecord(_ row: [String]) {
        printed += 1
        Console.print("— \(printed) —")
        let label = names.map { Self.width(of: $0) }.max() ?? 0
        for (name, text) in zip(names, row) {
            let space = String(repeating: " ", count: label - Self.width(of: name))
            Console.print(
                "\(name)\(space)  \(room.map { Self.cut(text, to: max(8, $0 - label - 2)) } ?? text)")
        }
    }

    // MARK: Texts

    /// A value on one line: text as it is, everything else as JSON, nothing for what is not there.
    private static func text(_ value: FleeceValue) -> String {
        value.exists ? value.string ?? value.json() : ""
    }

    /// A text with what a terminal obeys, or would go on on another line, as JSON has it.
    static func text(_ text: String) -> String {
        text.unicodeScalars.contains {
            ControlCharacters.contains($0) || $0 == "\u{2028}" || $0 == "\u{2029}"
        }
            ? JSONObject.quoted(text) : text
    }

    static func width(of text: String) -> Int { text.reduce(0) { $0 + $1.columns } }

    /// The text, or as much of it as fits before an ellipsis.
    static func cut(_ text: String, to width: Int) -> String {
        var (result, used) = ("", 0)
        var fitting: String?
        for character in text {
            used += character.columns
            if used >= width, fitting == nil { fitting = result }
            guard used <= width else { return (fitting ?? result) + "…" }
            result.append(character)
        }
        return text
    }
}

extension String {
    fileprivate func trimmingEnd() -> String {
        var copy = self
        while copy.last == " " { copy.removeLast() }
        return copy
    }
}
