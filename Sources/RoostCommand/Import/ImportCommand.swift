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
        Option(
            "--types", "COLUMN=TYPE,...",
            "csv: text, number, bool or json instead of what all of a column's fields are"),
        Option("--separator", "CHARACTER", "csv: what stands between fields, or tab (, or ; or tab)"),
        Option("--id-field", "NAME", "the property that is the document's ID (_id)"),
        Option("--number-ids", nil, "take an _id that is a whole number, too: 7 becomes \"7\""),
        Option("--revisions", "keep|new", "keep the revisions that documents name, or save new ones (keep)"),
        .collection,
        Option("--batch", "N", "documents in each durable commit (1000)"),
        Option("--on-error", "stop|continue", "what to do at a document that can't be stored (stop)"),
        .json,
    ]
    static let notes = """
        A document whose ID is in the database already becomes its new revision. Those without an ID get a new one. A CSV file
        without a column _id is known again where one of its columns is the ID of the documents that are there.
        After an error everything up to the last full batch is stored. What begins as gzip is decompressed.

        Documents with _revisions, as `roost export --with-revisions` and CouchDB write them, become those revisions with
        their histories, conflicts and deletions among them. Those with _rev alone do where the database has no such
        document; otherwise they are edits of that revision.

        The first record of a CSV file names the properties; empty fields give none. A column has one type: bool where all its
        fields are true or false, number where all are numbers of at most 15 digits, otherwise text. Codes such as 007 or
        1e2641 and all that is in quotation marks are text.
        """

    static func run(_ invocation: Invocation) throws {
        var options = ImportOptions()
        options.idField = invocation.string("--id-field") ?? options.idField
        options.takesNumbersAsIDs = invocation.has("--number-ids")
        options.goesOn = try invocation.choice("--on-error", ["stop", "continue"]) == "continue"
        options.revisions = try invocation.choice("--revisions", ["keep", "new"]) == "new" ? .new : .keep
        let size = try invocation.number("--batch", minimum: 1) ?? 1000
        var format = try format(invocation)
        let database = try invocation.openForWriting(createsIfMissing: true)
        let collection = try invocation.collection(of: database, createsIfMissing: true)
        if invocation.string("--id-field") == nil, let key = try knownKey(of: collection) {
            format.knownKey = key
        }
        let source = try source(invocation[1], format, idField: options.idField)
        if let csv = source as? CSVSource, let key = csv.usedKey {
            options.idField = key
            options.takesNumbersAsIDs = true
            Console.note(
                "The column \(key) has the IDs, as in the documents that are there. --id-field NAME takes another one."
            )
        }
        let length = source.reader.size
        var job = ImportJob(source, collection: collection, options)
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
            object.add("known", job.known)
            object.add("seconds", seconds)
            object.add("documentsPerSecond", rate)
            return Console.print(object.text)
        }
        let time = String(format: "%.2f", seconds)
        Console.print("\(Count.text(job.stored, "document")) imported in \(time) s (\(rate) documents/s).")
        if job.known > 0 {
            Console.print("\(Count.text(job.known, "revision was", "revisions were")) there already.")
        }
    }

    // MARK: Sources

    private static func format(_ invocation: Invocation) throws -> ImportFormat {
        var format = ImportFormat(path: invocation[1])
        if let name = try givenFormat(invocation) { format.name = name }
        format.types = try types(invocation)
        format.separator = try separator(invocation)
        guard format.name == "csv" || format.types.isEmpty && format.separator == nil else {
            throw UsageError("--types and --separator are for --format csv.")
        }
        return format
    }

    /// The property that has the ID of each of the first documents, so that the same table is known again; `nil` where there is none, or
    /// more than one.
    private static func knownKey(of collection: DocumentCollection) throws -> String? {
        let cursor = try collection.snapshot().cursor()
        var names: Set<ByteKey>?
        var shown: [ByteKey: String] = [:]
        for _ in 0..<50 {
            guard let document = try cursor.next() else { break }
            var own: Set<ByteKey> = []
            for (name, value) in document.properties
            where (value.string ?? value.int.map(String.init)).map({ ByteKey($0) }) == ByteKey(document.id) {
                own.insert(ByteKey(name))
                shown[ByteKey(name)] = name
            }
            names = names?.intersection(own) ?? own
        }
        guard let names, names.count == 1, let only = names.first else { return nil }
        return shown[only]
    }

    /// The documents of a file.
    static func source(_ path: String, _ format: ImportFormat, idField: String) throws -> any DocumentSource {
        let reader = try TextReader(path, isReadTwice: format.name == "csv")
        switch format.name {
        case "csv":
            return try CSVSource(
                reader, separator: format.separator, types: format.types, idField: idField,
                knownKey: format.knownKey)
        case "array": return ArraySource(reader: reader)
        case nil where try reader.peekPastSpace() == UInt8(ascii: "["): return ArraySource(reader: reader)
        default: return LineSource(reader: reader)
        }
    }

    /// The format that the options tell.
    private static func givenFormat(_ invocation: Invocation) throws -> String? {
        guard invocation.string("--format") != nil else { return nil }
        return try invocation.choice("--format", ["lines", "array", "csv"])
    }

    private static func types(_ invocation: Invocation) throws -> NamedValues<ColumnType> {
        var types: NamedValues<ColumnType> = [:]
        for part in invocation.string("--types")?.split(separator: ",") ?? [] {
            guard let equals = part.lastIndex(of: "="),
                let type = ColumnType(rawValue: String(part[part.index(after: equals)...]))
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
