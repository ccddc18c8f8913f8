import Roost

enum RemoveCommand: Command {
    static let name = "rm"
    static let summary = "deletes documents"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "ID...", help: "the documents' IDs", repeats: true),
    ]
    static let options = [
        .collection,
        Option(Option.revisionName, "REV", "the revision to delete; it is a conflict if there is another"),
        .json,
    ]

    static func run(_ invocation: Invocation) throws {
        let expectation = try invocation.revision().map { DocumentExpectation.revision($0) }
        let database = try invocation.openForWriting()
        let collection = try invocation.collection(of: database)
        let ids = invocation.rest(1)
        let tombstones = try database.write { batch in
            try ids.map { id in
                guard let tombstone = try batch.delete(id, in: collection, expecting: expectation ?? .any)
                else {
                    throw CommandFailure("There is no document \"\(id)\"; nothing was deleted.")
                }
                return tombstone
            }
        }
        try database.close()
        for tombstone in tombstones { Acknowledgement.print(tombstone, invocation) }
    }
}
