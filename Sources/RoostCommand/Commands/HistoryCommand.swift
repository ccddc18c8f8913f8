import Foundation
import Roost
import RoostStorage

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
