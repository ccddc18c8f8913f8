import Roost
import RoostStorage

enum SalvageCommand: Command {
    static let name = "salvage"
    static let summary = "rescues what can be read of a damaged database into a new one"
    static let parameters = [
        Parameter(label: "DB", help: "the damaged database; nothing is written to it"),
        Parameter(label: "NEW", help: "the new database's directory"),
    ]
    static let options = [Option.json]
    static let notes =
        "The exit status is 0 when the new database was made, whether or not something was lost."

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

    private static func printText(_ report: SalvageReport) {
        Console.print(
            "\(Count.text(report.entries, "entry", "entries")) of \(Count.text(report.trees, "tree")) rescued."
        )
        guard !report.isComplete else { return Console.print("Nothing was lost.") }
        for loss in report.losses {
            let entries = loss.entries > 0 ? ", up to \(Count.text(loss.entries, "entry", "entries"))" : ""
            Console.print("lost or older: a part of tree \"\(loss.tree)\" at offset \(loss.offset)\(entries)")
        }
        if report.furtherLosses > 0 { Console.print("and \(report.furtherLosses) more") }
        if report.lostValues > 0 {
            Console.print("\(Count.text(report.lostValues, "value")) could not be read.")
        }
    }

    private static func printJSON(_ report: SalvageReport) {
        var object = JSONObject()
        object.add("complete", report.isComplete)
        object.add("entries", report.entries)
        object.add("trees", report.trees)
        object.add("lostValues", report.lostValues)
        object.add("concernedEntries", report.concernedEntries)
        object.add("losses", report.losses.count + report.furtherLosses)
        Console.print(object.text)
    }
}
