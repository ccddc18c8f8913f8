import Fleece
import Foundation
import Roost
import RoostQuery

/// Prints the rows of queries, as they come, in one of the modes.
struct RowPrinter {
    let mode: OutputMode

    /// Executes a query and prints its rows, until `isCancelled` returns true. How many there were, and how
    /// long it took, follows what people read. What `*` stands for has a column for each property.
    func print(_ query: DatabaseQuery, isCancelled: @escaping @Sendable () -> Bool = { false }) throws {
        let start = ContinuousClock.now
        let rows = try TableRows(query, needsNames: mode != .json, isCancelled: isCancelled)
        switch mode {
        case .json:
            while !isCancelled(), let text = try rows.nextJSON() { Console.print(text) }
        case .csv, .tabs:
            let separator = mode == .tabs ? "\t" : ","
            func print(_ fields: [String]) {
                Console.print(
                    CommaSeparated.row(fields, separator: separator), end: CommaSeparated.lineEnd)
            }
            print(rows.names.map(CommaSeparated.field))
            while !isCancelled(), let row = try rows.next() { print(row.map(CommaSeparated.field)) }
        case .chart:
            var chart = BarChart(rows.names, room: RawTerminal.columns)
            while !isCancelled(), let row = try rows.next() { chart.add(row) }
            chart.lines().forEach { Console.print($0) }
        case .table, .box, .markdown, .records:
            let count = try printText(rows, isCancelled)
            guard !isCancelled() else { return }
            Console.note(
                "\(Count.text(count, "row")) in \(Explanation.text(of: ContinuousClock.now - start))")
        }
    }

    /// Prints rows for people, and answers how many.
    private func printText(_ rows: TableRows, _ isCancelled: () -> Bool) throws -> Int {
        var table = TextTable(
            rows.names, fitting: Console.isTerminal(STDOUT_FILENO) ? RawTerminal.columns : nil, as: mode)
        defer { table.finish() }
        var count = 0
        while !isCancelled(), let row = try rows.next() {
            table.add(row)
            count += 1
        }
        return count
    }
}

/// The rows of a query with the names of their columns, which for `*` follow from the rows: these are read twice then, as of one moment.
private final class TableRows {
    private let cursor: RowCursor
    private let spread: SpreadRows?
    private let columns: SpreadRows.Columns
    private let plainNames: [String]

    /// - Parameter needsNames: whether all names have to be known before the first row.
    init(_ query: DatabaseQuery, needsNames: Bool, isCancelled: @escaping @Sendable () -> Bool) throws {
        plainNames = query.columnNames
        let spread = SpreadRows(query)
        self.spread = spread
        var columns = SpreadRows.Columns()
        let snapshot = try query.database.snapshot()
        if needsNames, let spread {
            let first = try query.cursor(in: snapshot, isCancelled: isCancelled)
            while !isCancelled(), let row = try first.next() { try columns.add(spread.values(of: row)) }
        }
        self.columns = columns
        cursor = try query.cursor(in: snapshot, isCancelled: isCancelled)
    }

    var names: [String] { spread == nil ? plainNames : columns.names }

    func next() throws -> [FleeceValue]? {
        guard let row = try cursor.next() else { return nil }
        guard let spread else { return (0..<row.count).map { row[$0] } }
        return columns.values(spread.values(of: row))
    }

    func nextJSON() throws -> String? {
        try cursor.next().map { row in spread?.json(of: row) ?? row.json() }
    }
}

// MARK: - OutputMode

/// How the rows of a query are printed.
enum OutputMode: String, CaseIterable {
    case table, box, markdown, json, csv, tabs, records, chart

    /// The mode of that name, also by the names that sqlite3 and duckdb have for it.
    init?(typed name: String) {
        switch name.lowercased() {
        case "column", "columns": self = .table
        case "duckbox": self = .box
        case "line", "lines", "vertical": self = .records
        case "jsonlines", "ndjson": self = .json
        case "tsv": self = .tabs
        case "bar": self = .chart
        case let name: self.init(rawValue: name)
        }
    }

    /// A table on a terminal, JSON elsewhere.
    static var usual: Self { Console.isTerminal(STDOUT_FILENO) ? .table : .json }

    var summary: String {
        switch self {
        case .table: "a table (the default on a terminal)"
        case .box: "a table with lines around its cells"
        case .markdown: "a table in Markdown"
        case .json: "a JSON object a row, on a line (the default elsewhere)"
        case .csv: "comma-separated values, the names of the columns first"
        case .tabs: "values separated by tabs, the names of the columns first"
        case .records: "a line for each value"
        case .chart: "the numbers as bars, or where there are many as how often they occur"
        }
    }

    var option: String { "--\(rawValue)" }

    /// An option for each mode.
    static var options: [Option] { allCases.map { Option($0.option, nil, $0.summary) } }
}

extension Invocation {
    /// The mode that an option names; `nil` where none does.
    func outputMode() throws -> OutputMode? {
        let modes = OutputMode.allCases.filter { has($0.option) }
        guard modes.count <= 1 else { throw UsageError("\(modes[0].option) excludes \(modes[1].option).") }
        return modes.first
    }
}

// MARK: - TextTable

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
    mutating func add(_ values: [FleeceValue]) {
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

// MARK: - CommaSeparated

/// Rows as RFC 4180 has them, so that reading them again gives the same values.
enum CommaSeparated {
    static let lineEnd = "\r\n"

    /// The fields of a row. One empty field alone is quoted: a line of nothing would be no row.
    static func row(_ fields: [String], separator: String = ",") -> String {
        fields == [""] ? "\"\"" : fields.joined(separator: separator)
    }

    /// A text: in quotation marks where it has separators, ends of lines or quotation marks in it, or could be taken for a number,
    /// for true or false, or for nothing.
    static func field(_ text: String) -> String {
        let bytes = Array(text.utf8)[...]
        let isPlain =
            !bytes.isEmpty && !text.unicodeScalars.contains(where: isSpecial)
            && bytes.first != UInt8(ascii: " ")
            && bytes.last != UInt8(ascii: " ") && !FieldText.isNumber(bytes) && !FieldText.isBool(bytes)
        return isPlain ? text : quoted(text)
    }

    /// A text in quotation marks.
    static func quoted(_ text: String) -> String {
        // By scalars: a mark that a combining character follows is a mark.
        var quoted = "\"".unicodeScalars
        for scalar in text.unicodeScalars {
            if scalar == "\"" { quoted.append(scalar) }
            quoted.append(scalar)
        }
        return String(quoted) + "\""
    }

    private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case ",", ";", "\t", "\"", "\r", "\n", "\u{85}", "\u{2028}", "\u{2029}": true
        default: false
        }
    }

    /// A value: text as it is, everything else as JSON; nothing for what is not there and for null.
    static func field(_ value: FleeceValue) -> String {
        guard value.exists, !value.isNull else { return "" }
        if let text = value.string { return field(text) }
        let json = value.json()
        return json.utf8.contains { ",\"".utf8.contains($0) } ? quoted(json) : json
    }
}
