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

// MARK: - QueryParameters

/// The values of a query's parameters, as people give them.
enum QueryParameters {
    /// A name, with or without the dollar sign, without it.
    static func name(_ text: String) -> String { text.hasPrefix("$") ? String(text.dropFirst()) : text }

    /// JSON, or text without quotation marks that is none.
    static func value(_ text: String) -> DocumentValue { (try? DocumentValue(json: text)) ?? .string(text) }

    /// The values that each `--param NAME=JSON` gives.
    static func of(_ invocation: Invocation) throws -> [String: DocumentValue] {
        var values: [String: DocumentValue] = [:]
        for text in invocation.strings("--param") {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            guard parts.count == 2, !name(parts[0]).isEmpty else {
                throw UsageError("--param is NAME=JSON, not \"\(text)\".")
            }
            values[name(parts[0])] = value(parts[1])
        }
        return values
    }

    /// Makes sure that each parameter of the query is set: one that is not is an error of the query, which does not know what would set it.
    ///
    /// - Parameter remedy: what sets one.
    static func checkAllSet(_ query: DatabaseQuery, _ remedy: String) throws {
        for name in query.parameterNames where query.parameters[name] == nil {
            let near = Suggestion.text(for: name, among: query.parameters.keys.sorted())
            throw CommandFailure("The parameter $\(name) is not set\(near.isEmpty ? "." : near) \(remedy)")
        }
    }

    /// Makes sure that the query mentions each parameter that is set.
    static func checkAllMentioned(_ query: DatabaseQuery) throws {
        for name in query.parameters.keys.sorted() where !query.parameterNames.contains(name) {
            let near = Suggestion.text(for: name, among: query.parameterNames)
            throw CommandFailure("The query has no parameter $\(name)\(near.isEmpty ? "." : near)")
        }
    }
}

// MARK: - ShellCommand

enum ShellCommand: Command {
    static let name = "shell"
    static let summary = "asks and changes a database, line by line"
    static let parameters = [Parameter(label: "DB", help: "the database, or :memory: for queries of files")]
    static let options = [Option.collection] + OutputMode.options
    static let notes = """
        It takes queries, which go on over lines until a ; or an empty line, and the tool's commands without DB, one a line:
        `SELECT title FROM _ WHERE stars > 3;`, `put n1 {"stars":4}`, `index list`. `help` tells more. On a terminal lines are edited
        and completed with Tab, and kept in ~/.roost_history (or the file that ROOST_HISTORY names). From a pipe, statements are
        carried out one after the other, and an error names the line of the input.
        """

    static func run(_ invocation: Invocation) throws {
        let mode = try invocation.outputMode() ?? .usual
        let (database, key) = try invocation.withKey { key in
            if invocation[0] == Invocation.inMemory {
                return (try Database.inMemory(), nil as EncryptionKey?)
            }
            var options = DatabaseOptions(isReadOnly: true, createsIfMissing: false)
            options.key = key
            return (try Database.open(invocation[0], options: options), key)
        }
        defer { try? database.close() }
        let session = ShellSession(
            path: invocation[0], database, collection: invocation.string(Option.collection.name), mode: mode)
        guard Console.isTerminal(STDIN_FILENO), Console.isTerminal(STDOUT_FILENO) else {
            return try runFromPipe(session, key)
        }
        let history = LineHistory.ofUser()
        let input: any LineInput =
            RawTerminal.understandsEscapes
            ? LineEditor(history) { ShellCompletion(session).completions(of: $0) } : PlainTerminal(history)
        // An interactive user has seen the failures.
        _ = try Shell(session, input, Interruption()) { try CommandProcess.run($0, key: key) }.run()
    }

    private static func runFromPipe(_ session: ShellSession, _ key: EncryptionKey?) throws {
        let failures = try KeyAccess.$remembered.withValue(key) {
            try Shell(session, try PipeInput(), nil) { RoostTool.run($0) }.run()
        }
        guard failures == 0 else {
            throw CommandFailure("\(Count.text(failures, "statement")) failed.")
        }
    }
}
