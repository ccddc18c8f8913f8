import Foundation
import Roost
import RoostQuery

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
        Option("--where", "CONDITION", "create: only documents that meet it"),
        Option("--unnest", "PATH", "create: a row for each element of that array"),
        .json,
    ]
    static let notes = """
        The same index twice does nothing; another one of the same name takes its place. `roost query --explain` tells which
        index a query uses, and why not the others.
        """

    private static let verbs = ["create", "list", "drop"]

    static func run(_ given: Invocation) throws {
        let invocation = verbs.contains(given[0]) ? given.swappingFirstTwo() : given
        switch invocation[1] {
        case "create": try create(invocation)
        case "list": try list(invocation)
        case "drop":
            let database = try invocation.openForWriting()
            try invocation.collection(of: database).dropIndex(try indexName(invocation))
            try database.close()
        default: throw UsageError("\"\(invocation[1])\" is none of create, list and drop.")
        }
    }

    private static func indexName(_ invocation: Invocation) throws -> String {
        guard let name = invocation.optional(2) else { throw UsageError("NAME is missing.") }
        return name
    }

    private static func create(_ invocation: Invocation) throws {
        let name = try indexName(invocation)
        guard invocation.string("--on") != nil || invocation.string("--unnest") != nil else {
            throw UsageError("--on or --unnest says what the index is of.")
        }
        let database = try invocation.openForWriting()
        try invocation.collection(of: database).createIndex(
            name, on: invocation.string("--on") ?? "", where: invocation.string("--where"),
            unnesting: invocation.string("--unnest"))
        try database.close()
    }

    private static func list(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        for index in try invocation.collection(of: database).valueIndexes() {
            if invocation.has("--json") {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                Console.print(String(decoding: try encoder.encode(index), as: UTF8.self))
                continue
            }
            var line = index.name
            if !index.columns.isEmpty { line += " on \(index.columns)" }
            if let array = index.unnesting { line += " unnesting \(array)" }
            if let condition = index.condition { line += " where \(condition)" }
            Console.print(line)
        }
    }
}
