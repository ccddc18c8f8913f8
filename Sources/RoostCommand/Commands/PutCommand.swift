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
