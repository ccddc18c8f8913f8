import Roost

enum PurgeCommand: Command {
    static let name = "purge"
    static let summary =
        "removes documents as if they had never been; peers that have them may bring them back"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "ID...", help: "the documents' IDs", repeats: true),
    ]
    static let options = [
        .collection,
        Option(Option.revisionName, "REV", "this leaf only, with what only it descends from"), .json,
    ]
    static let notes = "All documents go, or, when one of them is not there, none does."

    static func run(_ invocation: Invocation) throws {
        let revision = try invocation.revision()
        let database = try invocation.openForWriting()
        let collection = try invocation.collection(of: database)
        let purged = try database.write { batch in
            try invocation.rest(1).map { id in
                let revisions = try batch.purge(id, revisions: revision.map { [$0] }, in: collection)
                guard !revisions.isEmpty else {
                    let what = revision.map { "leaf \($0) of the document" } ?? "document"
                    throw CommandFailure("There is no \(what) \"\(id)\"; nothing was purged.")
                }
                return (id: id, revisions: revisions)
            }
        }
        try database.close()
        for (id, revisions) in purged {
            guard invocation.has("--json") else {
                Console.print("\(id) \(revisions.map(\.description).joined(separator: " "))")
                continue
            }
            var object = JSONObject()
            object.add("id", id)
            object.add("purged", raw: "\(DocumentValue.array(revisions.map { .string("\($0)") }))")
            Console.print(object.text)
        }
    }
}
