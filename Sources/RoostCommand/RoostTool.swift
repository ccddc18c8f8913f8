import Foundation

/// The command-line tool: `roost COMMAND DATABASE …`. Each command is one file in `Commands`.
@main
enum RoostTool {
    static let version = "0.1.0"

    static let commands: [any (Command & SendableMetatype).Type] = [
        ImportCommand.self, ExportCommand.self, PutCommand.self, GetCommand.self, CatCommand.self,
        RemoveCommand.self, PurgeCommand.self, ResolveCommand.self, RevisionsCommand.self, ExpireCommand.self,
        QueryCommand.self, ListCommand.self, CountCommand.self, ChangesCommand.self,
        ListCollectionsCommand.self,
        MakeCollectionCommand.self, RemoveCollectionCommand.self, InfoCommand.self, CompactCommand.self,
        CheckCommand.self, InspectCommand.self, DumpCommand.self, SalvageCommand.self, BackupCommand.self,
        HistoryCommand.self, BlobCommand.self, AttachCommand.self, DetachCommand.self, EncryptCommand.self,
        DecryptCommand.self, RekeyCommand.self,
    ]

    static func main() {
        // A reader that goes away, as `head` does, ends the output with an error instead of a signal; and so does a
        // limit on file sizes.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let status = run(Array(CommandLine.arguments.dropFirst()))
        try? Console.flush()
        exit(status)
    }

    /// Runs one invocation and returns its exit status: 0 done, 1 failed, 2 wrong usage.
    static func run(_ arguments: [String]) -> Int32 {
        guard let name = arguments.first, !["--help", "-h", "help"].contains(name) else {
            if arguments.count > 1, let command = command(arguments[1]) {
                Console.print(Help.text(of: command))
            } else {
                Console.print(Help.overview(commands))
            }
            return arguments.isEmpty ? 2 : 0
        }
        if name == "--version" {
            Console.print("roost \(version)")
            return 0
        }
        guard let command = command(name) else {
            Console.complain("There is no command \"\(name)\". `roost --help` lists them.")
            return 2
        }
        return run(command, Array(arguments.dropFirst()))
    }

    private static func command(_ name: String) -> (any Command.Type)? {
        commands.first { $0.name == name }
    }

    private static func run(_ command: any Command.Type, _ arguments: [String]) -> Int32 {
        do {
            let invocation = try Invocation(arguments, of: command)
            if invocation.asksForHelp {
                Console.print(Help.text(of: command))
                return 0
            }
            try command.run(invocation)
            try Console.flush()
            return 0
        } catch let error as UsageError {
            Console.complain("\(error.message) See `roost \(command.name) --help`.")
            return 2
        } catch is OutputClosed {
            return 1
        } catch {
            try? Console.flush()
            Console.complain("\(error)")
            return 1
        }
    }
}
