import Foundation
import Roost
import RoostQuery
import RoostScript

/// The command-line tool: `roost COMMAND DATABASE …`. Each command is one file in `Commands`.
@main
enum RoostTool {
    static let commands: [any (Command & SendableMetatype).Type] = [
        ImportCommand.self, ExportCommand.self, PutCommand.self, GetCommand.self, CatCommand.self,
        RemoveCommand.self, PurgeCommand.self, ResolveCommand.self, RevisionsCommand.self, ExpireCommand.self,
        QueryCommand.self, ShellCommand.self, IndexCommand.self, SearchCommand.self, ViewCommand.self,
        ListCommand.self,
        CountCommand.self,
        ChangesCommand.self,
        ListCollectionsCommand.self,
        MakeCollectionCommand.self, RemoveCollectionCommand.self, InfoCommand.self, CompactCommand.self,
        CheckCommand.self, InspectCommand.self, DumpCommand.self, SalvageCommand.self, BackupCommand.self,
        ReplicateCommand.self, ReplicationsCommand.self,
        HistoryCommand.self, BlobCommand.self, AttachCommand.self, DetachCommand.self, EncryptCommand.self,
        DecryptCommand.self, RekeyCommand.self, ServeCommand.self, UsersCommand.self,
        CompletionsCommand.self,
    ]

    /// What `roost serve` calls this program with to have scripts run in a process of their own.
    static let scriptWorker = "run-scripts"

    static func main() {
        // A reader that goes away, as `head` does, ends the output with an error instead of a signal; and so does a
        // limit on file sizes.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        guard let arguments = givenArguments() else { exit(2) }
        exit(run(arguments))
    }

    /// The arguments after the tool's name; `nil`, with a complaint, where one is not well-formed UTF-8: it would reach
    /// the database as something else than was given.
    private static func givenArguments() -> [String]? {
        var arguments: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = unsafe CommandLine.unsafeArgv[index] else { break }
            guard let text = unsafe String(validatingCString: bytes) else {
                Console.complain(
                    "Argument \(index) is not well-formed UTF-8. Is the terminal set to another encoding?")
                return nil
            }
            arguments.append(text)
        }
        return arguments
    }

    /// Runs one invocation and returns its exit status: 0 done, 1 failed, 2 wrong usage, 130 ended by Ctrl-C at a question.
    static func run(_ arguments: [String]) -> Int32 {
        do {
            let status = try dispatch(arguments)
            try Console.flush()
            return status
        } catch let error as UsageError {
            let help = command(arguments.first ?? "").map { "roost \($0.name) --help" } ?? "roost --help"
            Console.complain("\(error.description) See `\(help)`.")
            return 2
        } catch is OutputClosed {
            return 1
        } catch is Interrupted {
            return 130
        } catch {
            let isWritten = (try? Console.flush()) != nil
            if isWritten || error is CommandFailure { Console.complain(error.sentence) }
            return 1
        }
    }

    private static func dispatch(_ arguments: [String]) throws -> Int32 {
        guard let name = arguments.first else {
            Console.print(Help.overview(commands))
            return 2
        }
        if name == "--version" {
            Console.print("roost \(RoostVersion.number)")
            return 0
        }
        if name == scriptWorker {
            ScriptWorker.run()
            return 0
        }
        guard ["--help", "-h", "help"].contains(name) else {
            return try run(known(name), Array(arguments.dropFirst()))
        }
        guard arguments.count <= 2 else { throw UsageError("\"\(arguments[2])\" is one argument too many.") }
        Console.print(arguments.count == 2 ? Help.text(of: try known(arguments[1])) : Help.overview(commands))
        return 0
    }

    private static func command(_ name: String) -> (any Command.Type)? {
        commands.first { $0.name == name }
    }

    private static func known(_ name: String) throws -> any Command.Type {
        guard let command = command(name) else {
            let near = Suggestion.text(for: name, among: commands.map { $0.name })
            throw UsageError("There is no command \"\(name)\"\(near.isEmpty ? "." : near)")
        }
        return command
    }

    private static func run(_ command: any Command.Type, _ arguments: [String]) throws -> Int32 {
        let invocation = try Invocation(arguments, of: command)
        if invocation.asksForHelp {
            Console.print(Help.text(of: command))
        } else {
            try command.run(invocation)
        }
        return 0
    }
}
