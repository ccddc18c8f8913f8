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
