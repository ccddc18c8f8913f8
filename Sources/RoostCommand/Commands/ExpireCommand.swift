import Foundation
import Roost

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
