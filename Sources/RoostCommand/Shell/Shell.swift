import Foundation
import Roost
import RoostQuery

/// A conversation about one database: reads lines, and carries out the queries and commands in them.
final class Shell {
    private let session: ShellSession
    private let input: any LineInput
    /// Runs a command of the tool with these arguments, and answers its exit status.
    private let runCommand: ([String]) throws -> Int32
    /// Ctrl-C, where the shell goes on after it.
    private let interruption: Interruption?
    private var failures = 0
    private var isOver = false

    init(
        _ session: ShellSession, _ input: any LineInput, _ interruption: Interruption?,
        _ runCommand: @escaping ([String]) throws -> Int32
    ) {
        self.session = session
        self.input = input
        self.interruption = interruption
        self.runCommand = runCommand
    }

    /// Carries out what comes, until the end; answers how many statements failed.
    func run() throws -> Int {
        if input.isInteractive { Console.print(try session.greeting()) }
        var statements = Statements()
        var typed: [String] = []
        var knowsHowQueriesEnd = !input.isInteractive
        while !isOver {
            interruption?.lower()
            switch try input.next(prompt(statements.open), after: typed.joined(separator: "\n")) {
            case .line(let text):
                typed.append(text)
                let complete = text.split(separator: "\n", omittingEmptySubsequences: false).flatMap {
                    statements.take(String($0))
                }
                if statements.open == .nothing {
                    input.remember(typed.joined(separator: "\n"))
                    typed = []
                } else if !knowsHowQueriesEnd {
                    Console.hint("A query ends with ; or an empty line.")
                    knowsHowQueriesEnd = true
                }
                perform(complete)
            case .end where !input.isInteractive || statements.open == .nothing:
                perform(statements.finish())
                isOver = true
            case .interrupted, .end:
                statements.drop()
                typed = []
            }
        }
        return failures
    }

    private func prompt(_ open: Statements.Open) -> String {
        switch open {
        case .nothing: "\(session.collection ?? "roost")> "
        case .query: "   ...> "
        case .comment: "   /*.> "
        case .quoted(let mark): "   \(mark)..> "
        }
    }

    private func perform(_ statements: [Statement]) {
        for statement in statements where !isOver {
            Console.$place.withValue(input.isInteractive ? "" : "line \(statement.line): ") {
                do {
                    switch statement.kind {
                    case .query: try ask(statement.text)
                    case .command: try carryOut(statement.text)
                    }
                } catch {
                    if !isInterrupted { fail(error.sentence) }
                }
            }
            try? Console.flush()
            if isInterrupted { return Console.note("Stopped.") }
        }
    }

    private var isInterrupted: Bool { interruption?.isRaised ?? false }

    private func fail(_ sentence: String) {
        failures += 1
        Console.complain(sentence)
    }

    // MARK: Queries

    private func ask(_ text: String) throws {
        let statement = ExplainedQuery(text)
        let isCancelled = { @Sendable [interruption] in interruption?.isRaised ?? false }
        let query = try session.present().query(statement.text, session.parameters)
        try QueryParameters.checkAllSet(query, "`set NAME JSON` sets it.")
        switch statement.explains {
        case .no:
            try RowPrinter(mode: session.mode).print(query, isCancelled: isCancelled)
            if input.isInteractive { SessionNames(session).misspelt(in: query).forEach(Console.hint) }
        case .plan: Console.print("\(try query.explain())")
        case .analysis: Console.print("\(try query.explainAnalyze(isCancelled: isCancelled))")
        }
    }

    // MARK: Commands

    private func carryOut(_ text: String) throws {
        let name = String(text.prefix { !$0.isWhitespace && $0 != ";" })
        if let word = ShellWord(typed: name) { return try carryOut(word, text) }
        guard let command = ShellHelp.commands.first(where: { $0.name == name.lowercased() }) else {
            throw CommandFailure(Habits.pointer(for: text) ?? ShellHelp.unknown(name))
        }
        let words = try ShellWords.split(text).dropFirst()
        var arguments = [command.name] + (command.takesDatabase ? [session.path] : []) + words
        if let collection = session.collection,
            command.options.contains(where: { $0.name == Option.collection.name }),
            !words.contains(where: { $0.hasPrefix(Option.collection.name) })
        {
            arguments += [Option.collection.name, collection]
        }
        if try runCommand(arguments) != 0 { failures += 1 }
    }

    private func carryOut(_ word: ShellWord, _ text: String) throws {
        let words = try ShellWords.split(text).dropFirst()
        switch word {
        case .exit: isOver = true
        case .help: Console.print(try words.first.map(ShellHelp.text) ?? ShellHelp.overview())
        case .use: try use(words.first)
        case .set: try set(text)
        case .mode: try setMode(words.first)
        }
    }

    private func use(_ name: String?) throws {
        let before = session.collection
        session.collection = name
        do { _ = try session.present() } catch {
            session.collection = before
            throw error
        }
    }

    private func set(_ text: String) throws {
        let parts = text.split(maxSplits: 2, whereSeparator: \.isWhitespace).map(String.init)
        guard parts.count > 1 else { throw UsageError("set takes a name, and a value in JSON.") }
        session.parameters[QueryParameters.name(parts[1])] =
            parts.count > 2 ? QueryParameters.value(parts[2]) : nil
    }

    private func setMode(_ name: String?) throws {
        guard let name else { return Console.print(session.mode.rawValue) }
        guard let mode = OutputMode(rawValue: name.lowercased()) else {
            let modes = OutputMode.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("mode takes one of \(modes), not \"\(name)\".")
        }
        session.mode = mode
    }
}
