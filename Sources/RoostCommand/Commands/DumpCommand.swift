import Roost
import RoostStorage

enum DumpCommand: Command {
    static let name = "dump"
    static let summary = "shows the bytes of the file with the names of their fields"
    static let parameters = [Parameter(label: "DB", help: "the database, or the file of a store")]
    static let options = [
        Option("--offset", "N", "what the byte at that offset belongs to; 0x for hexadecimal"),
        Option("--commit", "N", "a commit: its record and a list of what it holds; last for the newest"),
        Option("--all", nil, "everything: with --commit of that commit, else of the whole file"),
        Option("--limit", "N", "at most so many lines; 1000 unless told, 0 for no limit"),
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
