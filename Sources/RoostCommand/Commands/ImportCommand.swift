import Fleece
import Foundation
import Roost

enum ImportCommand: Command {
    static let name = "import"
    static let summary = "stores documents from a file of JSON objects, one a line"
    static let parameters = [
        Parameter(label: "DB", help: "the database; made if there is none"),
        Parameter(label: "FILE|-", help: "the file, or - for standard input"),
    ]
    static let options = [
        Option("--id-field", "NAME", "the property that is the document's ID (_id)"),
        .collection,
        Option("--batch", "N", "documents in each durable commit (1000)"),
        Option("--on-error", "stop|continue", "what to do at a line that is no document (stop)"),
        .json,
    ]
    static let notes = """
        A document whose ID is in the database already becomes its new revision. Lines without an ID get a new one.
        After an error everything up to the last full batch is stored.
        """

    static func run(_ invocation: Invocation) throws {
        let reader = try LineReader(invocation[1])
        let size = try invocation.number("--batch", minimum: 1) ?? 1000
        let goesOn = try invocation.choice("--on-error", ["stop", "continue"]) == "continue"
        let database = try invocation.openForWriting(createIfMissing: true)
        let collection = try invocation.collection(of: database, createIfMissing: true)
        let field = invocation.string("--id-field") ?? "_id"
        var job = ImportJob(collection: collection, field: field, goesOn: goesOn)
        let bar = ProgressBar("Importing")
        defer { bar.finish() }
        let start = DispatchTime.now().uptimeNanoseconds
        while !job.isDone {
            try database.write { batch in try job.fill(batch, from: reader, size) }
            bar.show(reader.position, of: reader.size, Count.text(job.stored, "document"))
        }
        try database.close()
        bar.finish()
        report(job, Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9, invocation)
        if job.bad > 0 { throw CommandFailure("\(Count.text(job.bad, "line was", "lines were")) left out.") }
    }

    private static func report(_ job: ImportJob, _ seconds: Double, _ invocation: Invocation) {
        let rate = Int(Double(job.stored) / max(seconds, 1e-9))
        if invocation.has("--json") {
            var object = JSONObject()
            object.add("documents", job.stored)
            object.add("badLines", job.bad)
            object.add("seconds", seconds)
            object.add("documentsPerSecond", rate)
            return Console.print(object.text)
        }
        let time = String(format: "%.2f", seconds)
        Console.print("\(Count.text(job.stored, "document")) imported in \(time) s (\(rate) documents/s).")
    }
}

/// An import under way.
struct ImportJob {
    let collection: DocumentCollection
    let field: String
    let goesOn: Bool
    private(set) var line = 0
    private(set) var stored = 0
    private(set) var bad = 0
    private(set) var isDone = false

    init(collection: DocumentCollection, field: String, goesOn: Bool) {
        self.collection = collection
        self.field = field
        self.goesOn = goesOn
    }

    /// Stores up to `size` documents.
    mutating func fill(_ batch: WriteBatch, from reader: LineReader, _ size: Int) throws {
        var count = 0
        while count < size {
            guard let text = try reader.next() else {
                isDone = true
                break
            }
            line += 1
            guard text.contains(where: { $0 != 32 && $0 != 9 && $0 != 13 }) else { continue }
            do {
                try save(text, batch)
                count += 1
            } catch let error as DatabaseError where goesOn && error.code != .damaged {
                bad += 1
                Console.complain("line \(line): \(error)")
            } catch let error as DatabaseError {
                throw CommandFailure("line \(line): \(error)")
            }
        }
        stored += count
    }

    private func save(_ text: ArraySlice<UInt8>, _ batch: WriteBatch) throws {
        guard field != "_id" else {
            try batch.save(json: text, in: collection)
            return
        }
        let value = try FleeceDocument(json: text).root[field]
        let id = value.string ?? value.int.map(String.init)
        guard let id else {
            throw DatabaseError(
                .invalidDocumentID,
                "the property \"\(field)\", which should be the ID, is no string or whole number.")
        }
        try batch.save(json: text, id: id, in: collection)
    }
}
