import Foundation
import Roost

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
        // Who sits there was told of failures.
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
