/// What the shell understands beside queries and the tool's commands.
enum ShellWord: String, CaseIterable {
    case help, use, set, mode, output, once, read, timer, pager, exit

    /// The word that is meant, also by the names that other shells have for it.
    init?(typed: String) {
        switch typed.lowercased() {
        case "\\?", "?": self = .help
        case "quit", ".quit", "\\q": self = .exit
        case "\\i": self = .read
        case "\\o": self = .output
        case "\\timing": self = .timer
        case let name: self.init(rawValue: name.hasPrefix(".") ? String(name.dropFirst()) : name)
        }
    }

    var usage: String {
        switch self {
        case .help: "help [COMMAND|FUNCTION|functions]"
        case .use: "use [COLLECTION]"
        case .set: "set NAME [JSON]"
        case .mode: "mode [\(OutputMode.allCases.map(\.rawValue).joined(separator: "|"))]"
        case .output: "output [FILE]"
        case .once: "once FILE"
        case .read: "read FILE"
        case .timer: "timer [on|off]"
        case .pager: "pager [on|off]"
        case .exit: "exit"
        }
    }

    var summary: String {
        switch self {
        case .help: "what there is, or more of a command or function"
        case .use: "the collection that `_` and commands mean; without a name, the default one"
        case .set: "the value of $NAME in queries; without JSON there is none"
        case .mode: "how rows are printed; without a name, tells how"
        case .output: "where everything is printed from now on; without a file, here"
        case .once: "where the next statement prints"
        case .read: "carries out the statements in a file"
        case .timer: "whether each statement is followed by how long it took"
        case .pager: "whether long results are shown page by page"
        case .exit: "ends, as Ctrl-D does"
        }
    }
}
