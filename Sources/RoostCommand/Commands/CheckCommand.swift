import Roost
import RoostStorage

enum CheckCommand: Command {
    static let name = "check"
    static let summary = "verifies everything in the file"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [
        Option("--quick", nil, "only what the newest commit leads to, not every older commit"), .json,
    ]
    static let notes = """
        Reads the file and writes nothing; others may go on using it. The exit status is 1 where damage was found: a
        copy made earlier helps then, or `roost salvage`.
        """

    static func run(_ invocation: Invocation) throws {
        var checking = CheckOptions()
        checking.includesHistory = !invocation.has("--quick")
        let bar = ProgressBar("Checking")
        defer { bar.finish() }
        let report = try invocation.withKey { key in
            try Database.check(invocation[0], key: key, checking) { progress in
                bar.show(progress.completed, of: progress.total)
                return true
            }
        }
        bar.finish()
        invocation.has("--json") ? printJSON(report) : printText(report)
        guard report.isClean else {
            let count = report.findings.count + report.furtherFindings
            throw CommandFailure("\(invocation[0]) is damaged: \(Count.text(count, "finding")).")
        }
    }

    private static func printText(_ report: CheckReport) {
        for finding in report.findings { Console.print("\(finding)") }
        Console.print(
            [
                Count.text(report.commits, "commit"), Count.text(report.trees, "tree"),
                Count.text(report.entries, "entry", "entries"), Count.text(report.nodes, "node"),
            ].joined(separator: ", ")
                + " and \(Count.text(report.values, "value")) checked; \(report.isClean ? "all is well" : "damage was found")."
        )
    }

    private static func printJSON(_ report: CheckReport) {
        var object = JSONObject()
        object.add("clean", report.isClean)
        object.add("sound", report.isSound)
        object.add("commits", report.commits)
        object.add("entries", report.entries)
        object.add("nodes", report.nodes)
        object.add("values", report.values)
        let findings = report.findings.map { finding in
            var part = JSONObject()
            part.add("severity", "\(finding.severity)")
            part.add("offset", finding.offset)
            part.add("what", finding.what)
            if let tree = finding.tree { part.add("tree", tree) }
            return part.text
        }
        object.add("findings", raw: JSONObject.array(findings))
        Console.print(object.text)
    }
}
