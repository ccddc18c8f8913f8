import Foundation
import Roost
import RoostIndex
import RoostStorage

enum InfoCommand: Command {
    static let name = "info"
    static let summary = "prints what the database holds and how large it is"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [Option.json]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let collections = try database.scopes.flatMap { scope in try database.collections(scope: scope) }
        guard !invocation.has("--json") else { return try printJSON(database, collections) }
        let size = try database.statistics()
        Console.print("database     \(database.path)")
        Console.print("file         \(Size.text(size.fileBytes)), \(Size.text(size.liveBytes)) of it alive")
        Console.print("commits      \(size.commit), \(Count.text(size.generation, "compaction"))")
        Console.print("end          \(database.ending.text)")
        Console.print("public UUID  \(database.publicUUID)")
        for collection in collections {
            let snapshot = try collection.snapshot()
            Console.print(
                "collection   \(collection): \(Count.text(snapshot.count, "document")), \(try snapshot.deletedCount) deleted, "
                    + "last sequence \(snapshot.lastSequence)")
        }
        DerivedText.lines(try database.derivedStores()).forEach(Console.print)
    }

    private static func printJSON(_ database: Database, _ collections: [DocumentCollection]) throws {
        var object = JSONObject()
        object.add("path", database.path)
        object.add("publicUUID", database.publicUUID.uuidString)
        let size = try database.statistics()
        object.add("fileBytes", size.fileBytes)
        object.add("liveBytes", size.liveBytes)
        object.add("logBytes", size.logBytes)
        object.add("commit", size.commit)
        object.add("generation", size.generation)
        object.add("hasCleanEnd", database.ending.isClean)
        object.add("bytesBehindEnd", database.ending.bytesBehind)
        let parts = try collections.map { collection in
            let snapshot = try collection.snapshot()
            var part = JSONObject()
            part.add("name", collection.collectionName)
            part.add("scope", collection.scopeName)
            part.add("documents", snapshot.count)
            part.add("deleted", try snapshot.deletedCount)
            part.add("lastSequence", snapshot.lastSequence)
            return part.text
        }
        object.add("collections", raw: JSONObject.array(parts))
        object.add("derived", raw: DerivedJSON.text(try database.derivedStores()))
        Console.print(object.text)
    }
}

extension FileEnding {
    /// What it means, in a few words.
    fileprivate var text: String {
        guard !isClean else { return "clean" }
        let reasons = "it is open elsewhere, was not closed, is a backup, or has lost its end"
        return bytesBehind == 0
            ? "not clean: \(reasons)"
            : "not clean, with \(Size.text(bytesBehind)) behind the last whole commit: \(reasons)"
    }
}

// MARK: - CheckCommand

enum CheckCommand: Command {
    static let name = "check"
    static let summary = "verifies every byte of documents and blobs, and that they agree"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [
        Option("--quick", nil, "only what the newest commit leads to, not every older commit"), .json,
    ]
    static let notes = """
        Reads everything and writes nothing; others may go on using it. The exit status is 1 where damage was found: a
        copy made earlier helps then, or `roost salvage`. Indexes and views are checked, too; damage to them is reported, and
        is no damage of the database: they are rebuilt when they are read.
        """

    static func run(_ invocation: Invocation) throws {
        var checking = CheckOptions()
        checking.includesHistory = !invocation.has("--quick")
        let bar = ProgressBar("Checking")
        defer { bar.finish() }
        let progress: ProgressHandler = { progress in
            bar.show(progress.completed, of: progress.total)
            return true
        }
        let (report, derived) = try invocation.withKey { key in
            let report = try Database.check(invocation[0], key: key, checking, progress: progress)
            let stores = try StoreTarget.derivedStores(
                invocation[0], key: key, checking: checking, progress: progress)
            return (report, stores)
        }
        bar.finish()
        invocation.has("--json") ? printJSON(report, derived) : printText(report, derived)
        guard report.isClean else {
            throw CommandFailure(
                "\(invocation[0]) is damaged: \(Count.text(report.count, "finding")). Restore a backup, or let "
                    + "`roost salvage` make a new database of what can be read.")
        }
    }

    private static func printText(_ report: DatabaseCheckReport, _ derived: [DerivedStore]) {
        for finding in report.findings { Console.print("\(finding)") }
        if report.furtherFindings > 0 { Console.print("and \(report.furtherFindings) more of documents") }
        for finding in report.file.findings { Console.print("data.roost: \(finding)") }
        for damage in report.blobs.damaged { Console.print("\(damage.file): \(damage.reason)") }
        let file = report.file
        Console.print(
            [
                Count.text(report.documents, "document"), Count.text(report.blobs.count, "blob"),
                Count.text(file.commits, "commit"), Count.text(file.trees, "tree"),
                Count.text(file.nodes, "node"),
            ].joined(separator: ", ")
                + " and \(Count.text(file.values, "value")) checked; \(report.isClean ? "all is well" : "damage was found")."
        )
        DerivedText.lines(derived).forEach(Console.print)
    }

    private static func printJSON(_ report: DatabaseCheckReport, _ derived: [DerivedStore]) {
        var object = JSONObject()
        object.add("clean", report.isClean)
        object.add("sound", report.isSound)
        object.add("documents", report.documents)
        object.add("blobs", report.blobs.count)
        object.add("commits", report.file.commits)
        object.add("entries", report.file.entries)
        object.add("nodes", report.file.nodes)
        object.add("values", report.file.values)
        object.add("documentFindings", raw: JSONObject.array(report.findings.map(\.json)))
        let findings = report.file.findings.map { finding in
            var part = JSONObject()
            part.add("severity", "\(finding.severity)")
            part.add("offset", finding.offset)
            part.add("what", finding.what)
            if let tree = finding.tree { part.add("tree", tree) }
            return part.text
        }
        object.add("findings", raw: JSONObject.array(findings))
        let blobs = report.blobs.damaged.map { damage in
            var part = JSONObject()
            part.add("file", damage.file)
            part.add("reason", damage.reason)
            return part.text
        }
        object.add("damagedBlobs", raw: JSONObject.array(blobs))
        object.add("derived", raw: DerivedJSON.text(derived))
        Console.print(object.text)
    }
}

extension DatabaseCheckReport {
    /// Findings of every kind.
    fileprivate var count: Int {
        findings.count + furtherFindings + file.findings.count + file.furtherFindings + blobs.damaged.count
    }
}

extension DocumentFinding {
    /// The finding for programs.
    var json: String {
        var object = JSONObject()
        if let collection { object.add("collection", collection) }
        if let id { object.add("id", id) }
        if let blob { object.add("blob", blob) }
        object.add("what", what)
        return object.text
    }
}

// MARK: - CompactCommand

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

// MARK: - BackupCommand

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

// MARK: - SalvageCommand

enum SalvageCommand: Command {
    static let name = "salvage"
    static let summary = "rescues what can be read of a damaged database into a new one"
    static let parameters = [
        Parameter(label: "DB", help: "the damaged database; nothing is written to it"),
        Parameter(label: "NEW", help: "the new database's directory"),
    ]
    static let options = [Option.json]
    static let notes =
        """
        Of each document the newest revision that can be read is rescued; what is lost is listed by document. The exit
        status is 0 when the new database was made, whether or not something was lost.
        """

    static func run(_ invocation: Invocation) throws {
        let bar = ProgressBar("Salvaging")
        defer { bar.finish() }
        let report = try invocation.withKey { key in
            try Database.salvage(invocation[0], to: invocation[1], key: key) { progress in
                bar.show(progress.completed, of: progress.total)
                return true
            }
        }
        bar.finish()
        invocation.has("--json") ? printJSON(report) : printText(report)
    }

    private static func printText(_ report: DatabaseSalvageReport) {
        for finding in report.findings { Console.print("\(finding)") }
        if report.furtherFindings > 0 { Console.print("and \(report.furtherFindings) more") }
        let rescued =
            "\(Count.text(report.documents, "document")) of \(Count.text(report.collections, "collection")) rescued"
        if report.isComplete { return Console.print("\(rescued); nothing was lost.") }
        guard report.findings.isEmpty else {
            let count = report.findings.count + report.furtherFindings
            return Console.print("\(rescued); \(Count.text(count, "loss", "losses")), listed above.")
        }
        Console.print("\(rescued). The file is damaged, and no loss of a document is known.")
    }

    private static func printJSON(_ report: DatabaseSalvageReport) {
        var object = JSONObject()
        object.add("complete", report.isComplete)
        object.add("documents", report.documents)
        object.add("collections", report.collections)
        object.add("findings", raw: JSONObject.array(report.findings.map(\.json)))
        object.add("furtherFindings", report.furtherFindings)
        Console.print(object.text)
    }
}
