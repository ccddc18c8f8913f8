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
