import Foundation
import Roost

enum ShellCommand: Command {
    static let name = "shell"
    static let summary = "asks and changes a database, line by line"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [Option.collection]
    static let notes = """
        A line is a query, or one of the tool's commands without DB: `SELECT title FROM _ WHERE stars > 3`, `put n1 {"stars":4}`,
        `index list`. `help` tells more. On a terminal lines are edited and completed with Tab, and kept in ~/.roost_history
        (or the file that ROOST_HISTORY names). From a pipe, lines are carried out one after the other.
        """

    static func run(_ invocation: Invocation) throws {
        let (database, key) = try invocation.withKey { key in
            var options = DatabaseOptions(readOnly: true, createIfMissing: false)
            options.key = key
            return (try Database.open(invocation[0], options: options), key)
        }
        defer { try? database.close() }
        let failures = try KeyAccess.$remembered.withValue(key) {
            let shell = Shell(
                path: invocation[0], database, collection: invocation.string(Option.collection.name))
            return try Console.isTerminal(STDIN_FILENO) && Console.isTerminal(STDOUT_FILENO)
                ? shell.runOnTerminal() : shell.runFromPipe()
        }
        guard failures == 0 else {
            throw CommandFailure(failures == 1 ? "A line failed." : "\(failures) lines failed.")
        }
    }
}
