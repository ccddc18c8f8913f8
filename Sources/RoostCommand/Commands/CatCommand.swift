import Roost

enum CatCommand: Command {
    static let name = "cat"
    static let summary = "prints the documents that patterns tell; all of them without a pattern"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(
            label: "PATTERN...", help: "an ID, or the beginning of IDs and a *", isOptional: true,
            repeats: true),
    ]
    static let options = [
        .collection, Option("--limit", "N", "at most so many of each pattern"), .pretty, .compact,
    ]
    static let notes = "The exit status is 1 when nothing has the ID, or begins so."

    static func run(_ invocation: Invocation) throws {
        let printer = try DocumentPrinter(invocation)
        let limit = try invocation.number("--limit") ?? .max
        let database = try invocation.openForReading()
        let snapshot = try invocation.collection(of: database).snapshot()
        let patterns = invocation.rest(1)
        var failures: [String] = []
        for pattern in patterns.isEmpty ? ["*"] : patterns {
            var selection = DocumentSelection(from: pattern, to: pattern)
            if pattern.hasSuffix("*") { selection = DocumentSelection(prefix: String(pattern.dropLast())) }
            selection.limit = limit
            let cursor = try snapshot.cursor(selection)
            var isEmpty = true
            while let document = try cursor.next() {
                isEmpty = false
                try printer.print(document)
            }
            if isEmpty, !patterns.isEmpty, limit > 0 { failures.append("\"\(pattern)\"") }
        }
        guard failures.isEmpty else {
            throw CommandFailure("There is no document \(failures.joined(separator: ", ")).")
        }
    }
}
