import Roost

enum BackupCommand: Command {
    static let name = "backup"
    static let summary = "copies the database, while others may write it; later only what is new"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "COPY", help: "the copy's directory; made, or brought up to date"),
    ]
    static let options = [Option.json]
    static let notes = "The copy is a database of its own. A crash leaves the old copy or the new one."

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let bar = ProgressBar("Copying")
        defer { bar.finish() }
        let report = try database.backup(to: invocation[1]) { progress in
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
                "\(what); the copy has \(Size.text(report.size)) and holds commit \(report.commit.number).")
        }
        var object = JSONObject()
        object.add("commit", report.commit.number)
        object.add("bytes", report.size)
        object.add("copiedBytes", report.copiedBytes)
        object.add("incremental", report.isIncremental)
        Console.print(object.text)
    }
}
