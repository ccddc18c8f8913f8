import Foundation

/// How the rows of a query are printed.
enum OutputMode: String, CaseIterable {
    case table, json, csv, records

    /// A table on a terminal, JSON elsewhere.
    static var usual: Self { Console.isTerminal(STDOUT_FILENO) ? .table : .json }

    var summary: String {
        switch self {
        case .table: "a table (the default on a terminal)"
        case .json: "a JSON object a row, on a line (the default elsewhere)"
        case .csv: "comma-separated values, the names of the columns first"
        case .records: "a line for each value"
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
