import Fleece
import Foundation
import Roost
import RoostQuery

/// A query of the command line or the shell, and what is to be printed of it.
struct AskedQuery {
    let query: DatabaseQuery
    /// Whether it reads files, and no collections.
    let isOfFiles: Bool
    private let explains: ExplainedQuery.Explains
    private let remark: String?

    /// - Parameters:
    ///   - collection: what `_` means.
    ///   - isCancelled: whether the caller no longer wants the answer.
    init(
        _ statement: ExplainedQuery, of collection: DocumentCollection, _ parameters: [String: DocumentValue],
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws {
        let isDescription = statement.explains == .properties || statement.explains == .values
        let trimmed = statement.text.drop { $0.isWhitespace }
        // Where a collection is described a file stands alone.
        let isName = isDescription && trimmed.prefix(6).lowercased() != "select"
        let files = try FileTables(isName ? "FROM \(trimmed)" : statement.text)
        isOfFiles = files != nil
        let collection = files?.collection ?? collection
        let text = files.map { isName ? String($0.text.dropFirst(5)) : $0.text } ?? statement.text
        explains = statement.explains
        guard isDescription else {
            query = try collection.query(text, parameters: parameters)
            remark = nil
            return
        }
        let profile = try RowProfile(of: text, in: collection, parameters, isCancelled: isCancelled)
        query =
            try explains == .properties ? profile.description() : profile.summary(isCancelled: isCancelled)
        remark = profile.remark
    }

    /// Prints the rows, or the plan or description in their place.
    func print(as mode: OutputMode, isCancelled: @escaping @Sendable () -> Bool = { false }) throws {
        switch explains {
        case .no, .properties, .values: try RowPrinter(mode: mode).print(query, isCancelled: isCancelled)
        case .plan: Console.print("\(try query.explain())")
        case .analysis: Console.print("\(try query.explainAnalyze(isCancelled: isCancelled))")
        }
        if let remark { Console.note(remark) }
    }
}

// MARK: - ExplainedQuery

/// A query, and what is printed of it in place of its rows.
struct ExplainedQuery: Equatable {
    enum Explains {
        case no, plan, analysis
        /// What properties the rows have.
        case properties
        /// What values these have.
        case values
    }

    /// The query alone, or the name of the collection that is described. Spaces stand for EXPLAIN and so on, so that errors name places in
    /// what was typed.
    private(set) var text: String
    private(set) var explains = Explains.no

    /// The words that a statement may begin with that goes on until a semicolon.
    static let starts = ["select", "explain", "describe", "desc", "summarize"]

    init(_ text: String) {
        self.text = text
        if blank("explain") {
            explains = blank("analyze") ? .analysis : .plan
        } else if blank("describe") || blank("desc") {
            explains = .properties
        } else if blank("summarize") {
            explains = .values
        }
    }

    /// Puts spaces in the place of the keyword that the text begins with, if it is that one.
    private mutating func blank(_ keyword: String) -> Bool {
        let space = text.prefix { $0.isWhitespace }
        let word = text[space.endIndex...].prefix { $0.isLetter }
        guard word.lowercased() == keyword else { return false }
        text = space + String(repeating: " ", count: word.count) + text[word.endIndex...]
        return true
    }
}

// MARK: - FileTables

/// Queries of files: `SELECT … FROM 'cities.csv'`. The files are read into collections of a database in memory, which goes with the value.
struct FileTables {
    /// The query, with the names of collections in the place of files.
    let text: String
    let collection: DocumentCollection
    private static let batch = 10_000

    /// `nil` for a query that names no file.
    init?(_ query: String) throws {
        let sources = QuerySyntax.textSources(of: query)
        guard !sources.isEmpty else { return nil }
        let database = try Database.inMemory()
        var names: [(path: String, name: String)] = []
        var text = Array(query.utf8)
        for source in sources.reversed() {
            let known = names.first { $0.path == source.text }?.name
            let name = try known ?? Self.read(source.text, into: database, except: names.map(\.name))
            if known == nil { names.append((source.text, name)) }
            // As long as before, so that errors name places in what was typed.
            let space = String(repeating: " ", count: max(0, source.range.count - name.utf8.count - 2))
            text.replaceSubrange(source.range, with: Array("`\(name)`\(space)".utf8))
        }
        self.text = String(decoding: text, as: UTF8.self)
        collection = try database.defaultCollection
    }

    /// Reads a file into a collection that is called like it; answers the name.
    private static func read(_ path: String, into database: Database, except taken: [String]) throws -> String
    {
        let path = NSString(string: path).expandingTildeInPath
        let file = path.split(separator: "/").last.map(String.init) ?? path
        let base = String(file.split(separator: ".").first ?? "file").unicodeScalars.map {
            $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
                ? Character($0) : "_"
        }
        var name = String(base)
        if name.first == "_" || name.isEmpty { name = "t" + name }
        var number = 2
        while taken.contains(name) {
            name = String(base) + "\(number)"
            number += 1
        }
        let collection = try database.collection(name)
        var options = ImportOptions()
        options.revisions = .new
        let source = try ImportCommand.source(path, ImportFormat(path: path), idField: options.idField)
        var job = ImportJob(source, collection: collection, options)
        while !job.isDone { try database.write { batch in try job.fill(batch, Self.batch) } }
        return name
    }
}

// MARK: - RowProfile

/// What DESCRIBE and SUMMARIZE tell of the rows of a collection or a query, as a table that can be queried.
struct RowProfile {
    /// A property, or one within it.
    private struct Column {
        let path: [String]
        var count = 0
        var kinds: [String: Int] = [:]
        var example: String?

        /// The path as queries have it.
        var text: String { path.map(Self.name).joined(separator: ".") }

        private static func name(_ name: String) -> String {
            let isPlain =
                !name.isEmpty && !(name.utf8.first.map { $0 &- 48 < 10 } ?? true)
                && name.utf8.allSatisfy {
                    $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A || $0 &- 48 < 10 || $0 == 0x5F || $0 >= 0x80
                }
                && !QuerySyntax.keywords.contains(name.uppercased())
            return isPlain ? name : "`\(name.replacing("`", with: "``"))`"
        }
    }

    private let database: Database
    private let collection: DocumentCollection
    private let parameters: [String: DocumentValue]
    /// What yields the rows, as FROM has it.
    private let source: String
    private var columns: [Column] = []
    private var places: [[ByteKey]: Int] = [:]
    private var rows = 0
    private var hasMore = false

    /// Properties nested deeper are not distinguished.
    private static let deepest = 3
    private static let mostColumns = 1000
    /// So many columns are summed up in one query.
    private static let columnsPerQuery = 8

    /// - Parameters:
    ///   - source: the name of a collection, or a query.
    init(
        of source: String, in collection: DocumentCollection, _ parameters: [String: DocumentValue],
        isCancelled: @escaping @Sendable () -> Bool
    ) throws {
        self.collection = collection
        database = try Database.inMemory()
        let isQuery = source.drop { $0.isWhitespace }.prefix(6).lowercased() == "select"
        self.source = isQuery ? "(\(source)) AS d" : "\(source) AS d"
        self.parameters = parameters
        let query = try collection.query("SELECT d FROM \(self.source)", parameters: parameters)
        let cursor = try query.cursor(isCancelled: isCancelled)
        while !isCancelled(), let row = try cursor.next() {
            rows += 1
            add(row[0], [])
        }
    }

    private mutating func add(_ value: FleeceValue, _ path: [String]) {
        if !path.isEmpty { note(value, path) }
        guard path.count < Self.deepest, value.decimal == nil, let members = value.dictionary else { return }
        for (name, value) in members { add(value, path + [name]) }
    }

    private mutating func note(_ value: FleeceValue, _ path: [String]) {
        let key = path.map { ByteKey($0) }
        if places[key] == nil {
            guard columns.count < Self.mostColumns else { return hasMore = true }
            places[key] = columns.count
            columns.append(Column(path: path))
        }
        guard let place = places[key], !value.isNull else { return }
        columns[place].count += 1
        columns[place].kinds[Self.kind(of: value), default: 0] += 1
        if columns[place].example == nil, value.dictionary == nil {
            columns[place].example = String((value.string ?? value.json()).prefix(40))
        }
    }

    private static func kind(of value: FleeceValue) -> String {
        if value.string != nil { return "string" }
        if value.bool != nil { return "boolean" }
        if value.kind == .integer { return "integer" }
        if value.decimal != nil { return "number" }
        return switch value.kind {
        case .double: "number"
        case .array: "array"
        case .dictionary: "object"
        default: "binary"
        }
    }

    /// The note that there are more properties than are listed; `nil` where there are none.
    var remark: String? {
        hasMore ? "There are more than \(Self.mostColumns) properties: these are the first." : nil
    }

    // MARK: Tables

    /// The properties with their kinds and in how many rows they are.
    func description() throws -> DatabaseQuery {
        try table("SELECT `column`, type, `rows`, `missing %`, example FROM _ ORDER BY n") { column in
            var row = basics(column)
            row["example"] = column.example.map { .string($0) } ?? .null
            return row
        }
    }

    /// The properties with the least and the greatest value, the average and so on.
    func summary(isCancelled: @escaping @Sendable () -> Bool) throws -> DatabaseQuery {
        var figures: [[String: DocumentValue]] = []
        for start in stride(from: 0, to: columns.count, by: Self.columnsPerQuery) {
            figures += try summaries(
                of: columns[start..<min(start + Self.columnsPerQuery, columns.count)], isCancelled)
        }
        var rest = figures[...]
        return try table(
            "SELECT `column`, type, `rows`, `missing %`, `distinct`, `min`, `max`, `avg`, std, q25, q50, q75 FROM _ ORDER BY n"
        ) { column in
            basics(column).merging(rest.popFirst() ?? [:]) { $1 }
        }
    }

    private static let measures: [(name: String, of: @Sendable (String) -> String)] = [
        ("distinct", { "count(DISTINCT \($0))" }), ("min", { "min(\($0))" }), ("max", { "max(\($0))" }),
        ("avg", { "round(avg(\($0)), 4)" }), ("std", { "round(stddev(\($0)), 4)" }),
        ("q25", { "percentile_cont(\($0), 0.25)" }), ("q50", { "median(\($0))" }),
        ("q75", { "percentile_cont(\($0), 0.75)" }),
    ]

    private func summaries(
        of columns: ArraySlice<Column>, _ isCancelled: @escaping @Sendable () -> Bool
    ) throws -> [[String: DocumentValue]] {
        var expressions: [String] = []
        for column in columns {
            for measure in Self.measures {
                expressions.append("\(measure.of("d.\(column.text)")) AS c\(expressions.count)")
            }
        }
        let query = try collection.query(
            "SELECT \(expressions.joined(separator: ", ")) FROM \(source)", parameters: parameters)
        guard let row = try query.cursor(isCancelled: isCancelled).next() else { return [] }
        return try columns.indices.map { index in
            let first = (index - columns.startIndex) * Self.measures.count
            var figures: [String: DocumentValue] = [:]
            for (place, measure) in Self.measures.enumerated() {
                figures[measure.name] = try DocumentValue(json: row[first + place].json())
            }
            return figures
        }
    }

    private func basics(_ column: Column) -> [String: DocumentValue] {
        let kinds = column.kinds.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        let missing = rows == 0 ? 0 : Double(rows - column.count) * 100 / Double(rows)
        return [
            "column": .string(column.text), "type": .string(kinds.joined(separator: ", ")),
            "rows": .integer(Int64(column.count)), "missing %": .double((missing * 100).rounded() / 100),
        ]
    }

    /// A query for rows that `row` makes of the columns.
    private func table(_ text: String, _ row: (Column) -> [String: DocumentValue]) throws -> DatabaseQuery {
        let collection = try database.defaultCollection
        try database.write { batch in
            for (number, column) in columns.enumerated() {
                var row = row(column)
                row["n"] = .integer(Int64(number))
                try batch.save(
                    json: DocumentValue.dictionary(NamedValues(row)).json(), id: "\(number)", in: collection)
            }
        }
        return try collection.query(text)
    }
}
