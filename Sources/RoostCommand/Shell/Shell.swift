import Foundation
import Roost
import RoostQuery
import Synchronization

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
    /// How many files are being read within each other.
    private var depth = 0
    private static let deepest = 16

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

    private func perform(_ statements: [Statement], of file: String? = nil) {
        for statement in statements where !isOver {
            let line = file == nil && input.isInteractive ? "" : "line \(statement.line): "
            Console.$place.withValue((file.map { "\($0), " } ?? "") + line) { perform(statement) }
            try? Console.flush()
            if isInterrupted { return Console.note("Stopped.") }
        }
    }

    private func perform(_ statement: Statement) {
        let start = ContinuousClock.now
        let (once, isTimed) = (session.once, session.isTimed)
        do {
            try Console.redirecting(to: once ?? session.output, appending: once == nil) {
                switch statement.kind {
                case .query: try ask(statement.text)
                case .command: try carryOut(statement.text)
                }
            }
        } catch {
            if !isInterrupted { fail(error.sentence) }
        }
        if once != nil { session.once = nil }
        if isTimed { Console.note("Time: \(Explanation.text(of: ContinuousClock.now - start))") }
    }

    /// Carries out the statements in a file.
    private func read(_ path: String?) throws {
        guard let path else { throw UsageError("read takes a file.") }
        guard depth < Self.deepest else {
            throw CommandFailure(
                "\(path) is not read: files are read within each other more than \(Self.deepest) deep.")
        }
        let text = try InputFile.text(path)
        depth += 1
        defer { depth -= 1 }
        var statements = Statements()
        // With a line end of two characters a line ends in one Character.
        let isEnd = { (character: Character) in character == "\n" || character == "\r\n" }
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: isEnd) {
            perform(statements.take(String(line)), of: path)
            if isOver || isInterrupted { return }
        }
        perform(statements.finish(), of: path)
    }

    private var isInterrupted: Bool { interruption?.isRaised ?? false }

    private func fail(_ sentence: String) {
        failures += 1
        Console.complain(sentence)
    }

    // MARK: Queries

    private func ask(_ text: String) throws {
        let statement = ExplainedQuery(text)
        let isInterrupted = { @Sendable [interruption] in interruption?.isRaised ?? false }
        let isPaged = session.isPaged && input.isInteractive && Console.isTerminal(STDOUT_FILENO)
        let pager = isPaged ? Pager(isInterrupted: isInterrupted) : nil
        let isCancelled = { @Sendable in isInterrupted() || pager?.isOver ?? false }
        let asked = try AskedQuery(
            statement, of: session.present(), session.parameters, isCancelled: isCancelled)
        try QueryParameters.checkAllSet(asked.query, "`set NAME JSON` sets it.")
        try Console.$pager.withValue(pager) {
            try asked.print(as: session.mode, isCancelled: isCancelled)
        }
        if statement.explains == .no, !asked.isOfFiles, input.isInteractive {
            SessionNames(session).misspelt(in: asked.query).forEach(Console.hint)
        }
    }

    // MARK: Commands

    private func carryOut(_ text: String) throws {
        let name = String(text.prefix { !$0.isWhitespace && $0 != ";" })
        if let word = ShellWord(typed: name) { return try carryOut(word, text) }
        if let meant = try Habits.translation(of: text) {
            return try meant.isQuery ? ask(meant.text) : carryOut(meant.text)
        }
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
        case .output: try setOutput(words.first)
        case .once:
            guard let path = words.first else { throw UsageError("once takes a file.") }
            session.once = path
        case .read: try read(words.first)
        case .timer: try setFlag(\.isTimed, word, words.first)
        case .pager: try setFlag(\.isPaged, word, words.first)
        }
    }

    private func setOutput(_ path: String?) throws {
        let path = path.flatMap { ["stdout", "-"].contains($0) ? nil : $0 }
        if let path { close(try OutputFile.create(path)) }
        session.output = path
    }

    private func setFlag(
        _ flag: ReferenceWritableKeyPath<ShellSession, Bool>, _ word: ShellWord, _ value: String?
    ) throws {
        switch value?.lowercased() {
        case nil: session[keyPath: flag].toggle()
        case "on": session[keyPath: flag] = true
        case "off": session[keyPath: flag] = false
        default: throw UsageError("\(word.rawValue) takes on or off.")
        }
        if value == nil { Console.print("\(word.rawValue) \(session[keyPath: flag] ? "on" : "off")") }
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
        guard let mode = OutputMode(typed: name) else {
            let modes = OutputMode.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("mode takes one of \(modes), not \"\(name)\".")
        }
        session.mode = mode
    }
}

// MARK: - ShellSession

/// What a conversation is about, and what was set in it.
final class ShellSession {
    let path: String
    /// Read by queries; commands open the database themselves.
    let database: Database
    /// The collection that is meant where none is named; `nil` for the default one.
    var collection: String?
    /// The values of parameters in queries.
    var parameters: [String: DocumentValue] = [:]
    /// How rows are printed.
    var mode: OutputMode
    /// The file that everything is printed to; `nil` for standard output.
    var output: String?
    /// The file that the next statement prints to.
    var once: String?
    /// Whether each statement is followed by how long it took.
    var isTimed = false
    /// Whether long results are shown page by page, where the output is a terminal.
    var isPaged = true

    init(path: String, _ database: Database, collection: String?, mode: OutputMode) {
        self.path = path
        self.database = database
        self.collection = collection
        self.mode = mode
    }

    /// The collection that is meant where none is named, as it is now.
    func present() throws -> DocumentCollection {
        _ = try database.refresh()
        guard let collection else { return try database.defaultCollection }
        return try database.collection(named: collection, createsIfMissing: false)
    }

    /// What is said first: what is in the database, and how to ask for it.
    func greeting() throws -> String {
        let collections = try database.scopes.flatMap { try database.collections(scope: $0) }
        let shown = try collections.prefix(Self.mostShown).enumerated().map { index, collection in
            let count = try collection.count
            let figure = index == 0 ? Count.text(count, "document") : Count.grouped(count)
            return "\(CollectionNames.name(collection)) with \(figure)"
        }
        let more =
            collections.count > shown.count
            ? " and \(Count.text(collections.count - shown.count, "collection")) more" : ""
        return """
            Roost \(RoostVersion.number). \(path) has \(shown.joined(separator: ", "))\(more).
            Ask a query, such as `SELECT * FROM _ LIMIT 10;`, or type a command. `help` tells more, Ctrl-D ends.
            """
    }

    private static let mostShown = 5
}

// MARK: - Interruption

/// Makes Ctrl-C end what is being done, and not the program, while the value lives. A program has one at most.
final class Interruption: Sendable {
    /// Set by the signal's handler itself: once a command has ended that the terminal interrupted along with the program, the
    /// program knows of it.
    private static let hasCome = Atomic(false)

    init() {
        lower()
        // Whoever started the program may have had it blocked.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        signal(SIGINT) { _ in Interruption.hasCome.store(true, ordering: .relaxed) }
    }

    deinit { signal(SIGINT, SIG_DFL) }

    /// Whether Ctrl-C came since ``lower()``.
    var isRaised: Bool { Self.hasCome.load(ordering: .relaxed) }

    /// Forgets that Ctrl-C came.
    func lower() { Self.hasCome.store(false, ordering: .relaxed) }
}
