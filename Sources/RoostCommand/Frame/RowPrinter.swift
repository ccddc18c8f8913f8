import Foundation
import RoostQuery

/// Prints the rows of queries, as they come, in one of the modes.
struct RowPrinter {
    let mode: OutputMode

    /// Executes a query and prints its rows, until `isCancelled` says that nobody wants more of them. How many there were, and how
    /// long it took, follows what people read.
    func print(_ query: DatabaseQuery, isCancelled: @escaping @Sendable () -> Bool = { false }) throws {
        let start = ContinuousClock.now
        let cursor = try query.cursor(isCancelled: isCancelled)
        switch mode {
        case .json:
            while !isCancelled(), let row = try cursor.next() { Console.print(row.json()) }
        case .csv, .tabs:
            let separator = mode == .tabs ? "\t" : ","
            func print(_ fields: [String]) {
                Console.print(
                    CommaSeparated.row(fields, separator: separator), end: CommaSeparated.lineEnd)
            }
            print(query.columnNames.map(CommaSeparated.field))
            while !isCancelled(), let row = try cursor.next() {
                print((0..<row.count).map { CommaSeparated.field(row[$0]) })
            }
        case .chart:
            var chart = BarChart(query.columnNames, room: RawTerminal.columns)
            while !isCancelled(), let row = try cursor.next() { chart.add(row) }
            chart.lines().forEach { Console.print($0) }
        case .table, .box, .markdown, .records:
            let count = try printText(cursor, query.columnNames, isCancelled)
            guard !isCancelled() else { return }
            Console.note(
                "\(Count.text(count, "row")) in \(Explanation.text(of: ContinuousClock.now - start))")
        }
    }

    /// Prints rows for people, and answers how many.
    private func printText(
        _ cursor: RowCursor, _ names: [String], _ isCancelled: () -> Bool
    ) throws -> Int {
        var table = TextTable(
            names, fitting: Console.isTerminal(STDOUT_FILENO) ? RawTerminal.columns : nil, as: mode)
        defer { table.finish() }
        var count = 0
        while !isCancelled(), let row = try cursor.next() {
            table.add(row)
            count += 1
        }
        return count
    }
}
