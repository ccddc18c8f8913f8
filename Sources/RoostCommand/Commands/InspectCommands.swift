import Foundation
import Roost
import RoostIndex
import RoostStorage

enum InspectCommand: Command {
    static let name = "inspect"
    static let summary = "shows where the bytes of the file are: live and dead, by kind, tree and place"
    static let parameters = [Parameter(label: "DB", help: "the database, or the file of a store")]
    static let options = [
        Option(
            "--html", "FILE", "write a page with pictures, to be opened in a browser; it needs no network"),
        .json,
    ]
    static let notes = """
        Live is what the newest commit needs and a compaction keeps; dead is what only older commits lead to. Reads no
        values and verifies little: that is what `roost check` is for. Others may go on using the database.
        """

    static func run(_ invocation: Invocation) throws {
        let bar = ProgressBar("Inspecting")
        defer { bar.finish() }
        let (inspection, derived) = try invocation.withKey { key in
            let inspection = try StoreTarget.inspect(invocation[0], key: key) { progress in
                bar.show(progress.completed, of: progress.total)
                return true
            }
            return (inspection, try StoreTarget.derivedStores(invocation[0], key: key))
        }
        bar.finish()
        if let path = invocation.string("--html") {
            let page = InspectionPage(title: invocation[0], inspection, derived)
            try OutputFile.write(page.html, to: path)
            Console.note("\(path) is written: open it in a browser.")
        }
        if invocation.has("--json") {
            Console.print(InspectionJSON.text(of: inspection, path: invocation[0], derived))
        } else if invocation.string("--html") == nil {
            InspectionText(inspection).lines.forEach(Console.print)
            DerivedText.lines(derived).forEach(Console.print)
        }
    }
}

// MARK: - DumpCommand

enum DumpCommand: Command {
    static let name = "dump"
    static let summary = "shows the bytes of the file with the names of their fields"
    static let parameters = [Parameter(label: "DB", help: "the database, or the file of a store")]
    static let options = [
        Option("--offset", "N", "what the byte at that offset belongs to; 0x for hexadecimal"),
        Option("--commit", "N", "a commit: its record and a list of what it holds; last for the newest"),
        Option("--all", nil, "everything: with --commit of that commit, else of the whole file"),
        Option("--limit", "N", "at most N lines (default 1000); 0 for no limit"),
        .json,
    ]
    static let notes = """
        Without --offset, --commit or --all it shows the file header. The names are those of FileFormat.md; offsets with
        a + count within a payload after decryption and decompression. It shows damaged files as far as they go, and
        the exit status is then 0 all the same: use `roost check` to judge a file.
        """

    static func run(_ invocation: Invocation) throws {
        let printer = FieldPrinter(
            limit: try invocation.number("--limit") ?? 1000, asJSON: invocation.has("--json"))
        let offset = try invocation.string("--offset").map(parsedOffset)
        let number = try invocation.string("--commit").map(parsedNumber)
        if offset == nil, number == nil, !invocation.has("--all") {
            try FileDump.header(of: StoreTarget.file(invocation[0])).forEach(printer.print)
        } else {
            let dump = try invocation.withKey { try StoreTarget.dump(invocation[0], key: $0) }
            if let offset {
                printer.print(try dump.section(at: offset))
            } else if let number {
                try show(number, of: dump, invocation, printer)
            } else {
                try showAll(of: dump, invocation, printer)
            }
        }
        printer.finish()
    }

    private static func show(
        _ number: UInt64?, of dump: FileDump, _ invocation: Invocation, _ printer: FieldPrinter
    ) throws {
        guard let commit = try dump.commit(number: number) else {
            let name = number.map { "commit \($0)" } ?? "commit"
            throw CommandFailure(
                "\(invocation[0]) has no \(name) that can be read; `roost history` lists what it has.")
        }
        if invocation.has("--all") { return try show(commit, of: dump, printer) }
        printer.print(try dump.record(of: commit))
        printer.heading("Parts of commit \(commit.number)", commit.range)
        try dump.forEachPart(of: commit) { part in printer.print(part) }
    }

    private static func showAll(of dump: FileDump, _ invocation: Invocation, _ printer: FieldPrinter) throws {
        try FileDump.header(of: StoreTarget.file(invocation[0])).forEach(printer.print)
        var commits: [FileDump.CommitPart] = []
        try dump.forEachCommit { commit in
            commits.append(commit)
            return true
        }
        for commit in commits.reversed() where !printer.isFull { try show(commit, of: dump, printer) }
    }

    private static func show(
        _ commit: FileDump.CommitPart, of dump: FileDump, _ printer: FieldPrinter
    ) throws {
        try dump.forEachPart(of: commit) { part throws(StoreError) in
            printer.print(try dump.section(of: part))
            return !printer.isFull
        }
        printer.print(try dump.record(of: commit))
    }

    private static func parsedOffset(_ text: String) throws -> UInt64 {
        let digits = text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
        guard let digits else {
            throw UsageError("--offset takes a number, as in 8192 or 0x2000, not \"\(text)\".")
        }
        return digits
    }

    private static func parsedNumber(_ text: String) throws -> UInt64? {
        if text == "last" { return nil }
        guard let number = UInt64(text) else {
            throw UsageError("--commit takes a commit's number, or last, not \"\(text)\".")
        }
        return number
    }
}

// MARK: - StoreTarget

/// What is to be looked into: a database, or the file of a store that an application of its own made.
enum StoreTarget {
    private static func isDirectory(_ path: String) -> Bool {
        (try? URL(fileURLWithPath: path).resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true
    }

    /// The file with the data.
    static func file(_ path: String) -> String {
        isDirectory(path) ? Database.dataFile(of: path) : path
    }

    static func inspect(
        _ path: String, key: EncryptionKey?, progress: @escaping ProgressHandler
    ) throws -> StoreInspection {
        guard !isDirectory(path), FileManager.default.fileExists(atPath: path) else {
            return try Database.inspect(path, key: key, progress: progress)
        }
        return try Store.inspect(path, progress: progress)
    }

    /// What is derived from the documents of a database; nothing where that can't be opened, or is a store.
    static func derivedStores(
        _ path: String, key: EncryptionKey?, checking: CheckOptions? = nil, progress: ProgressHandler? = nil
    ) throws -> [DerivedStore] {
        guard isDirectory(path) else { return [] }
        do {
            var options = DatabaseOptions(isReadOnly: true, createsIfMissing: false)
            options.key = key
            let database = try Database.open(path, options: options)
            defer { try? database.close() }
            return try database.derivedStores(checking: checking, progress: progress)
        } catch let error as DatabaseError where [.damaged, .notADatabase].contains(error.code) {
            return []
        }
    }

    static func dump(_ path: String, key: EncryptionKey?) throws -> FileDump {
        guard !isDirectory(path), FileManager.default.fileExists(atPath: path) else {
            return try Database.dump(path, key: key)
        }
        return try FileDump(path)
    }
}

// MARK: - FieldPrinter

/// Prints sections of a file up to a number of lines, as text or as one JSON object each line.
final class FieldPrinter {
    private let limit: Int
    private let asJSON: Bool
    private var printed = 0

    /// - Parameter limit: 0 for no limit.
    init(limit: Int, asJSON: Bool) {
        self.limit = limit
        self.asJSON = asJSON
    }

    var isFull: Bool { limit > 0 && printed >= limit }

    private func line(_ text: @autoclosure () -> String) {
        guard !isFull else { return }
        printed += 1
        Console.print(text())
    }

    func heading(_ title: String, _ range: Range<UInt64>) {
        guard !asJSON else { return }
        if printed > 0 { line("") }
        let length = range.upperBound - range.lowerBound
        line(
            "\(title): \(length) bytes from offset \(range.lowerBound) (0x\(FileField.hexadecimal(range.lowerBound)))"
        )
    }

    func print(_ section: FileSection) {
        heading(section.title, section.range)
        for field in section.fields { line(asJSON ? json(field, in: section) : field.line) }
        for problem in section.problems { line(asJSON ? json(problem, in: section) : "! \(problem)") }
    }

    /// - Returns: whether there is room for more.
    func print(_ part: FileDump.Part) -> Bool {
        let length = part.range.upperBound - part.range.lowerBound
        if asJSON {
            var object = JSONObject()
            object.add("part", part.name)
            object.add("offset", part.range.lowerBound)
            object.add("length", length)
            line(object.text)
        } else {
            line("\(FileField.hexadecimal(part.range.lowerBound, width: 6))  \(part.name), \(length) bytes")
        }
        return !isFull
    }

    private func json(_ field: FileField, in section: FileSection) -> String {
        var object = JSONObject()
        object.add("section", section.title)
        object.add("offset", field.offset)
        object.add("length", field.length)
        object.add("decoded", field.isDecoded)
        object.add("bytes", field.bytes.map { FileField.hexadecimal(UInt64($0), width: 2) }.joined())
        object.add("meaning", field.meaning)
        if let note = field.note { object.add("note", note) }
        return object.text
    }

    private func json(_ problem: String, in section: FileSection) -> String {
        var object = JSONObject()
        object.add("section", section.title)
        object.add("problem", problem)
        return object.text
    }

    /// Says that there may be more, where the limit was reached.
    func finish() {
        guard isFull else { return }
        Console.note("Stopped after \(printed) lines; --limit 0 shows all.")
    }
}
