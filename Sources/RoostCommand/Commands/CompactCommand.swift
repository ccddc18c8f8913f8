import Foundation
import Roost
import RoostStorage

enum CompactCommand: Command {
    static let name = "compact"
    static let summary = "gives back the space of what is not alive any more"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [
        Option("--compression", "0-9", "compress with zlib at this level; 0 for none"),
        Option("--throttle", "MB/S", "write no faster than this"),
        .json,
    ]
    static let notes =
        "Older commits are gone afterwards, and blobs that no document names. A crash leaves the old file or the new one, each complete."

    static func run(_ invocation: Invocation) throws {
        var options = CompactionOptions()
        if let level = try invocation.number("--compression") {
            guard level <= 9 else { throw UsageError("--compression takes a level from 0 to 9.") }
            options.compression = Int32(level)
        }
        options.bytesPerSecond = try invocation.number("--throttle", minimum: 1).map { $0 << 20 }
        let database = try invocation.openForWriting()
        let bar = ProgressBar("Compacting")
        defer { bar.finish() }
        let result = try database.compact(options) { progress in
            bar.show(progress.completed, of: progress.total)
            return true
        }
        try database.close()
        bar.finish()
        guard invocation.has("--json") else {
            let times = String(format: "%.2f s, commits waited %.1f ms", result.duration, result.pause * 1000)
            return Console.print(
                "\(Size.text(result.bytesBefore)) became \(Size.text(result.bytesAfter)) "
                    + "(\(Size.text(result.bytesWritten)) written, \(times)).")
        }
        var object = JSONObject()
        object.add("bytesBefore", result.bytesBefore)
        object.add("bytesAfter", result.bytesAfter)
        object.add("bytesLive", result.bytesLive)
        object.add("bytesWritten", result.bytesWritten)
        object.add("seconds", result.duration)
        object.add("pauseSeconds", result.pause)
        Console.print(object.text)
    }
}
