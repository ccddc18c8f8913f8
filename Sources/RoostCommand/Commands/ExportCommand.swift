import Foundation
import Roost

enum ExportCommand: Command {
    static let name = "export"
    static let summary = "prints all documents as JSON, one a line, in the order of their IDs"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "FILE", help: "where to write (standard output)", isOptional: true),
    ]
    static let options = [
        .collection, Option("--with-revisions", nil, "add _rev to each document"),
    ]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let collection = try invocation.collection(of: database)
        let snapshot = try collection.snapshot()
        let metadata: DocumentMetadata = invocation.has("--with-revisions") ? .all : [.id, .deletion]
        try Console.redirecting(to: invocation.optional(1)) { try export(snapshot, of: database, metadata) }
    }

    private static func export(
        _ snapshot: CollectionSnapshot, of database: Database, _ metadata: DocumentMetadata
    ) throws {
        let bar = ProgressBar("Exporting")
        defer { bar.finish() }
        let onTerminal = Console.isTerminal(STDOUT_FILENO)
        let cursor = try snapshot.cursor()
        var count: UInt64 = 0
        while let document = try cursor.next() {
            let json =
                try document.hasAttachments
                ? database.json(inliningAttachmentsOf: document, with: metadata)
                : document.json(with: metadata)
            try Console.write((onTerminal ? ControlCharacters.escaped(in: json) : json).utf8)
            try Console.write([10])
            count += 1
            if count % 1024 == 0 { bar.show(count, of: UInt64(snapshot.count)) }
        }
    }
}
