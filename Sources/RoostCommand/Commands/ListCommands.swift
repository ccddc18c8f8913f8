import Foundation
import Roost
import RoostStorage

enum ListCommand: Command {
    static let name = "ls"
    static let summary = "lists documents in the order of their IDs"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [
        .collection,
        Option("--prefix", "TEXT", "only IDs that begin with TEXT"),
        Option("--from", "ID", "start here"),
        Option("--to", "ID", "end here, included"),
        Option("--limit", "N", "at most so many"),
        Option("--descending", nil, "the other way round"),
        Option("--long", nil, "with revision and sequence"),
        .json,
    ]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let snapshot = try invocation.collection(of: database).snapshot()
        var selection = DocumentSelection()
        selection.prefix = invocation.string("--prefix")
        selection.from = invocation.string("--from")
        selection.to = invocation.string("--to")
        selection.limit = try invocation.number("--limit") ?? .max
        selection.isDescending = invocation.has("--descending")
        let cursor = try snapshot.cursor(selection)
        while let entry = try cursor.nextChange() {
            if invocation.has("--json") {
                var object = JSONObject()
                object.add("id", entry.id)
                object.add("rev", entry.revision.description)
                object.add("sequence", entry.sequence)
                Console.print(object.text)
            } else if invocation.has("--long") {
                Console.print("\(entry.id)\t\(entry.revision)\t\(entry.sequence)")
            } else {
                Console.print(entry.id)
            }
        }
    }
}

// MARK: - CountCommand

enum CountCommand: Command {
    static let name = "count"
    static let summary = "prints how many documents there are"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [Option.collection]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        Console.print("\(try invocation.collection(of: database).count)")
    }
}

// MARK: - ChangesCommand

enum ChangesCommand: Command {
    static let name = "changes"
    static let summary = "lists what changed, in the order of changes"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [
        .collection,
        Option("--since", "N", "only changes after this sequence (0)"),
        Option("--limit", "N", "at most so many"),
        Option("--descending", nil, "newest first"),
        Option("--follow", nil, "go on with what others change, until stopped"),
        Option("--include-docs", nil, "with the documents, as JSON"),
        .json,
    ]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let collection = try invocation.collection(of: database)
        var since = UInt64(try invocation.number("--since") ?? 0)
        var left = try invocation.number("--limit") ?? .max
        let isDescending = invocation.has("--descending")
        guard !(isDescending && invocation.has("--follow")) else {
            throw UsageError("--follow goes forwards only, so it excludes --descending.")
        }
        while true {
            let cursor = try collection.snapshot().changeCursor(since: since, isDescending: isDescending)
            while left > 0, let change = try cursor.next() {
                left -= 1
                since = max(since, change.sequence)
                let document = invocation.has("--include-docs") ? try cursor.document(of: change) : nil
                Console.print(line(change, document, asJSON: invocation.has("--json") || document != nil))
            }
            guard invocation.has("--follow"), left > 0 else { return }
            try Console.flush()
            repeat { usleep(pollingInterval) } while try !database.refresh()
        }
    }

    /// How long to wait between looks at the file, in microseconds.
    private static let pollingInterval: UInt32 = 100_000

    private static func line(_ change: DocumentChange, _ document: Document?, asJSON: Bool) -> String {
        guard asJSON else {
            let deleted = change.isDeleted ? "\tdeleted" : ""
            return "\(change.sequence)\t\(change.id)\t\(change.revision)\(deleted)"
        }
        var object = JSONObject()
        object.add("seq", change.sequence)
        object.add("id", change.id)
        object.add("rev", change.revision.description)
        if change.isDeleted { object.add("deleted", true) }
        if let document { object.add("doc", raw: document.json(with: .all)) }
        return object.text
    }
}

// MARK: - HistoryCommand

enum HistoryCommand: Command {
    static let name = "history"
    static let summary = "lists the commits back to the last compaction, newest first"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [Option("--limit", "N", "at most so many"), .json]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let cursor = database.history.makeCursor()
        var left = try invocation.number("--limit") ?? .max
        let format = ISO8601DateFormatter()
        while left > 0, let commit = try cursor.next() {
            left -= 1
            let date = format.string(from: Date(timeIntervalSince1970: commit.time))
            guard invocation.has("--json") else {
                Console.print("\(commit.number)\t\(date)\t\(commit.kind)\t\(Size.text(commit.size))")
                continue
            }
            var object = JSONObject()
            object.add("number", commit.number)
            object.add("date", date)
            object.add("kind", "\(commit.kind)")
            object.add("bytes", commit.size)
            Console.print(object.text)
        }
    }
}

// MARK: - ExpireCommand

enum ExpireCommand: Command {
    static let name = "expire"
    static let summary = "sets when a document is to be purged, or lists when documents are"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "ID", help: "the document's ID; without one, all that expire", isOptional: true),
        Parameter(
            label: "WHEN", help: "never, 2026-12-31T23:59:59Z, or from now on: 90s, 5m, 12h, 30d",
            isOptional: true),
    ]
    static let options = [Option.collection, .json]
    static let notes =
        "Documents are purged when their time comes and the database is open for writing, or is opened."

    static func run(_ invocation: Invocation) throws {
        guard let id = invocation.optional(1) else { return try list(invocation) }
        guard let text = invocation.optional(2) else { return try show(id, invocation) }
        let date = text == "never" ? nil : try date(text)
        let database = try invocation.openForWriting()
        let isThere = try invocation.collection(of: database).setExpiration(date, of: id)
        try database.close()
        guard isThere else { throw CommandFailure("There is no document \"\(id)\".") }
        print(id, date, invocation)
    }

    private static func list(_ invocation: Invocation) throws {
        let collection = try invocation.collection(of: invocation.openForReading())
        for (id, date) in try collection.expirations() { print(id, date, invocation) }
    }

    private static func show(_ id: String, _ invocation: Invocation) throws {
        let snapshot = try invocation.collection(of: invocation.openForReading()).snapshot()
        guard try snapshot.document(id, includingDeleted: true) != nil else {
            throw CommandFailure("There is no document \"\(id)\".")
        }
        print(id, try snapshot.expiration(of: id), invocation)
    }

    private static func print(_ id: String, _ date: Date?, _ invocation: Invocation) {
        let time = date.map { $0.formatted(.iso8601) }
        guard invocation.has("--json") else { return Console.print("\(id)\t\(time ?? "never")") }
        var object = JSONObject()
        object.add("id", id)
        if let time { object.add("expires", time) } else { object.add("expires", raw: "null") }
        Console.print(object.text)
    }

    /// A point in time in ISO 8601, or a span from now on.
    static func date(_ text: String, now: Date = .now) throws -> Date {
        if let date = DocumentValue.string(text).date { return date }
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = UInt32(text.dropLast()) else {
            throw UsageError(
                "\"\(text)\" is neither \"never\", nor a time such as 2026-12-31T23:59:59Z, nor a span such as 5m."
            )
        }
        return now + Double(count) * unit
    }
}
