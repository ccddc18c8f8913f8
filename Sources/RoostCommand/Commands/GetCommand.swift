import Fleece
import Roost

enum GetCommand: Command {
    static let name = "get"
    static let summary = "prints documents"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "ID...", help: "the documents' IDs", repeats: true),
    ]
    static let options = [
        .collection, Option("--pretty", nil, "on several lines, as on a terminal"),
        Option("--compact", nil, "on one line, as in a pipe"),
    ]
    static let notes = "The exit status is 1 when one of the documents is not there."

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let snapshot = try invocation.collection(of: database).snapshot()
        let isPretty = invocation.has("--pretty") || !invocation.has("--compact") && Console.isTerminal(1)
        var missing: [String] = []
        for id in invocation.rest(1) {
            guard let document = try snapshot.get(id) else {
                missing.append(id)
                continue
            }
            Console.print(document.text(isPretty ? .pretty : .compact, withRevision: true))
        }
        guard missing.isEmpty else {
            throw CommandFailure(
                "There is no document \(missing.map { "\"\($0)\"" }.joined(separator: ", ")).")
        }
    }
}
