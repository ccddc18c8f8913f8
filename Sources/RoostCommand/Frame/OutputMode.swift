import Foundation

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
