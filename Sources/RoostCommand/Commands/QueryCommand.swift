import Foundation
import Roost
import RoostQuery

enum QueryCommand: Command {
    static let name = "query"
    static let summary = "asks in SQL++"
    static let parameters = [
        Parameter(label: "DB", help: "the database, or :memory: for a query of files"),
        Parameter(
            label: "QUERY",
            help:
                "such as 'SELECT title FROM _ WHERE stars > $min'; `_` is the default collection. Also DESCRIBE and SUMMARIZE COLLECTION"
        ),
    ]
    static let options =
        [
            Option.collection,
            Option("--param", "NAME=JSON", "the value of $NAME; may be given several times"),
            Option("--explain", nil, "say how it would be executed, and do nothing; also as --json"),
            Option("--analyze", nil, "execute it, and say how and what it took; also as --json"),
        ] + OutputMode.options
    static let notes = """
        On a terminal the rows are shown as a table, elsewhere as JSON. Text without quotation marks that is no JSON counts as
        a string: --param city=Rome. FROM 'FILE' reads a file of CSV or JSON as it is: such a query is of files alone.
        """

    static func run(_ invocation: Invocation) throws {
        let plans = ["--explain", "--analyze"].filter(invocation.has)
        let mode = try invocation.outputMode()
        guard plans.count <= 1 else { throw UsageError("\(plans[0]) excludes \(plans[1]).") }
        if let plan = plans.first, let mode, mode != .json {
            throw UsageError("\(plan) excludes \(mode.option).")
        }
        let database = try invocation.openForReading()
        let collection = try invocation.collection(of: database)
        let statement = ExplainedQuery(invocation[1])
        let asked = try AskedQuery(statement, of: collection, try QueryParameters.of(invocation))
        let query = asked.query
        try QueryParameters.checkAllMentioned(query)
        try QueryParameters.checkAllSet(query, "--param NAME=JSON sets it.")
        guard let plan = plans.first else { return try asked.print(as: mode ?? .usual) }
        let explanation = try plan == "--analyze" ? query.explainAnalyze() : query.explain()
        Console.print(mode == .json ? explanation.json : "\(explanation)")
    }
}
