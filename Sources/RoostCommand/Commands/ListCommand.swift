import Roost

enum ListCommand: Command {
    static let name = "ls"
    static let summary = "lists documents in the order of their IDs"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [
        .collection,
        Option("--prefix", "TEXT", "only IDs that begin with TEXT"),
        Option("--from", "ID", "start here"),
        Option("--to", "ID", "end here, included"),
        Option("--limit", "N", "at most so many"),
        Option("--descending", nil, "the other way round"),
        Option("--long", nil, "with revision and sequence"),
        .json,
    ]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let snapshot = try invocation.collection(of: database).snapshot()
        var selection = DocumentSelection()
        selection.prefix = invocation.string("--prefix")
        selection.from = invocation.string("--from")
        selection.to = invocation.string("--to")
        selection.limit = try invocation.number("--limit") ?? .max
        selection.isDescending = invocation.has("--descending")
        let cursor = try snapshot.cursor(selection)
        while let entry = try cursor.nextChange() {
            if invocation.has("--json") {
                var object = JSONObject()
                object.add("id", entry.id)
                object.add("rev", entry.revision.description)
                object.add("sequence", entry.sequence)
                Console.print(object.text)
            } else if invocation.has("--long") {
                Console.print("\(entry.id)\t\(entry.revision)\t\(entry.sequence)")
            } else {
                Console.print(entry.id)
            }
        }
    }
}
