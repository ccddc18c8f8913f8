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
