import Foundation
import Roost
import RoostQuery

enum QueryCommand: Command {
    static let name = "query"
    static let summary = "asks in SQL++"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(
            label: "QUERY",
            help: "such as 'SELECT title FROM _ WHERE stars > $min'; `_` is the default collection"),
    ]
    static let options = [
        Option.collection,
        Option("--param", "NAME=JSON", "the value of $NAME; several are parted by line ends"),
        Option("--explain", nil, "say how it would be executed, and do nothing"),
        Option("--analyze", nil, "execute it, and say how and what it took"),
        Option("--json", nil, "a JSON object a row, on a line; a plan as JSON"),
        Option("--csv", nil, "comma-separated values, the names of the columns first"),
        Option("--table", nil, "a table, as on a terminal"),
    ]
    static let notes = """
        On a terminal the rows are shown as a table, elsewhere as JSON. Text without quotation marks that is no JSON counts as
        a string: --param city=Rome.
        """

    static func run(_ invocation: Invocation) throws {
        let isPlan = invocation.has("--explain") || invocation.has("--analyze")
        let forms = ["--explain", "--analyze", "--csv", "--table", "--json"].filter(invocation.has)
        guard forms.count <= 1 || isPlan && forms.count == 2 && forms[1] == "--json" else {
            throw UsageError("\(forms[0]) excludes \(forms[1]).")
        }
        let database = try invocation.openForReading()
        let collection = try invocation.collection(of: database)
        let query = try collection.query(invocation[1], try parameters(invocation))
        if isPlan {
            let plan = try invocation.has("--analyze") ? query.explainAnalyze() : query.explain()
            return Console.print(invocation.has("--json") ? plan.json : "\(plan)")
        }
        let isTable = forms == ["--table"] || forms.isEmpty && Console.isTerminal(STDOUT_FILENO)
        let start = ContinuousClock.now
        let cursor = try query.cursor()
        if isTable {
            var table = TextTable(query.columnNames)
            while let row = try cursor.next() { table.add(row) }
            table.print(fitting: Console.isTerminal(STDOUT_FILENO) ? RawTerminal.columns : .max)
            let milliseconds = ((ContinuousClock.now - start) / .microseconds(100)).rounded() / 10
            let rows = table.count == 1 ? "1 row" : "\(table.count) rows"
            Console.note("\(rows) from \(cursor.documentsRead) documents in \(milliseconds) ms")
        } else if forms == ["--csv"] {
            Console.print(query.columnNames.map(CommaSeparated.field).joined(separator: ","))
            while let row = try cursor.next() {
                Console.print((0..<row.count).map { CommaSeparated.field(row[$0]) }.joined(separator: ","))
            }
        } else {
            while let row = try cursor.next() { Console.print(row.json()) }
        }
    }

    private static func parameters(_ invocation: Invocation) throws -> [String: DocumentValue] {
        var parameters: [String: DocumentValue] = [:]
        for line in (invocation.string("--param") ?? "").split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw UsageError("--param is NAME=JSON.") }
            parameters[parts[0]] = (try? DocumentValue(json: parts[1])) ?? .string(parts[1])
        }
        return parameters
    }
}
