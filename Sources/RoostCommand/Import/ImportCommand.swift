import Fleece
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
        A document whose ID is in the database already becomes its new revision. Those without an ID get a new one. A file
        without _id is known again where one of its properties, or columns, has the IDs of the documents that are there.
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
        if let key = source.usedKey {
            options.idField = key
            options.takesNumbersAsIDs = true
            Console.note(
                "The property \(key) has the IDs, as in the documents that are there. --id-field NAME takes another one."
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
        case "array": return examined(ArraySource(reader: reader), format, idField)
        case nil where try reader.peekPastSpace() == UInt8(ascii: "["):
            return examined(ArraySource(reader: reader), format, idField)
        default: return examined(LineSource(reader: reader), format, idField)
        }
    }

    private static func examined(
        _ source: any DocumentSource, _ format: ImportFormat, _ idField: String
    ) -> any DocumentSource {
        guard idField == "_id", let key = format.knownKey else { return source }
        return ExaminedSource(source, knownKey: key)
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

// MARK: - ImportOptions

/// How a file is read.
struct ImportFormat {
    /// lines, array or csv; `nil` for what the first character tells.
    var name: String?
    /// csv: what stands between fields; `nil` for what the first record tells.
    var separator: UInt8?
    /// csv: the types of columns, by name.
    var types: NamedValues<ColumnType> = [:]
    /// The property, or column, with the IDs, in a file that has it and no `_id`.
    var knownKey: String?

    /// The format that a file's name tells.
    init(path: String) {
        if FileFormat(path: path).isCSV { name = "csv" }
    }
}

/// What an import makes of what it reads.
struct ImportOptions: Sendable {
    /// What becomes of the revisions that documents name.
    enum Revisions: String, CaseIterable {
        /// They are kept, with their histories.
        case keep
        /// They are dropped: each document is saved as a new revision.
        case new
    }

    /// The property that is a document's ID.
    var idField = "_id"
    /// Whether an `_id` may be a whole number.
    var takesNumbersAsIDs = false
    var revisions = Revisions.keep
    /// Whether to leave out what can't be stored, and go on.
    var goesOn = false
}

// MARK: - ImportJob

/// An import under way.
struct ImportJob {
    private typealias Parsed = (piece: ImportPiece, documents: PreparedDocuments)

    private var source: any DocumentSource
    private let parsing: WorkAhead<ImportPiece, Parsed>
    private let collection: DocumentCollection
    private let options: ImportOptions
    /// Whether all of the file was read, or as much as can be.
    private var isRead = false
    /// What is stored at present, the next of its entries, and the next of its documents.
    private var parsed: Parsed?
    private var place = 0
    private var document = 0
    /// Documents that were stored.
    private(set) var stored = 0
    /// Revisions that the collection had already.
    private(set) var known = 0
    /// Documents that were left out.
    private(set) var bad = 0
    private(set) var isDone = false

    init(_ source: any DocumentSource, collection: DocumentCollection, _ options: ImportOptions) {
        self.source = source
        self.collection = collection
        self.options = options
        parsing = WorkAhead { ($0, $0.documents(options)) }
    }

    /// How many bytes of the file belong to what was stored.
    var position: UInt64 { parsed?.piece.position ?? 0 }

    /// Stores up to `size` documents.
    mutating func fill(_ batch: WriteTransaction, _ size: Int) throws {
        var count = 0
        while count < size, let parsed = try next() {
            let entry = parsed.piece.entries[place]
            place += 1
            switch entry {
            case .unusable(let reason): try leaveOut(reason)
            case .document(let line, let column):
                defer { document += 1 }
                do throws(DatabaseError) {
                    if try batch.take(parsed.documents, document, in: collection, options.revisions) {
                        count += 1
                    } else {
                        known += 1
                    }
                } catch {
                    guard error.isAboutDocument else { throw error }
                    try leaveOut(ErrorMessage.text(of: error, line: line, column: column))
                }
            }
        }
        stored += count
    }

    private mutating func leaveOut(_ reason: String) throws {
        guard options.goesOn else { throw CommandFailure(reason) }
        bad += 1
        Console.complain(reason)
    }

    /// What has the next entry, at ``place``; `nil` after the last.
    private mutating func next() throws -> Parsed? {
        while true {
            if let parsed, place < parsed.piece.entries.count { return parsed }
            if let end = parsed?.piece.end {
                try end.get()
                isDone = true
                return nil
            }
            while !isRead, parsing.count < parsing.depth {
                let piece = ImportPiece(&source)
                isRead = piece.end != nil
                parsing.add(piece)
            }
            parsed = parsing.next()
            (place, document) = (0, 0)
        }
    }
}

extension WriteTransaction {
    /// Stores a document that was read; `false` where its revision is in the collection already.
    fileprivate func take(
        _ documents: PreparedDocuments, _ place: Int, in collection: DocumentCollection,
        _ revisions: ImportOptions.Revisions
    ) throws(DatabaseError) -> Bool {
        switch revisions {
        case .keep: return try restore(documents, place, in: collection)
        case .new:
            try save(documents, place, in: collection, asNewRevision: true)
            return true
        }
    }
}

extension DatabaseError {
    /// Whether the document is at fault, and not the database.
    fileprivate var isAboutDocument: Bool {
        [
            .invalidDocument, .invalidDocumentID, .invalidRevisionID, .corruptRevisionData, .conflict,
            .limitExceeded, .notFound, .missingStub,
        ].contains(code)
    }
}

// MARK: - ImportPiece

/// Some documents of an import that follow each other, and what among them can't become one.
struct ImportPiece: Sendable {
    /// What is in a place of the file.
    enum Entry: Sendable {
        /// The next of the documents, which begins at that line and column.
        case document(line: Int, column: Int)
        /// Why there is none.
        case unusable(String)
    }

    private var texts = DocumentTexts()
    private(set) var entries: [Entry] = []
    /// How many bytes of the file were read.
    private(set) var position: UInt64 = 0
    /// Set in the last one: that the file ended, or why it can't be read on.
    private(set) var end: Result<Void, any Error>?

    /// How many entries a piece has at most: those that are unusable have no text that would fill it.
    private static let mostEntries = 1 << 12

    /// Reads what comes next.
    init(_ source: inout any DocumentSource) {
        do {
            while !texts.isFull, entries.count < Self.mostEntries {
                guard let next = try source.next() else {
                    end = .success(())
                    break
                }
                switch next {
                case .document(let text, let line, let column):
                    texts.append(text)
                    entries.append(.document(line: line, column: column))
                case .unusable(let reason): entries.append(.unusable(reason))
                }
            }
        } catch {
            end = .failure(error)
        }
        position = source.reader.position
    }

    /// The documents, as `options` say.
    func documents(_ options: ImportOptions) -> PreparedDocuments {
        guard options.idField != "_id" else {
            return texts.prepared(takingNumbersAsIDs: options.takesNumbersAsIDs)
        }
        return texts.prepared { (document) throws(DatabaseError) in
            try Self.id(of: document, options.idField)
        }
    }

    private static func id(of document: IncomingDocument, _ field: String) throws(DatabaseError) -> String {
        let value = document.properties[field]
        guard let id = value.string ?? value.int.map(String.init) else {
            throw DatabaseError(
                .invalidDocumentID,
                "The property \"\(field)\", which should be the ID, is no string or whole number.")
        }
        return id
    }
}
