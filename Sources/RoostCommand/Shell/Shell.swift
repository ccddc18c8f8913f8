import Foundation
import Roost
import RoostQuery

/// A conversation about one database: carries out lines, each a query or a command of the tool.
final class Shell {
    private let path: String
    /// Read by queries; commands open the database themselves.
    let database: Database
    /// The collection that is meant where none is named; `nil` for the default one.
    private(set) var collection: String?
    private(set) var parameters: [String: DocumentValue] = [:]
    /// The lines of a query that is not complete.
    private var pending = ""
    private var failures = 0

    /// What the shell itself understands.
    static let words = ["exit", "explain", "help", "quit", "set", "use"]

    init(path: String, _ database: Database, collection: String?) {
        self.path = path
        self.database = database
        self.collection = collection
    }

    /// Reads lines from the terminal until the end. Returns 0: who sits there was told of failures.
    func runOnTerminal() throws -> Int {
        Console.print("Roost \(RoostTool.version). A query, a command, or `help`. Ctrl-D ends.")
        let history = LineHistory.ofUser()
        let editor = LineEditor(RawTerminal(), history) { ShellCompletion(self).completions(of: $0) }
        while let line = try editor.readLine(pending.isEmpty ? prompt : "   ...> ") {
            guard perform(line) else { break }
        }
        history.save()
        return 0
    }

    /// Carries out the lines of standard input; answers how many failed.
    func runFromPipe() throws -> Int {
        while let line = readLine() { guard perform(line) else { return failures } }
        if !pending.isEmpty { _ = perform("") }
        return failures
    }

    private var prompt: String { "\(collection ?? "roost")> " }

    // MARK: Lines

    /// Carries a line out; `false` when it ends the conversation.
    func perform(_ line: String) -> Bool {
        let trimmed = line.trimmingCharacters(in: .whitespaces)
        if !pending.isEmpty || Self.isQuery(trimmed) {
            takeQuery(trimmed)
            return true
        }
        guard !trimmed.isEmpty, !trimmed.hasPrefix("#"), !trimmed.hasPrefix("--") else { return true }
        var words: [String]
        do {
            words = try ShellWords.split(trimmed)
        } catch {
            fail("\(error)")
            return true
        }
        let name = words.removeFirst()
        switch name.lowercased() {
        case "exit", "quit": return false
        case "help": help(words.first)
        case "use": use(words)
        case "set": set(trimmed)
        default: run(name, words)
        }
        return true
    }

    private func fail(_ sentence: String) {
        failures += 1
        Console.complain(sentence)
    }

    /// Runs a command of the tool on this database.
    private func run(_ name: String, _ words: [String]) {
        guard let command = RoostTool.commands.first(where: { $0.name == name }), name != ShellCommand.name
        else {
            let known = RoostTool.commands.map { $0.name } + Self.words
            fail("There is no command \"\(name)\"\(Suggestion.text(for: name, among: known)) See `help`.")
            return
        }
        var arguments = [name]
        if let first = command.parameters.first, ["DB", "SOURCE"].contains(first.label) {
            arguments.append(path)
        }
        arguments += words
        if let collection, command.options.contains(where: { $0.name == Option.collection.name }),
            !words.contains(where: { $0.hasPrefix(Option.collection.name) })
        {
            arguments += [Option.collection.name, collection]
        }
        if RoostTool.run(arguments) != 0 { failures += 1 }
        try? Console.flush()
    }

    // MARK: The shell's own

    private func help(_ name: String?) {
        if let name, let command = RoostTool.commands.first(where: { $0.name == name }) {
            return Console.print(Help.text(of: command))
        }
        Console.print(
            """
            SELECT … FROM …     a query in SQL++; it goes on over several lines until it is complete, or there is a ;
            EXPLAIN SELECT …    how it would be executed
            EXPLAIN ANALYZE …   how it was executed, and what it took
            set NAME JSON       the value of $NAME in queries; without JSON there is none
            use COLLECTION      the collection that `_` and commands mean; without one, the default one
            help COMMAND        more of a command
            exit                ends, as Ctrl-D does

            Commands, without DB:
            \(RoostTool.commands.filter { $0.name != ShellCommand.name }.map { $0.name }.joined(separator: " "))
            """)
    }

    private func use(_ words: [String]) {
        guard let name = words.first else {
            collection = nil
            return
        }
        do {
            _ = try database.refresh()
            _ = try database.collection(named: name, createIfMissing: false)
            collection = name
        } catch {
            fail("\(error)")
        }
    }

    private func set(_ line: String) {
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true).map(String.init)
        guard parts.count > 1 else { return fail("set takes a name, and a value in JSON.") }
        let name = parts[1].hasPrefix("$") ? String(parts[1].dropFirst()) : parts[1]
        parameters[name] = parts.count > 2 ? (try? DocumentValue(json: parts[2])) ?? .string(parts[2]) : nil
    }

    // MARK: Queries

    private static func isQuery(_ line: String) -> Bool {
        let first = line.prefix { $0.isLetter }.lowercased()
        return first == "select" || first == "explain"
    }

    /// Takes a line of a query, and asks it when it is complete. An empty line ends one that is not.
    private func takeQuery(_ line: String) {
        let text = pending.isEmpty ? line : pending + "\n" + line
        let query = Self.withoutExplain(text)
        if !line.isEmpty, !line.hasSuffix(";"), QuerySyntax.isIncomplete(query.text) {
            pending = text
            return
        }
        pending = ""
        do {
            try Interruption.cancelling { isCancelled in
                _ = try database.refresh()
                try ask(query.text, query.explains, isCancelled)
            }
        } catch {
            fail("\(error)")
        }
        try? Console.flush()
    }

    private enum Explains { case no, yes, withFigures }

    private static func withoutExplain(_ text: String) -> (text: String, explains: Explains) {
        func rest(_ text: Substring, after word: String) -> Substring? {
            guard text.prefix(word.count).lowercased() == word,
                text.dropFirst(word.count).first?.isLetter != true
            else { return nil }
            return text.dropFirst(word.count).drop { $0.isWhitespace }
        }
        guard let plan = rest(text[...], after: "explain") else { return (text, .no) }
        guard let analyzed = rest(plan, after: "analyze") else { return (String(plan), .yes) }
        return (String(analyzed), .withFigures)
    }

    private func ask(_ text: String, _ explains: Explains, _ isCancelled: @escaping @Sendable () -> Bool)
        throws
    {
        let asked =
            try collection.map { try database.collection(named: $0, createIfMissing: false) }
            ?? database.defaultCollection
        let query = try asked.query(text, parameters)
        switch explains {
        case .yes: return Console.print("\(try query.explain())")
        case .withFigures: return Console.print("\(try query.explainAnalyze())")
        case .no: break
        }
        let start = ContinuousClock.now
        let cursor = try query.cursor(isCancelled: isCancelled)
        guard Console.isTerminal(STDOUT_FILENO) else {
            while let row = try cursor.next() { Console.print(row.json()) }
            return
        }
        var table = TextTable(query.columnNames)
        while let row = try cursor.next() { table.add(row) }
        table.print(fitting: RawTerminal.columns)
        let milliseconds = ((ContinuousClock.now - start) / .microseconds(100)).rounded() / 10
        Console.note("\(table.count == 1 ? "1 row" : "\(table.count) rows") in \(milliseconds) ms")
    }
}
