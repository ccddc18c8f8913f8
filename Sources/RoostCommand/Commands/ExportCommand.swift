import Fleece
import Foundation
import Roost

enum ExportCommand: Command {
    static let name = "export"
    static let summary = "writes all documents as JSON, one a line, or as CSV, in the order of their IDs"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "FILE", help: "where to write (standard output)", isOptional: true),
    ]
    static let options = [
        .collection,
        Option(
            "--with-revisions", nil, "all leaves, conflicts and deletions too, with _rev and their histories"),
        Option("--format", "FORMAT", "lines or csv (by the file's name)"),
        Option("--gzip", nil, "compressed, as for a FILE whose name ends with .gz"),
    ]
    static let notes = """
        `roost import` makes the same documents of it again: with --with-revisions the same revisions, without it new ones.
        Attachments are written with their content.

        In CSV a property is a column. Texts that could be taken for something else are in quotation marks, and null is written
        like a property that is missing. A column with objects or arrays in it, or with values of several kinds, is written as JSON,
        and standard error has the --types that `roost import` needs for it.
        """

    static func run(_ invocation: Invocation) throws {
        let file = invocation.optional(1).map { FileFormat(path: $0) }
        let hasRevisions = invocation.has("--with-revisions")
        let given = try invocation.string("--format").map { _ in
            try invocation.choice("--format", ["lines", "csv"]) == "csv"
        }
        let isCSV = given ?? file?.isCSV ?? false
        guard !(isCSV && hasRevisions) else { throw UsageError("--with-revisions is for --format lines.") }
        let isGzip = invocation.has("--gzip") || file?.isGzip == true
        guard !isGzip || invocation.optional(1) != nil || !Console.isTerminal(STDOUT_FILENO) else {
            throw UsageError("Give --gzip a FILE, or a pipe: a terminal shows nothing of it.")
        }
        let database = try invocation.openForReading()
        let snapshot = try invocation.collection(of: database).snapshot()
        try Console.redirecting(to: invocation.optional(1)) {
            let gzip = isGzip ? GzipOutput { try Console.write($0) } : nil
            let write: ([UInt8]) throws -> Void = { try gzip?.append($0) ?? Console.write($0) }
            if isCSV {
                try CSVExport(snapshot, separator: file?.hasTabs == true ? "\t" : ",").run(write)
            } else {
                try lines(snapshot, of: database, hasRevisions: hasRevisions, write)
            }
            try gzip?.finish()
        }
    }

    private static func lines(
        _ snapshot: CollectionSnapshot, of database: Database, hasRevisions: Bool,
        _ write: ([UInt8]) throws -> Void
    ) throws {
        let bar = ProgressBar("Exporting")
        defer { bar.finish() }
        let onTerminal = Console.isTerminal(STDOUT_FILENO)
        var selection = DocumentSelection()
        selection.includesDeleted = hasRevisions
        let metadata: DocumentMetadata =
            hasRevisions ? [.id, .revision, .deletion, .revisions] : [.id, .deletion]
        let cursor = try snapshot.cursor(selection)
        var count: UInt64 = 0
        while let winner = try cursor.next() {
            for document in hasRevisions ? try snapshot.openRevisions(of: winner.id) : [winner] {
                let json = try snapshot.jsonBytes(
                    inliningAttachmentsOf: document, of: database, with: metadata)
                let shown =
                    onTerminal
                    ? Array(ControlCharacters.escaped(in: String(decoding: json, as: UTF8.self)).utf8) : json
                try write(shown + [UInt8(ascii: "\n")])
            }
            count += 1
            if count % 1024 == 0 { bar.show(count, of: UInt64(snapshot.count)) }
        }
    }
}

// MARK: - CSVExport

/// Writes documents as CSV that `roost import` makes the same documents of.
struct CSVExport {
    /// What is in the values of a property.
    private struct Column {
        let name: String
        var kinds: Set<ColumnType> = []
        /// What an import would find.
        var finder = ColumnTypeFinder()

        /// How the values are written: as they are where all are of one kind, otherwise as JSON.
        var type: ColumnType { kinds.count == 1 ? kinds.first ?? .text : .json }

        /// Whether an import takes them for something else, unless it gets the type.
        var needsType: Bool { !kinds.isEmpty && (type == .json || finder.type != type) }
    }

    private let snapshot: CollectionSnapshot
    private let separator: String
    private static let idName = "_id"

    init(_ snapshot: CollectionSnapshot, separator: String) {
        self.snapshot = snapshot
        self.separator = separator
    }

    /// Reads the documents once for their columns, and once to write them.
    func run(_ write: ([UInt8]) throws -> Void) throws {
        let columns = try columns()
        let names = [Self.idName] + columns.map(\.name)
        try write(Array(line(names.map(CommaSeparated.field)).utf8))
        let bar = ProgressBar("Exporting")
        defer { bar.finish() }
        let onTerminal = Console.isTerminal(STDOUT_FILENO)
        let cursor = try snapshot.cursor()
        var count: UInt64 = 0
        while let document = try cursor.next() {
            let fields = columns.map { Self.field(document.properties[$0.name], as: $0.type) }
            let text = line([CommaSeparated.field(document.id)] + fields)
            try write(Array((onTerminal ? ControlCharacters.escaped(in: text) : text).utf8))
            count += 1
            if count % 1024 == 0 { bar.show(count, of: UInt64(snapshot.count)) }
        }
        let types = columns.filter(\.needsType).map { "\($0.name)=\($0.type.rawValue)" }
        if !types.isEmpty {
            Console.note("To import this again as it was, give --types \(types.joined(separator: ",")).")
        }
    }

    private func line(_ fields: [String]) -> String {
        CommaSeparated.row(fields, separator: separator) + CommaSeparated.lineEnd
    }

    private func columns() throws -> [Column] {
        var columns: [Column] = []
        var places: NamedValues<Int> = [:]
        var hasAttachments = false
        let cursor = try snapshot.cursor()
        while let document = try cursor.next() {
            hasAttachments = hasAttachments || document.hasAttachments
            for (name, value) in document.properties where !value.isNull {
                let place = places[name] ?? columns.count
                if place == columns.count {
                    places[name] = place
                    columns.append(Column(name: name))
                }
                let kind = Self.kind(of: value)
                columns[place].kinds.insert(kind)
                let field = Array(Self.field(value, as: kind).utf8)[...]
                columns[place].finder.add(field, isQuoted: field.first == UInt8(ascii: "\""))
            }
        }
        if hasAttachments {
            Console.complain("CSV has no place for attachments: their content is not written.")
        }
        return columns
    }

    private static func kind(of value: FleeceValue) -> ColumnType {
        if value.string != nil { return .text }
        if value.bool != nil { return .bool }
        return value.double != nil ? .number : .json
    }

    private static func field(_ value: FleeceValue, as type: ColumnType) -> String {
        guard value.exists, !value.isNull else { return "" }
        guard type == .json else { return CommaSeparated.field(value) }
        return CommaSeparated.quoted(value.json())
    }
}
