import Roost

enum GetCommand: Command {
    static let name = "get"
    static let summary = "prints documents, or certain revisions of one"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "ID...", help: "the documents' IDs", repeats: true),
    ]
    static let options = [
        .collection, Option(Option.revisionName, "REV", "this leaf instead of the winner"),
        Option("--open-revs", nil, "every leaf, the winner first, tombstones too"),
        Option("--revs", nil, "with the revision's history, as _revisions"),
        Option("--conflicts", nil, "with the live leaves that did not win, as _conflicts"),
        .pretty, .compact,
    ]
    static let notes = """
        Bodies are kept of leaves only: revisions that nobody has edited. `roost revs` lists what is known.
        The exit status is 1 when one of the documents is not there.
        """

    static func run(_ invocation: Invocation) throws {
        let revision = try invocation.revision()
        guard revision == nil || !invocation.has("--open-revs") else {
            throw UsageError("--open-revs prints all leaves, so it excludes --rev.")
        }
        let printer = try DocumentPrinter(invocation)
        let database = try invocation.openForReading()
        let snapshot = try invocation.collection(of: database).snapshot()
        var failures: [String] = []
        for id in invocation.rest(1) {
            do {
                for document in try documents(id, revision, snapshot, all: invocation.has("--open-revs")) {
                    try printer.print(document, adding: additions(to: document, snapshot, invocation))
                }
            } catch let failure as CommandFailure {
                failures.append(failure.description)
            }
        }
        guard failures.isEmpty else { throw CommandFailure(failures.joined(separator: " ")) }
    }

    private static func documents(
        _ id: String, _ revision: RevisionID?, _ snapshot: CollectionSnapshot, all: Bool
    ) throws -> [Document] {
        let leaves = try snapshot.openRevisions(of: id)
        guard let winner = leaves.first else { throw CommandFailure("There is no document \"\(id)\".") }
        if all { return leaves }
        if let revision {
            if let leaf = leaves.first(where: { $0.revision == revision }) { return [leaf] }
            let isKnown = try snapshot.revisions(of: id).contains { $0.id == revision }
            throw CommandFailure(
                isKnown
                    ? "Revision \(revision) of \"\(id)\" was edited, and its body is not kept. `roost get --open-revs` "
                        + "prints what is."
                    : "The document \"\(id)\" has no revision \(revision). `roost revs` lists those that it has."
            )
        }
        guard !winner.isDeleted else {
            throw CommandFailure(
                "The document \"\(id)\" is deleted. `--rev \(winner.revision)` prints its tombstone.")
        }
        return [winner]
    }

    private static func additions(
        to document: Document, _ snapshot: CollectionSnapshot, _ invocation: Invocation
    ) throws -> [(name: String, value: DocumentValue)] {
        var additions: [(name: String, value: DocumentValue)] = []
        if invocation.has("--conflicts") {
            let others = try snapshot.conflicts(of: document.id).map {
                DocumentValue.string("\($0.revision)")
            }
            if !others.isEmpty { additions.append(("_conflicts", .array(others))) }
        }
        if invocation.has("--revs") {
            let history = try snapshot.history(of: document.id, revision: document.revision)
            let digests = history.map { DocumentValue.string(String("\($0)".split(separator: "-")[1])) }
            let start = DocumentValue.unsigned(document.revision.generation)
            additions.append(("_revisions", ["ids": .array(digests), "start": start]))
        }
        return additions
    }
}
