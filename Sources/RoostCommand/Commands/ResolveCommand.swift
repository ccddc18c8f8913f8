import Roost

enum ResolveCommand: Command {
    static let name = "resolve"
    static let summary = "ends a document's conflicts: one leaf stays, the others get tombstones"
    static let parameters = [
        Parameter(label: "DB", help: "the database"), Parameter(label: "ID", help: "the document's ID"),
        Parameter(label: "JSON", help: "what the document is to be, an edit of that leaf", isOptional: true),
    ]
    static let options = [
        .collection, Option(Option.revisionName, "REV", "the leaf that stays (the winner)"), .json,
    ]
    static let notes = "`roost get --open-revs` prints the leaves."

    static func run(_ invocation: Invocation) throws {
        let revision = try invocation.revision()
        let database = try invocation.openForWriting()
        let collection = try invocation.collection(of: database)
        let document = try collection.resolve(
            invocation[1], keeping: revision, json: invocation.optional(2))
        try database.close()
        guard let document else { throw CommandFailure("There is no document \"\(invocation[1])\".") }
        Acknowledgement.print(document, invocation)
    }
}
