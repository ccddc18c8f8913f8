/// One of the tool's commands: what it takes, declared for parsing and help alike, and what it does.
protocol Command: Sendable {
    static var name: String { get }
    /// A sentence for the list of commands.
    static var summary: String { get }
    /// What follows the options, as help shows it: `DB`, `ID...`, `[JSON|-]`.
    static var parameters: [Parameter] { get }
    static var options: [Option] { get }
    /// More to know, after the options in the help.
    static var notes: String { get }

    static func run(_ invocation: Invocation) throws
}

extension Command {
    static var notes: String { "" }

    /// Whether the first argument is a database that there is or may be.
    static var takesDatabase: Bool { ["DB", "SOURCE"].contains(parameters.first?.label) }
}

/// An argument without a name.
struct Parameter {
    let label: String
    let help: String
    var isOptional = false
    /// Whether it takes all that is left.
    var repeats = false
}

/// An argument with a name.
struct Option {
    let name: String
    /// What its value is called in the help; `nil` for a flag.
    let value: String?
    let help: String

    init(_ name: String, _ value: String? = nil, _ help: String) {
        self.name = name
        self.value = value
        self.help = help
    }

    static let json = Option("--json", nil, "print JSON, for programs")
    static let collection = Option("--collection", "NAME", "a collection other than _default, or SCOPE.NAME")
    static let revisionName = "--rev"
    static let pretty = Option("--pretty", nil, "on several lines, as on a terminal")
    static let compact = Option("--compact", nil, "on one line, as in a pipe")
}

/// The tool was called in a way that it does not understand.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ message: String) { description = message }
}

/// A command that understood its arguments and could not do its work.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

// MARK: - Invocation

/// The arguments of one call, checked against what the command declares.
struct Invocation {
    private var positional: [String] = []
    /// The values of each option, in the order given.
    private var values: [String: [String]] = [:]
    private var flags: Set<String> = []
    private let parameters: [Parameter]

    var asksForHelp: Bool { flags.contains("--help") }

    init(_ arguments: [String], of command: any Command.Type) throws {
        parameters = command.parameters
        let options = Dictionary(
            uniqueKeysWithValues: (command.options + KeyAccess.options).map { ($0.name, $0) })
        var rest = arguments[...]
        var optionsEnded = false
        while let argument = rest.popFirst() {
            guard !optionsEnded, argument.hasPrefix("-"), argument != "-" else {
                positional.append(argument)
                continue
            }
            if argument == "--" {
                optionsEnded = true
            } else if argument == "--help" || argument == "-h" {
                flags.insert("--help")
            } else {
                try take(argument, options, &rest)
            }
        }
        if !asksForHelp { try checkCount() }
    }

    private mutating func take(
        _ argument: String, _ options: [String: Option], _ rest: inout ArraySlice<String>
    ) throws {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard let option = options[parts[0]] else { throw UsageError("There is no option \(parts[0]).") }
        guard option.value != nil else {
            guard parts.count == 1 else { throw UsageError("\(option.name) takes no value.") }
            flags.insert(option.name)
            return
        }
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
            throw UsageError("\(option.name) needs a value.")
        }
        values[option.name, default: []].append(value)
    }

    /// Adds values of options that have none, and flags.
    mutating func complete(_ values: [String: String], _ flags: Set<String>) {
        for (name, value) in values where self.values[name] == nil { self.values[name] = [value] }
        self.flags.formUnion(flags)
    }

    private func checkCount() throws {
        let required = parameters.filter { !$0.isOptional }
        if positional.count < required.count {
            throw UsageError("\(required[positional.count].label) is missing.")
        }
        if positional.count > parameters.count, parameters.last?.repeats != true {
            throw UsageError("\"\(positional[parameters.count])\" is one argument too many.")
        }
    }

    /// The argument at `index`, which is not optional.
    subscript(index: Int) -> String { positional[index] }

    /// The same with the first two arguments, which are not optional, in each other's place.
    func swappingFirstTwo() -> Self {
        var copy = self
        copy.positional.swapAt(0, 1)
        return copy
    }

    /// The same with another first argument.
    func replacingFirst(_ argument: String) -> Self {
        var copy = self
        copy.positional[0] = argument
        return copy
    }

    /// The verb that stands behind the database, or before it, and the invocation with the database first. A database may be
    /// called as a verb is: then the verb comes first.
    func verb<Verb: CaseIterable & RawRepresentable<String>>(
        _: Verb.Type = Verb.self
    ) throws -> (verb: Verb, rest: Self) {
        if let verb = Verb(rawValue: self[0]) { return (verb, swappingFirstTwo()) }
        guard let verb = Verb(rawValue: self[1]) else {
            var names = Verb.allCases.map(\.rawValue)
            let last = names.removeLast()
            throw UsageError(
                "Neither \"\(self[0])\" nor \"\(self[1])\" is one of \(names.joined(separator: ", ")) and \(last)."
            )
        }
        return (verb, self)
    }

    /// The argument at `index`, if it was given.
    func optional(_ index: Int) -> String? { index < positional.count ? positional[index] : nil }

    /// All arguments from `index` on.
    func rest(_ index: Int) -> [String] { Array(positional.dropFirst(index)) }

    func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The value of an option; the last one of several.
    func string(_ option: String) -> String? { values[option]?.last }

    /// All values of an option that may be given several times.
    func strings(_ option: String) -> [String] { values[option] ?? [] }

    /// The value of an option that is a whole number of at least `minimum`.
    func number(_ option: String, minimum: Int = 0) throws -> Int? {
        guard let text = string(option) else { return nil }
        guard let number = Int(text), number >= minimum else {
            throw UsageError("\(option) takes a whole number of at least \(minimum), not \"\(text)\".")
        }
        return number
    }

    /// The value of an option that is one of `choices`; the first of them by default.
    func choice(_ option: String, _ choices: [String]) throws -> String {
        guard let text = string(option) else { return choices[0] }
        guard choices.contains(text) else {
            throw UsageError("\(option) takes \(choices.joined(separator: " or ")), not \"\(text)\".")
        }
        return text
    }
}

// MARK: - Help

/// The texts that `--help` prints, made from what the commands declare.
enum Help {
    static func overview(_ commands: [any Command.Type]) -> String {
        """
        Usage: roost COMMAND DB ...

        DB is the directory of a Roost database.

        Commands:
        \(lines(commands.map { ($0.name, $0.summary) }))

        `roost COMMAND --help` tells more of each; `roost --version` prints the version.

        Exit status: 0 done, 1 failed, 2 wrong usage.
        """
    }

    /// All about a command.
    ///
    /// - Parameter inShell: whether it is called from the shell, which knows the database and its key.
    static func text(of command: any Command.Type, inShell: Bool = false) -> String {
        let parameters =
            inShell && command.takesDatabase ? Array(command.parameters.dropFirst()) : command.parameters
        let options =
            command.options + (inShell ? [] : KeyAccess.options + [Option("--help", nil, "print this")])
        let name = inShell ? command.name : "roost \(command.name)"
        let usage =
            parameters.map { $0.isOptional ? "[\($0.label)]" : $0.label }
            + (options.isEmpty ? [] : ["[OPTIONS]"])
        var parts = [
            "Usage: " + ([name] + usage).joined(separator: " "),
            command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".",
        ]
        let positional = parameters.map { ($0.label, $0.help) }
        let named = options.map { option in
            ([option.name, option.value].compactMap { $0 }.joined(separator: " "), option.help)
        }
        let width = (positional + named).map(\.0.count).max() ?? 0
        if !positional.isEmpty { parts.append(lines(positional, width)) }
        if !named.isEmpty { parts.append("Options:\n" + lines(named, width)) }
        if !command.notes.isEmpty { parts.append(command.notes) }
        return parts.joined(separator: "\n\n")
    }

    /// Names and what they mean, a line each, beside each other.
    static func lines(_ entries: [(name: String, meaning: String)], _ width: Int? = nil) -> String {
        let width = width ?? entries.map(\.name.count).max() ?? 0
        return entries.map { name, meaning in
            "  \(name)\(String(repeating: " ", count: max(0, width - name.count)))  \(meaning)"
        }.joined(separator: "\n")
    }
}
