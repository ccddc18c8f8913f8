import ChildProcesses
import Foundation
import Roost
import RoostStorage
import Testing

@testable import RoostCommand

/// `roost inspect` without options says in words what the page shows.
@Suite struct InspectionTextTests {
    @Test func textNamesEveryKindAndTree() throws {
        let path = NSTemporaryDirectory() + "roost-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let database = try Database.open(path)
        let birds = try database.collection("birds")
        try database.write { batch in
            for number in 0..<300 { try batch.save(json: #"{"n": \#(number)}"#, id: "\(number)", in: birds) }
        }
        try database.compact()
        let inspection = try database.inspect()
        let lines = InspectionText(inspection).lines

        #expect(lines[0].hasPrefix("file "))
        #expect(lines[1].hasSuffix("not encrypted, 1 compaction"))
        for content in FileContent.allCases {
            let isListed = lines.contains { $0.hasPrefix(content.name + " ") }
            #expect(isListed == (inspection[content].bytes > 0), "\(content.name)")
        }
        for tree in inspection.trees {
            let entries = Count.text(tree.entries, "entry", "entries")
            let heading = "tree \"\(tree.name)\": \(entries), depth \(tree.levels.count), "
            #expect(lines.contains { $0.hasPrefix(heading) }, "\(tree.name)")
        }
        #expect(inspection.trees.contains { $0.entries == 300 })
        #expect(lines.allSatisfy { $0.last != " " })
    }
}

// MARK: - InspectionPageTests

/// The page of `roost inspect --html` is complete in itself, of bounded size, and draws in a browser what it holds.
@Suite struct InspectionPageTests {
    private let directory = NSTemporaryDirectory() + "roost-" + UUID().uuidString

    /// A database with several commits, deletions and a collection whose name would end the page's script.
    private func page(of commits: Int, _ inspecting: InspectionOptions = InspectionOptions()) throws
        -> InspectionPage
    {
        let path = directory + "/</script>&.roost"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let database = try Database.open(path)
        let collection = try database.defaultCollection
        for commit in 0..<commits {
            try database.write { batch in
                for number in 0..<20 {
                    try batch.save(
                        json: #"{"text":"\#(String(repeating: "x", count: 40 * number))"}"#,
                        id: "\(commit % 5)-\(number)",
                        in: collection)
                }
            }
        }
        return InspectionPage(title: path, try database.inspect(inspecting))
    }

    /// What the page's script gets.
    private func data(of page: InspectionPage) throws -> [String: Any] {
        let start = try #require(page.html.range(of: #"id="data">"#)).upperBound
        let end = try #require(page.html.range(of: "</script>", range: start..<page.html.endIndex)).lowerBound
        let object = try JSONSerialization.jsonObject(with: Data(page.html[start..<end].utf8))
        return try #require(object as? [String: Any])
    }

    @Test func pageHoldsItsData() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let page = try page(of: 12)
        let data = try data(of: page)
        let bytes = try #require(data["fileBytes"] as? Int)
        let contents = try #require(data["contents"] as? [[String: Any]])
        let sum = contents.reduce(0) { $0 + ($1["liveBytes"] as? Int ?? 0) + ($1["deadBytes"] as? Int ?? 0) }
        #expect(sum == bytes)
        let map = try #require(data["map"] as? [String: Any])
        let cells = try #require(map["cells"] as? [[Int]])
        #expect(cells.count * (try #require(map["cellBytes"] as? Int)) >= bytes)
        #expect(cells.allSatisfy { $0.count % 3 == 0 && !$0.isEmpty })
        #expect((data["trees"] as? [Any])?.count == 4)
        #expect((data["timeline"] as? [Any])?.count == data["commits"] as? Int)
    }

    @Test func pageNeedsNothingElse() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let html = try page(of: 2).html
        // The one address is a name: that of SVG.
        let addresses = html.ranges(of: /https?:\/\/[^"' ]*/).map { String(html[$0]) }
        #expect(addresses == ["http://www.w3.org/2000/svg"])
        for loading in ["src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest"] {
            #expect(!html.contains(loading), "\(loading)")
        }
        #expect(html.components(separatedBy: "</script>").count == 3)
    }

    @Test func pageOfALargeFileIsNotLarger() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var inspecting = InspectionOptions()
        inspecting.maximumCells = 64
        inspecting.maximumSpans = 16
        let data = try data(of: try page(of: 60, inspecting))
        let cells = (data["map"] as? [String: Any])?["cells"] as? [Any]
        #expect(try #require(cells?.count) <= 64)
        #expect(try #require((data["timeline"] as? [Any])?.count) <= 16)
    }

    @Test(arguments: [("light", 1400), ("dark", 1400), ("light", 500)])
    func browserDrawsThePage(theme: String, width: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let page = try page(of: 12)
        guard let browser = Browser.installed else {
            Issue.record(
                "No Chromium is installed, so nothing tells whether a browser draws the page.",
                severity: .warning)
            return
        }
        let file = directory + "/page.html"
        try OutputFile.write(page.html, to: file)
        let body = try browser.body(of: file, fragment: theme, width: width)
        let data = try data(of: page)
        let cells = try #require((data["map"] as? [String: Any])?["cells"] as? [Any]).count
        #expect(body["data-drawn"] == "yes")
        #expect(body["data-error"] == nil)
        #expect(body["data-cells"] == "\(cells)")
        #expect(body["data-spans"] == "\((data["timeline"] as? [Any])?.count ?? -1)")
        #expect(body["data-trees"] == "4")
        #expect(body["data-width"] == "\(width)", "Something is wider than the window.")
    }
}

// MARK: - Browser

/// A Chromium without a window.
struct Browser {
    private let path: String

    /// The one that is installed, if any is.
    static var installed: Browser? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        for name in ["chromium", "chromium-browser", "google-chrome"] {
            for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
                return Browser(path: "\(folder)/\(name)")
            }
        }
        return nil
    }

    /// The attributes of the body once the page's scripts have run, in a window of `width` pixels, at least 500.
    func body(of file: String, fragment: String, width: Int) throws -> [String: String] {
        let profile = file + ".profile"
        defer { try? FileManager.default.removeItem(atPath: profile) }
        let command = [
            path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--window-size=\(width),900", "--user-data-dir=\(profile)", "--dump-dom",
            "\(URL(fileURLWithPath: file).absoluteString)#\(fragment)",
        ]
        let document = String(
            decoding: try ChildProcess.run(command, errors: .hidden).output, as: UTF8.self)
        guard let tag = document.firstMatch(of: /<body([^>]*)>/) else { return [:] }
        let attributes = tag.1.matches(of: /([a-z-]+)="([^"]*)"/).map { (String($0.1), String($0.2)) }
        return Dictionary(attributes, uniquingKeysWith: { $1 })
    }
}

// MARK: - DumpCommandTests

/// `roost dump` and `roost inspect` say what was asked for, and what is wrong with what was asked.
@Suite struct DumpCommandTests {
    private let path = NSTemporaryDirectory() + "roost-" + UUID().uuidString

    private func makeDatabase(_ options: DatabaseOptions = DatabaseOptions()) throws {
        let database = try Database.open(path, options: options)
        try database.defaultCollection.save(json: #"{"bird": "swift"}"#, id: "apus")
        try database.close()
    }

    @Test(arguments: [
        [], ["--commit", "last"], ["--commit", "1", "--all"], ["--offset", "0x2000"],
        ["--offset", "8200", "--json"],
        ["--all", "--limit", "0", "--json"],
    ])
    func dumpSucceeds(arguments: [String]) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try makeDatabase()
        #expect(RoostTool.run(["dump", path] + arguments) == 0)
        #expect(RoostTool.run(["dump", path + "/data.roost"] + arguments) == 0)
    }

    @Test func wrongArgumentsAreWrongUsage() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try makeDatabase()
        #expect(RoostTool.run(["dump", path, "--offset", "here"]) == 2)
        #expect(RoostTool.run(["dump", path, "--commit", "first"]) == 2)
        #expect(RoostTool.run(["dump", path, "--offset", "999999999"]) == 1)
        #expect(RoostTool.run(["dump", path, "--commit", "999"]) == 1)
        #expect(RoostTool.run(["dump", path + "-missing"]) == 1)
        #expect(RoostTool.run(["inspect", path + "-missing"]) == 1)
    }

    @Test func encryptedDatabasesNeedTheirKey() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try makeDatabase(DatabaseOptions(key: .passphrase("gable")))
        let secret = path + "/passphrase"
        try OutputFile.write("gable\n", to: secret)
        #expect(RoostTool.run(["dump", path, "--all"]) == 1)
        #expect(RoostTool.run(["inspect", path]) == 1)
        #expect(RoostTool.run(["dump", path, "--all", "--passphrase-file", secret]) == 0)
        #expect(RoostTool.run(["inspect", path, "--json", "--passphrase-file", secret]) == 0)
    }
}
