import Fleece
import Foundation
import Roost
import RoostIndex
import RoostQuery
import RoostText

/// `roost index create|list|drop DB`, or with the database first, as with every command.
enum IndexCommand: Command {
    static let name = "index"
    static let summary = "makes, lists and drops indexes for queries"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "create|list|drop", help: "what to do; may also stand before DB"),
        Parameter(label: "NAME", help: "create, drop: the index", isOptional: true),
    ]
    static let options = [
        .collection,
        Option("--on", "EXPRESSIONS", "create: what it is ordered by, such as 'stars DESC, title'"),
        Option(
            "--including", "EXPRESSIONS",
            "create: what its rows have besides, to be answered without documents"),
        Option("--summing", "EXPRESSIONS", "create: numbers to add up and compare within the index"),
        Option("--where", "CONDITION", "create: only documents that meet it"),
        Option("--unnest", "PATH", "create: a row for each element of that array"),
        Option(
            "--text", "EXPRESSIONS",
            "create: a full-text index of these, such as title,body: see roost search"),
        Option(
            "--trigrams", "EXPRESSIONS",
            "create: an index of the parts of these, for LIKE '%x%', CONTAINS() and regular expressions"),
        Option("--language", "CODE", "create --text: whose forms of a word are one, such as en"),
        Option("--keep-accents", nil, "create --text: accents tell words apart"),
        .json,
    ]
    static let notes = """
        The same index twice does nothing; another one of the same name takes its place. `roost query --explain` tells which
        index a query uses, and why not the others.
        """

    private enum Verb: String, CaseIterable { case create, list, drop }

    static func run(_ given: Invocation) throws {
        let (verb, invocation) = try given.verb(Verb.self)
        switch verb {
        case .create: try create(invocation)
        case .list: try list(invocation)
        case .drop:
            let database = try invocation.openForWriting()
            let collection = try invocation.collection(of: database)
            let name = try indexName(invocation)
            let names = try collection.valueIndexes().map(\.name) + collection.textIndexes().map(\.name)
            guard names.contains(where: { ByteKey($0) == ByteKey(name) }) else {
                let near = Suggestion.text(for: name, among: names)
                throw CommandFailure(
                    "There is no index \"\(name)\"\(near.isEmpty ? "." : near) Nothing was dropped.")
            }
            try collection.dropIndex(name)
            try collection.dropTextIndex(name)
            try database.close()
            Console.note("Dropped index \(name).")
        }
    }

    private static func indexName(_ invocation: Invocation) throws -> String {
        guard let name = invocation.optional(2) else { throw UsageError("NAME is missing.") }
        return name
    }

    private static func create(_ invocation: Invocation) throws {
        let name = try indexName(invocation)
        let kinds = ["--on", "--text", "--trigrams"].filter { invocation.string($0) != nil }
        guard kinds.count <= 1 else { throw UsageError("\(kinds[0]) excludes \(kinds[1]).") }
        guard !kinds.isEmpty || invocation.string("--unnest") != nil else {
            throw UsageError("--on, --unnest, --text or --trigrams says what the index is of.")
        }
        let kind = kinds.first ?? "--on"
        for option in foreignOptions(of: kind)
        where invocation.has(option) || invocation.string(option) != nil {
            throw UsageError("\(kind) excludes \(option).")
        }
        let language = try language(invocation)
        let database = try invocation.openForWriting()
        let collection = try invocation.collection(of: database)
        if let columns = invocation.string("--text") {
            try collection.createTextIndex(
                name, on: columns, language: language, ignoresAccents: !invocation.has("--keep-accents"))
        } else if let columns = invocation.string("--trigrams") {
            try collection.createTrigramIndex(name, on: columns)
        } else {
            try collection.createIndex(
                name, on: invocation.string("--on") ?? "", including: invocation.string("--including"),
                summing: invocation.string("--summing"), where: invocation.string("--where"),
                unnesting: invocation.string("--unnest"))
        }
        let columns = (kinds + ["--unnest"]).compactMap(invocation.string).first ?? ""
        let entries = try entries(of: name, in: collection)
        try database.close()
        Console.note(
            "Created index \(name) on \(columns)\(entries.map { ": " + Count.text($0, "entry", "entries") } ?? "")."
        )
    }

    /// The options that an index of a kind has no use for.
    private static func foreignOptions(of kind: String) -> [String] {
        let ofValues = ["--where", "--unnest", "--including", "--summing"]
        let ofTexts = ["--language", "--keep-accents"]
        return switch kind {
        case "--text": ofValues
        case "--trigrams": ofValues + ofTexts
        default: ofTexts
        }
    }

    /// How many rows the index has, where that is known.
    private static func entries(of name: String, in collection: DocumentCollection) throws -> UInt64? {
        let stores = try collection.database.derivedStores().filter { $0.collection == collection }
        return stores.flatMap(\.indexes).first { ["value/\(name)", "text/\(name)"].contains($0.name) }?.rows
    }

    /// The language that `--language` names.
    private static func language(_ invocation: Invocation) throws -> TextLanguage? {
        guard let code = invocation.string("--language") else { return nil }
        guard let language = TextLanguage(code) else {
            let known = TextLanguage.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("--language takes one of \(known), not \"\(code)\".")
        }
        return language
    }

    private static func list(_ invocation: Invocation) throws {
        let collection = try invocation.collection(of: try invocation.openForReading())
        let (valueIndexes, textIndexes) = (try collection.valueIndexes(), try collection.textIndexes())
        if valueIndexes.isEmpty, textIndexes.isEmpty, Console.isTerminal(STDOUT_FILENO) {
            Console.note("There are no indexes.")
        }
        for index in valueIndexes {
            if invocation.has("--json") {
                try printJSON(index)
                continue
            }
            var line = index.name
            if !index.columns.isEmpty { line += " on \(index.columns)" }
            if let array = index.unnesting { line += " unnesting \(array)" }
            if let including = index.including { line += " including \(including)" }
            if let summing = index.summing { line += " summing \(summing)" }
            if let condition = index.condition { line += " where \(condition)" }
            if let selector = index.selector { line += " selecting \(selector)" }
            Console.print(line)
        }
        for index in textIndexes {
            if invocation.has("--json") {
                try printJSON(index)
            } else {
                Console.print(
                    "\(index.name) of the \(index.kind) in \(index.columns)"
                        + (index.language.map { ", \($0)" } ?? "")
                        + (index.tokenizer.map { ", found by the app's \($0)" } ?? ""))
            }
        }
    }

    private static func printJSON(_ index: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        Console.print(String(decoding: try encoder.encode(index), as: UTF8.self))
    }
}

// MARK: - SearchCommand

/// `roost search DB NAME QUERY`
enum SearchCommand: Command {
    static let name = "search"
    static let summary = "finds documents by their words, the best ones first"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "NAME", help: "a full-text index: see roost index create --text"),
        Parameter(
            label: "QUERY", help: "words and what joins them: 'owl NEAR gable', '\"as well as\" OR wat*'"),
    ]
    static let options = [
        .collection,
        Option("--limit", "N", "at most N documents (default 20)"),
        Option("--offset", "N", "pass over the best N"),
        Option("--forgiving", nil, "any text will do, as people type it"),
        .json,
    ]
    static let notes = """
        A, B and C are found together by `A B C`, any of them by `A OR B OR C`, A without B by `A NOT B`; `"A B"` stands side by
        side, `A NEAR/3 B` at most three words apart; `wat*` begins so, `owl~` is almost so, `=running` is no other form, `title: A` is in
        that column, `^A` begins it, `A^2` counts twice.
        """

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let found = try invocation.collection(of: database).search(
            invocation[1], invocation[2], limit: try invocation.number("--limit") ?? 20,
            offset: try invocation.number("--offset") ?? 0, isForgiving: invocation.has("--forgiving"))
        for hit in found {
            if invocation.has("--json") { try printJSON(hit) } else { printText(hit) }
        }
        if !invocation.has("--json") {
            Console.print(
                found.count == found.total ? "\(found.total) found" : "\(found.count) of \(found.total) found"
            )
        }
    }

    private static func printText(_ hit: SearchHit) {
        Console.print("\(hit.id)  \((hit.score * 1_000).rounded() / 1_000)")
        let (opening, closing) = Console.hasColours ? ("\u{1B}[1;33m", "\u{1B}[0m") : ("[", "]")
        let text = hit.snippet.text
        func shown(_ range: Range<String.Index>) -> String {
            let line = text[range].map { $0.isNewline ? " " : String($0) }.joined()
            return Console.isTerminal(STDOUT_FILENO) ? ControlCharacters.escaped(in: line) : line
        }
        var line = "    "
        var place = text.startIndex
        for range in hit.snippet.ranges {
            line += shown(place..<range.lowerBound) + opening + shown(range) + closing
            place = range.upperBound
        }
        Console.printPainted(line + shown(place..<text.endIndex))
    }

    private struct Line: Encodable {
        let id: String
        let score: Double
        let column: String
        let snippet: String
        /// Where something was found: beginnings and ends in the snippet, in UTF-16 as in JavaScript.
        let ranges: [[Int]]
    }

    private static func printJSON(_ hit: SearchHit) throws {
        let snippet = hit.snippet
        let ranges = snippet.ranges.map { range in
            [range.lowerBound, range.upperBound].map { $0.utf16Offset(in: snippet.text) }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = Line(
            id: hit.id, score: hit.score, column: snippet.column, snippet: snippet.text, ranges: ranges)
        Console.print(String(decoding: try encoder.encode(line), as: UTF8.self))
    }
}

// MARK: - ViewCommand

enum ViewCommand: Command {
    static let name = "view"
    static let summary = "reads a view of a design document, or lists the views there are"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "DESIGN/VIEW", help: "the view; without it, all views are listed", isOptional: true),
    ]
    static let options = [
        .collection,
        Option("--from", "JSON", "rows from this key on"),
        Option("--to", "JSON", "rows up to this key"),
        Option("--exclusive", nil, "without the rows of the key --to"),
        Option("--key", "JSON", "rows of this key only"),
        Option("--descending", nil, "from the greatest key to the least"),
        Option("--skip", "N", "pass over so many rows or groups"),
        Option("--limit", "N", "at most so many rows or groups"),
        Option("--docs", nil, "with the documents"),
        Option("--conflicts", nil, "with --docs: and the revisions in conflict with them"),
        Option("--no-reduce", nil, "rows also where the view has a reduction"),
        Option("--group", nil, "reduce rows of equal keys"),
        Option("--group-level", "N", "reduce rows whose array keys begin with the same N elements"),
        Option("--kept", nil, "as the view was brought up last"),
    ]
    static let notes = """
        Prints a line of JSON for each row or group. The view is kept beside the documents, and brought up first;
        if another process writes the database, what it has kept is used.
        """

    static func run(_ invocation: Invocation) throws {
        let database = try open(invocation)
        let collection = try invocation.collection(of: database)
        guard let name = invocation.optional(1) else { return try list(collection) }
        let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw UsageError("A view is DESIGN/VIEW, not \"\(name)\".") }
        let view = try collection.view(parts[1], of: parts[0])
        let query = try query(invocation)
        if invocation.has("--no-reduce") || invocation.has("--docs") || !view.isReduced {
            for row in try view.rows(query) { print(row, withDocument: query.includesDocuments) }
        } else {
            for group in try view.groups(query) {
                var object = JSONObject()
                object.add("key", raw: group.key?.json() ?? "null")
                object.add("value", raw: group.value.json())
                Console.print(object.text)
            }
        }
    }

    /// Opens for writing, so that the view can be stored, unless another process writes.
    private static func open(_ invocation: Invocation) throws -> Database {
        do {
            return try invocation.openForWriting()
        } catch let error as DatabaseError where [.locked, .permissionDenied].contains(error.code) {
            return try invocation.openForReading()
        }
    }

    private static func list(_ collection: DocumentCollection) throws {
        for document in try collection.snapshot().documents(prefix: "_design/") {
            let name = document.id.dropFirst("_design/".count)
            for view in try collection.viewNames(of: document.id) {
                Console.print("\(name)/\(view)\t\(document["language"].string ?? "javascript")")
            }
        }
    }

    private static func query(_ invocation: Invocation) throws -> ViewQuery {
        var query = ViewQuery()
        query.start = try key("--from", invocation)
        query.end = try key("--to", invocation)
        query.keys = try key("--key", invocation).map { [$0] }
        query.includesEnd = !invocation.has("--exclusive")
        query.isDescending = invocation.has("--descending")
        query.skip = try invocation.number("--skip") ?? 0
        query.limit = try invocation.number("--limit") ?? .max
        query.includesDocuments = invocation.has("--docs")
        query.includesConflicts = invocation.has("--conflicts")
        if let level = try invocation.number("--group-level") { query.grouping = .level(level) }
        if invocation.has("--group") { query.grouping = .exact }
        if invocation.has("--kept") { query.update = .never }
        return query
    }

    private static func key(_ option: String, _ invocation: Invocation) throws -> FleeceValue? {
        guard let text = invocation.string(option) else { return nil }
        do {
            return try FleeceDocument(json: text).root
        } catch {
            throw UsageError("\(option) takes JSON, so a text needs quotes: '\"sea\"'. \(error)")
        }
    }

    private static func print(_ row: ViewRow<FleeceValue, FleeceValue>, withDocument: Bool) {
        var object = JSONObject()
        object.add("id", row.id)
        object.add("key", raw: row.key.json())
        object.add("value", raw: row.value.json())
        if withDocument { object.add("doc", raw: row.document?.json(with: .all) ?? "null") }
        if !row.conflicts.isEmpty {
            object.add("conflicts", raw: JSONObject.array(row.conflicts.map { JSONObject.quoted("\($0)") }))
        }
        Console.print(object.text)
    }
}
