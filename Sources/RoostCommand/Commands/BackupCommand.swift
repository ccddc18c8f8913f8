import Foundation
import Roost

enum BackupCommand: Command {
    static let name = "backup"
    static let summary = "copies the database, while others may write it; later only what is new"
    static let parameters = [
        Parameter(label: "DB", help: "the database, or a directory of databases, as a server has one"),
        Parameter(label: "COPY", help: "the copy's directory; made, or brought up to date"),
    ]
    static let options = [
        Option("--every", "TIME", "do it again after so much time, until it is interrupted: 30m, 12h, 1d"),
        .json,
    ]
    static let notes = """
        The copy is a database of its own. A crash leaves the old copy or the new one. Of a directory each NAME.roost in it is copied to
        COPY/NAME.roost; with --every also those that are made later. A copy that fails is reported, and tried again the next time.
        """

    static func run(_ invocation: Invocation) throws {
        guard let text = invocation.string("--every") else {
            guard try copyAll(invocation) else { throw CommandFailure("Not everything was copied.") }
            return
        }
        let interval = try seconds(text)
        let ended = DispatchSemaphore(value: 0)
        let interruption = Waiting.Interruption { ended.signal() }
        withExtendedLifetime(interruption) {
            repeat {
                do {
                    _ = try copyAll(invocation)
                    try Console.flush()
                } catch {
                    Console.complain(error.sentence)
                }
            } while ended.wait(timeout: .now() + .seconds(interval)) == .timedOut
        }
    }

    /// Copies the database, or all databases of the directory.
    ///
    /// - Returns: Whether all were copied; of a directory, those that could not be are reported.
    private static func copyAll(_ invocation: Invocation) throws -> Bool {
        let (path, copy) = (invocation[0], invocation[1])
        guard let names = try databases(in: path) else {
            try self.copy(try invocation.openForReading(), to: copy, named: nil, invocation)
            return true
        }
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        var isComplete = true
        for name in names {
            do {
                let source = invocation.replacingFirst("\(path)/\(name)")
                try self.copy(try source.openForReading(), to: "\(copy)/\(name)", named: name, invocation)
            } catch {
                isComplete = false
                Console.complain("\(name): \(error.sentence)")
            }
        }
        return isComplete
    }

    /// The names of the databases in a directory; `nil` for one that is a database itself, and for what is not there.
    private static func databases(in path: String) throws -> [String]? {
        guard !FileManager.default.fileExists(atPath: path + "/data.roost"),
            let names = try? FileManager.default.contentsOfDirectory(atPath: path)
        else { return nil }
        let databases = names.filter { $0.hasSuffix(".roost") }
        return databases.isEmpty ? nil : databases.sorted()
    }

    private static func copy(
        _ database: Database, to copy: String, named name: String?, _ invocation: Invocation
    ) throws {
        let bar = ProgressBar("Copying")
        defer { bar.finish() }
        let report = try database.backup(to: copy) { progress in
            bar.show(progress.completed, of: progress.total)
            return true
        }
        bar.finish()
        guard invocation.has("--json") else {
            let what =
                report.copiedBytes == 0
                ? "There was nothing to copy since the last backup"
                : "\(Size.text(report.copiedBytes)) copied, \(report.isIncremental ? "what is new since the last backup" : "everything")"
            return Console.print(
                "\(name.map { "\($0): " } ?? "")\(what); the copy has \(Size.text(report.size)) and holds commit \(report.commit.number)."
            )
        }
        var object = JSONObject()
        if let name { object.add("database", name) }
        object.add("commit", report.commit.number)
        object.add("bytes", report.size)
        object.add("copiedBytes", report.copiedBytes)
        object.add("incremental", report.isIncremental)
        Console.print(object.text)
    }

    /// Seconds of `90s`, `30m`, `12h` or `1d`.
    private static func seconds(_ text: String) throws -> Int {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()), number > 0,
            number <= 366 * 86_400 / unit
        else { throw UsageError("--every takes a time such as 30m, 12h or 1d, of a year at most.") }
        return number * unit
    }
}
