import Roost
import RoostIndex
import RoostStorage

enum CheckCommand: Command {
    static let name = "check"
    static let summary = "verifies every byte of documents and blobs, and that they agree"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [
        Option("--quick", nil, "only what the newest commit leads to, not every older commit"), .json,
    ]
    static let notes = """
        Reads everything and writes nothing; others may go on using it. The exit status is 1 where damage was found: a
        copy made earlier helps then, or `roost salvage`. Indexes and views are looked at too; damage to them is told, and
        is none of the database: they are made anew when they are read.
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
