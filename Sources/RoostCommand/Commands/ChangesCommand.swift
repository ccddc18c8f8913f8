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
        Option("--follow", nil, "go on with what others change, until stopped"),
        Option("--include-docs", nil, "with the documents, as JSON"),
        .json,
    ]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let collection = try invocation.collection(of: database)
        var since = UInt64(try invocation.number("--since") ?? 0)
        var left = try invocation.number("--limit") ?? .max
        let isDescending = invocation.has("--descending")
        guard !(isDescending && invocation.has("--follow")) else {
            throw UsageError("--follow goes forwards only, so it excludes --descending.")
        }
        while true {
            let cursor = try collection.snapshot().changeCursor(since: since, isDescending: isDescending)
            while left > 0, let change = try cursor.next() {
                left -= 1
                since = max(since, change.sequence)
                let document = invocation.has("--include-docs") ? try cursor.document(of: change) : nil
                Console.print(line(change, document, asJSON: invocation.has("--json") || document != nil))
            }
            guard invocation.has("--follow"), left > 0 else { return }
            try Console.flush()
            repeat { usleep(pollingInterval) } while try !database.refresh()
        }
    }

    /// How long to wait between looks at the file, in microseconds.
    private static let pollingInterval: UInt32 = 100_000

    private static func line(_ change: DocumentChange, _ document: Document?, asJSON: Bool) -> String {
        guard asJSON else {
            let deleted = change.isDeleted ? "\tdeleted" : ""
            return "\(change.sequence)\t\(change.id)\t\(change.revision)\(deleted)"
        }
        var object = JSONObject()
        object.add("seq", change.sequence)
        object.add("id", change.id)
        object.add("rev", change.revision.description)
        if change.isDeleted { object.add("deleted", true) }
        if let document { object.add("doc", raw: document.json(with: .all)) }
        return object.text
    }
}
