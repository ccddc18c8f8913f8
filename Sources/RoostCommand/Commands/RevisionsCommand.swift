import Roost

enum RevisionsCommand: Command {
    static let name = "revs"
    static let summary = "lists what is known of a document's revisions, highest first"
    static let parameters = [
        Parameter(label: "DB", help: "the database"), Parameter(label: "ID", help: "the document's ID"),
    ]
    static let options = [Option.collection, .json]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let snapshot = try invocation.collection(of: database).snapshot()
        let leaves = try snapshot.openRevisions(of: invocation[1])
        guard let winner = leaves.first?.revision else {
            throw CommandFailure("There is no document \"\(invocation[1])\".")
        }
        for revision in try snapshot.revisions(of: invocation[1]) {
            Console.print(line(revision, isWinner: revision.id == winner, asJSON: invocation.has("--json")))
        }
    }

    private static func line(_ revision: RevisionInfo, isWinner: Bool, asJSON: Bool) -> String {
        guard asJSON else {
            let marks = [
                isWinner ? "winner" : revision.isLeaf ? "leaf" : nil, revision.isDeleted ? "deleted" : nil,
            ]
            let parent = revision.parent?.description ?? "-"
            return "\(revision.id)\t\(parent)\t\(marks.compactMap { $0 }.joined(separator: ", "))"
        }
        var object = JSONObject()
        object.add("rev", revision.id.description)
        if let parent = revision.parent { object.add("parent", parent.description) }
        if revision.sequence > 0 { object.add("sequence", revision.sequence) }
        if revision.isLeaf { object.add("leaf", true) }
        if isWinner { object.add("winner", true) }
        if revision.isDeleted { object.add("deleted", true) }
        return object.text
    }
}
