import Foundation
import Roost

enum ImportCommand: Command {
    static let name = "import"
    static let summary = "stores documents from a file of JSON objects, one a line or in an array, or of CSV"
    static let parameters = [
        Parameter(label: "DB", help: "the database; made if there is none"),
        Parameter(label: "FILE|-", help: "the file, or - for standard input"),
    ]
    static let options = [
        Option("--format", "FORMAT", "lines, array or csv (by the file's name and first character)"),
        Option("--types", "COLUMN=TYPE,...", "csv: text, number, bool or json instead of a guess"),
        Option("--separator", "CHARACTER", "csv: what stands between fields, or tab (, or ; or tab)"),
        Option("--id-field", "NAME", "the property that is the document's ID (_id)"),
        .collection,
        Option("--batch", "N", "documents in each durable commit (1000)"),
        Option("--on-error", "stop|continue", "what to do at a document that can't be stored (stop)"),
        .json,
    ]
    static let notes = """
        A document whose ID is in the database already becomes its new revision. Those without an ID get a new one.
        After an error everything up to the last full batch is stored.

        The first record of a CSV file names the properties; empty fields give none. Where no type is given, true and
        false become Booleans, what is written like a JSON number of at most 15 digits becomes a number, and everything
        else, and all that stands in quotation marks, text.
        """

    static func run(_ invocation: Invocation) throws {
        let reader = try TextReader(invocation[1])
        let length = reader.size
        let field = invocation.string("--id-field") ?? "_id"
        let source = try source(reader, invocation)
        let size = try invocation.number("--batch", minimum: 1) ?? 1000
        let goesOn = try invocation.choice("--on-error", ["stop", "continue"]) == "continue"
        let database = try invocation.openForWriting(createIfMissing: true)
        let collection = try invocation.collection(of: database, createIfMissing: true)
        var job = ImportJob(source, field: field, collection: collection, goesOn: goesOn)
        let bar = ProgressBar("Importing")
        defer { bar.finish() }
        let start = DispatchTime.now().uptimeNanoseconds
        while !job.isDone {
            try database.write { batch in try job.fill(batch, size) }
            bar.show(job.position, of: length, Count.text(job.stored, "document"))
        }
        try database.close()
        bar.finish()
        report(job, Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9, invocation)
        if job.bad > 0 {
            throw CommandFailure("\(Count.text(job.bad, "document was", "documents were")) left out.")
        }
    }

    private static func report(_ job: ImportJob, _ seconds: Double, _ invocation: Invocation) {
        let rate = Int(Double(job.stored) / max(seconds, 1e-9))
        if invocation.has("--json") {
            var object = JSONObject()
            object.add("documents", job.stored)
            object.add("leftOut", job.bad)
            object.add("seconds", seconds)
            object.add("documentsPerSecond", rate)
            return Console.print(object.text)
        }
        let time = String(format: "%.2f", seconds)
        Console.print("\(Count.text(job.stored, "document")) imported in \(time) s (\(rate) documents/s).")
    }

    // MARK: Sources

    private static func source(
        _ reader: TextReader, _ invocation: Invocation
    ) throws -> any DocumentSource {
        let types = try types(invocation)
        let separator = try separator(invocation)
        let format = try format(reader, invocation)
        guard format == "csv" || types.isEmpty && separator == nil else {
            throw UsageError("--types and --separator are for --format csv.")
        }
        switch format {
        case "csv":
            return try CSVSource(
                reader, separator: separator, types: types, idField: invocation.string("--id-field") ?? "_id")
        case "array": return ArraySource(reader: reader)
        default: return LineSource(reader: reader)
        }
    }

    private static func format(_ reader: TextReader, _ invocation: Invocation) throws -> String {
        if invocation.string("--format") != nil {
            return try invocation.choice("--format", ["lines", "array", "csv"])
        }
        let name = invocation[1].lowercased()
        if name.hasSuffix(".csv") || name.hasSuffix(".tsv") { return "csv" }
        return try reader.peek() == UInt8(ascii: "[") ? "array" : "lines"
    }

    private static func types(_ invocation: Invocation) throws -> NamedValues<CSVSource.FieldType> {
        var types: NamedValues<CSVSource.FieldType> = [:]
        for part in invocation.string("--types")?.split(separator: ",") ?? [] {
            guard let equals = part.lastIndex(of: "="),
                let type = CSVSource.FieldType(rawValue: String(part[part.index(after: equals)...]))
            else {
                throw UsageError("--types takes COLUMN=text, number, bool or json, not \"\(part)\".")
            }
            types[String(part[..<equals])] = type
        }
        return types
    }

    private static func separator(_ invocation: Invocation) throws -> UInt8? {
        guard let text = invocation.string("--separator") else { return nil }
        if text == "tab" { return UInt8(ascii: "\t") }
        guard text.utf8.count == 1, let byte = text.utf8.first, byte != UInt8(ascii: "\""),
            byte >= 32 || byte == 9
        else { throw UsageError("--separator takes one ASCII character, or tab, not \"\(text)\".") }
        return byte
    }
}
