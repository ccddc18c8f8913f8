import Foundation
import Roost

enum ChangesCommand: Command {
    static let name = "changes"
    static let summary = "lists what changed, in the order of changes"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [
        .collection,
        Option("--since", "N", "only changes after this sequence (0)"),
        Option("--limit", "N", "at most so many"),
        Option("--descending", nil, "newest first"),
        Option("--include-docs", nil, "with the documents, as JSON"),
        .json,
    ]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let snapshot = try invocation.collection(of: database).snapshot()
        let since = UInt64(try invocation.number("--since") ?? 0)
        let cursor = try snapshot.changeCursor(since: since, descending: invocation.has("--descending"))
        var left = try invocation.number("--limit") ?? .max
        while left > 0, let change = try cursor.next() {
            left -= 1
            let document = invocation.has("--include-docs") ? try cursor.document(of: change) : nil
            Console.print(line(change, document, asJSON: invocation.has("--json") || document != nil))
        }
    }

    private static func line(_ change: Change, _ document: Document?, asJSON: Bool) -> String {
        guard asJSON else {
            let deleted = change.isDeleted ? "\tdeleted" : ""
            return "\(change.sequence)\t\(change.id)\t\(change.revision)\(deleted)"
        }
        var object = JSONObject()
        object.add("seq", change.sequence)
        object.add("id", change.id)
        object.add("rev", change.revision.description)
        if change.isDeleted { object.add("deleted", true) }
        if let document { object.add("doc", raw: document.text(withRevision: true)) }
        return object.text
    }
}
