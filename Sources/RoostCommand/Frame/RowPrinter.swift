import Fleece
import Foundation
import Roost
import RoostQuery

/// Prints the rows of queries, as they come, in one of the modes.
struct RowPrinter {
    let mode: OutputMode

    /// Executes a query and prints its rows, until `isCancelled` says that nobody wants more of them. How many there were, and how
    /// long it took, follows what people read. What `*` stands for has a column for each property.
    func print(_ query: Query, isCancelled: @escaping @Sendable () -> Bool = { false }) throws {
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
    private let cursor: RowsCursor
    private let spread: SpreadRows?
    private let columns: SpreadRows.Columns
    private let plainNames: [String]

    /// - Parameter needsNames: whether all names have to be known before the first row.
    init(_ query: Query, needsNames: Bool, isCancelled: @escaping @Sendable () -> Bool) throws {
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
