import Foundation
import Roost

enum PutCommand: Command {
    static let name = "put"
    static let summary = "stores one document"
    static let parameters = [
        Parameter(label: "DB", help: "the database; made if there is none"),
        Parameter(label: "ID", help: "the document's ID"),
        Parameter(
            label: "JSON|-", help: "its properties, or - for standard input (the default)", isOptional: true),
    ]
    static let options = [
        .collection,
        Option(Option.revisionName, "REV", "the revision to replace; it is a conflict if there is another"),
        .json,
    ]

    static func run(_ invocation: Invocation) throws {
        let text = try json(invocation)
        let expectation = try invocation.revision().map { DocumentExpectation.revision($0) }
        let database = try invocation.openForWriting(createsIfMissing: true)
        let collection = try invocation.collection(of: database, createsIfMissing: true)
        let document = try database.write { batch in
            try batch.save(
                IncomingDocument(json: text), id: invocation[1], in: collection,
                expecting: expectation ?? .any)
        }
        try database.close()
        Acknowledgement.print(document, invocation)
    }

    private static func json(_ invocation: Invocation) throws -> [UInt8] {
        let given = invocation.optional(2)
        if given == nil, let value = try? DocumentValue(json: invocation[1]), value.dictionary != nil {
            throw UsageError("ID is missing.")
        }
        if let given, given != "-" { return Array(given.utf8) }
        // Whoever sits at a terminal has forgotten it, rather than waiting to type it.
        guard given == "-" || !Console.isTerminal(STDIN_FILENO) else { throw UsageError("JSON is missing.") }
        let text = try InputFile("-").readAll(limit: TextReader.longestLine)
        guard !text.isEmpty else { throw UsageError("JSON is missing.") }
        return text
    }
}

/// What a command that changed a document prints.
enum Acknowledgement {
    static func print(_ document: Document, _ invocation: Invocation) {
        guard invocation.has("--json") else { return Console.print("\(document.id) \(document.revision)") }
        var object = JSONObject()
        object.add("id", document.id)
        object.add("rev", document.revision.description)
        object.add("sequence", document.sequence)
        if document.isDeleted { object.add("deleted", true) }
        Console.print(object.text)
    }
}

// MARK: - GetCommand

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
        Bodies are kept of leaves only: revisions without a later edit. `roost revs` lists what is known.
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

// MARK: - CatCommand

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

// MARK: - RemoveCommand

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

// MARK: - PurgeCommand

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

// MARK: - ResolveCommand

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

// MARK: - RevisionsCommand

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
