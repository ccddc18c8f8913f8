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
