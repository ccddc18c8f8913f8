/// What the shell understands beside queries and the tool's commands.
enum ShellWord: String, CaseIterable {
    case help, use, set, mode, exit

    /// The word that is meant, also by the names that other shells have for it.
    init?(typed: String) {
        switch typed.lowercased() {
        case ".help", "\\?", "?": self = .help
        case "quit", ".quit", ".exit", "\\q": self = .exit
        case let name: self.init(rawValue: name)
        }
    }

    var usage: String {
        switch self {
        case .help: "help [COMMAND|FUNCTION|functions]"
        case .use: "use [COLLECTION]"
        case .set: "set NAME [JSON]"
        case .mode: "mode [table|json|csv|records]"
        case .exit: "exit"
        }
    }

    var summary: String {
        switch self {
        case .help: "what there is, or more of a command or function"
        case .use: "the collection that `_` and commands mean; without a name, the default one"
        case .set: "the value of $NAME in queries; without JSON there is none"
        case .mode: "how rows are printed; without a name, tells how"
        case .exit: "ends, as Ctrl-D does"
        }
    }
}
