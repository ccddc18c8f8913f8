import ChildProcesses
import Foundation
import Roost
import RoostQuery
import Testing

@testable import RoostCommand

/// `check`, `inspect` and `info` show what is derived from the documents, and how it stands.
@Suite struct DerivedCommandTests {
    let tool = Tool()

    init() {
        _ = tool.run("put", "a", #"{"n":2}"#)
        _ = tool.run("put", "b", #"{"n":1}"#)
        _ = tool.run(
            "put", "_design/d",
            #"{"language":"roost","views":{"by-n":{"map":{"emit":[{"key":[".n"]}]},"reduce":"_count"}}}"#)
        _ = tool.run("view", "d/by-n")
    }

    private var file: String { tool.path + "/derived/1.roost" }

    private func derived(_ command: String) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(tool.output(command, "--json").utf8))
        let stores = try #require((object as? [String: Any])?["derived"] as? [[String: Any]])
        #expect(stores.count == 1)
        return try #require(stores.first)
    }

    private func index(_ command: String) throws -> [String: Any] {
        try #require((try derived(command)["indexes"] as? [[String: Any]])?.first)
    }

    @Test(arguments: ["check", "inspect", "info"])
    func viewsAreShown(command: String) throws {
        let store = try derived(command)
        #expect(store["file"] as? String == "derived/1.roost")
        #expect(store["collection"] as? String == "_default._default")
        #expect(try (store["fileBytes"] as? Int) == Data(contentsOf: URL(fileURLWithPath: file)).count)
        #expect(store["damage"] == nil)
        let index = try index(command)
        #expect(index["name"] as? String == "view/_design/d/by-n")
        #expect(index["rows"] as? Int == 2 && index["sequence"] as? Int == 3)
        #expect((index["version"] as? String)?.contains("_count") == true)
        #expect(index["state"] as? String == "current")
        #expect(tool.output(command).contains("view/_design/d/by-n: current, 2 rows, "))
    }

    @Test func whatIsBehindIsTold() throws {
        _ = tool.run("put", "c", #"{"n":3}"#)
        #expect(try index("info")["state"] as? String == "behind")
        #expect(tool.output("info").contains("sequence 3 of 4"))
        _ = tool.run("view", "d/by-n", "--limit", "0")
    }

    @Test func viewsOfOtherDocumentsAreTold() throws {
        let other = Tool()
        for number in 0..<9 { _ = other.run("put", "x\(number)", "{}") }
        try FileManager.default.createDirectory(
            atPath: other.path + "/derived", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: file, toPath: other.path + "/derived/1.roost")
        #expect(other.output("info").contains("view/_design/d/by-n: of other documents"))
        try FileManager.default.moveItem(atPath: file, toPath: tool.path + "/derived/77.roost")
        #expect(tool.output("info").contains("of a collection that was dropped: derived/77.roost"))
    }

    @Test func damageIsToldAndIsNoneOfTheDatabase() throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        for place in stride(from: 8_192, to: bytes.count, by: 50) { bytes[place] ^= 0xFF }
        try bytes.write(to: URL(fileURLWithPath: file))
        let check = tool.run("check")
        #expect(check.status == 0 && check.output.contains("all is well"))
        #expect(check.output.contains("damaged; rebuilt when it is read"))
        #expect(try derived("check")["damage"] != nil)
        #expect(tool.run("inspect").status == 0 && tool.run("info").status == 0)
        #expect(tool.output("view", "d/by-n") == #"{"key":null,"value":2}"# + "\n")
        #expect(try derived("check")["damage"] == nil)
    }

    @Test func anEncryptedDatabaseShowsThemWithItsKey() throws {
        let secret = tool.path + "-secret"
        defer { try? FileManager.default.removeItem(atPath: secret) }
        try "swifts in gables".write(toFile: secret, atomically: true, encoding: .utf8)
        #expect(tool.run("encrypt", "--new-passphrase-file", secret).status == 0)
        _ = tool.run("view", "d/by-n", "--passphrase-file", secret)
        #expect(tool.output("check", "--passphrase-file", secret).contains("by-n: current, 2 rows"))
        #expect(tool.output("inspect", "--passphrase-file", secret).contains("by-n: current, 2 rows"))
    }
}

// MARK: - ViewCommandTests

@Suite struct ViewCommandTests {
    let tool = Tool()

    init() {
        for (id, json) in [
            ("a", #"{"n":2,"t":"x"}"#), ("b", #"{"n":1,"t":"x"}"#), ("c", #"{"n":3,"t":"y"}"#),
        ] {
            _ = tool.run("put", id, json)
        }
        _ = tool.run(
            "put", "_design/idx",
            #"""
            {"language":"query","views":{"by-t":{"map":{"fields":{"t":"asc","n":"asc"}},"reduce":"_count",
            "options":{"def":{"fields":["t","n"]}}}}}
            """#)
    }

    @Test func rowsAndGroupsArePrintedAsJSONLines() {
        #expect(
            tool.output("view", "idx/by-t", "--no-reduce", "--from", #"["x",2]"#)
                == #"""
                {"id":"a","key":["x",2],"value":null}
                {"id":"c","key":["y",3],"value":null}

                """#)
        #expect(tool.output("view", "idx/by-t") == #"{"key":null,"value":3}"# + "\n")
        #expect(
            tool.output("view", "idx/by-t", "--group-level", "1")
                == #"{"key":["x"],"value":2}"# + "\n" + #"{"key":["y"],"value":1}"# + "\n")
        #expect(
            tool.output("view", "idx/by-t", "--docs", "--key", #"["y",3]"#).contains(#""doc":{"_id":"c""#))
    }

    @Test func viewsAreListed() {
        #expect(tool.output("view") == "idx/by-t\tquery\n")
    }

    @Test func whatIsWrongIsSaid() {
        #expect(tool.run("view", "idx").status == 2)
        #expect(tool.run("view", "idx/none").output.contains("has no view"))
        #expect(tool.run("view", "idx/by-t", "--from", "x").status == 2)
        let reversed = tool.run("view", "idx/by-t", "--from", "2", "--to", "1")
        #expect(reversed.status == 1 && reversed.output.contains("ends before it begins"))
    }
}

// MARK: - SearchCommandTests

/// `roost index create --text` and `roost search`.
@Suite struct SearchCommandTests {
    private let tool = Tool()

    init() {
        _ = tool.run(
            "put", "owl", #"{"title":"The owl","body":"An owl nests under\nthe gable of the old barn."}"#)
        _ = tool.run("put", "barn", #"{"title":"The barn","body":"Owls are running from it."}"#)
        _ = tool.run("put", "cafe", #"{"title":"Das Café","body":"Straße 🦉 Café"}"#)
        _ = tool.run("index", "create", "words", "--text", "title, body", "--language", "en")
    }

    private func lines(_ arguments: String...) -> [String] {
        let collector = Console.Collector()
        let status = Console.$collector.withValue(collector) {
            RoostTool.run(["search", tool.path, "words"] + arguments)
        }
        return status == 0 ? collector.content.split(separator: "\n").map(String.init) : []
    }

    @Test func whatIsFoundIsShownTheBestFirst() throws {
        let found = lines("owl")
        #expect(found.count == 5 && found.last == "2 found")
        #expect(found.first?.hasPrefix("owl  ") == true && found[2].hasPrefix("barn  "))
        // What was found is marked, and not by colours, as this is no terminal.
        #expect(found[1] == "    The [owl]")
        #expect(found[3] == "    [Owls] are running from it.")
        #expect(!found.joined().contains("\u{1B}"))
        #expect(lines("gull") == ["0 found"])
    }

    @Test func limitAndOffset() {
        let first = lines("owl", "--limit", "1")
        #expect(first.count == 3 && first[0].hasPrefix("owl  ") && first[2] == "1 of 2 found")
        let second = lines("owl", "--limit", "1", "--offset", "1")
        #expect(second.count == 3 && second[0].hasPrefix("barn  ") && second[2] == "1 of 2 found")
    }

    @Test func resultsAsJSON() throws {
        let found = lines("cafe OR owl", "--json")
        #expect(found.count == 3)
        var places: [String: [String]] = [:]
        for line in found {
            let hit = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let snippet = try #require(hit["snippet"] as? String) as NSString
            #expect((hit["score"] as? Double ?? 0) > 0)
            #expect(["title", "body"].contains(hit["column"] as? String))
            let ranges = try #require(hit["ranges"] as? [[Int]])
            places[try #require(hit["id"] as? String)] = ranges.map {
                snippet.substring(with: NSRange(location: $0[0], length: $0[1] - $0[0]))
            }
        }
        #expect(places == ["owl": ["owl"], "barn": ["Owls"], "cafe": ["Café"]])
    }

    @Test func theIndexIsListedAndDropped() {
        #expect(tool.output("index", "list") == "words of the words in title, body, english\n")
        #expect(tool.run("index", "drop", "words").status == 0)
        let answer = tool.run("search", "words", "owl")
        #expect(answer.status == 1 && answer.output.contains("There is no full-text index \"words\" here"))
    }

    @Test func anIndexOfTrigramsIsListed() {
        #expect(tool.run("index", "create", "parts", "--trigrams", "title, body").status == 0)
        #expect(tool.output("index", "list").hasPrefix("parts of the trigrams in title, body\n"))
        let answer = tool.run("search", "parts", "owl")
        #expect(answer.status == 1 && answer.output.contains("has trigrams, not words"))
        #expect(tool.run("index", "drop", "parts").status == 0)
    }

    @Test func mistakesAreTold() {
        let wrong = tool.run("search", "words", "owl AND (barn")
        #expect(wrong.status == 1 && wrong.output.contains("can't be understood, at byte"))
        #expect(lines("owl AND (barn", "--forgiving").last?.hasSuffix("found") == true)
        let column = tool.run("search", "words", "author: owl")
        #expect(column.status == 1 && column.output.contains("no column \"author\""))
        let other = tool.run("search", "other", "owl")
        #expect(other.status == 1 && other.output.contains("there is \"words\""))
        let language = tool.run("index", "create", "more", "--text", "title", "--language", "xx")
        #expect(language.status == 2 && language.output.contains("not \"xx\""))
    }
}

// MARK: - KilledBuildTests

/// A process that is killed while it builds a view: whoever reads the view next gets all its rows.
@Suite struct KilledBuildTests {
    private let tool = Tool()
    private static let count = 4_000

    private func makeDatabase() throws {
        let database = try Database.open(tool.path)
        let notes = try database.defaultCollection
        try database.write { batch in
            for number in 0..<Self.count {
                try batch.save(json: #"{"n":\#(number % 50),"v":\#(number)}"#, id: "d\(number)", in: notes)
            }
            try batch.save(
                json: #"{"language":"roost","views":{"by-n":{"map":{"emit":[{"key":[".n"],"value":[".v"]}]},"#
                    + #""reduce":"_sum"}}}"#, id: "_design/d", in: notes)
        }
        try database.close()
    }

    @Test(arguments: 0..<6) func rowsAreAllThere(round: Int) throws {
        try makeDatabase()
        for attempt in 0..<4 {
            let process = try ChildProcess(["view", tool.path, "d/by-n"], of: "roost")
            // From when there is a file on, or when the process has ended.
            while process.isRunning, !FileManager.default.fileExists(atPath: tool.path + "/derived/1.roost") {
                usleep(200)
            }
            usleep(UInt32(attempt * 6_000 + round * 9_000))
            process.kill()
            // A process that only reads looks at what is there; it must not be wrong either.
            if attempt % 2 == 0 { try check(isReadOnly: true) }
        }
        try check(isReadOnly: false)
        try check(isReadOnly: true)
    }

    private func check(isReadOnly: Bool) throws {
        let database = try Database.open(tool.path, options: DatabaseOptions(isReadOnly: isReadOnly))
        let view = try database.defaultCollection.view("by-n", of: "d")
        let rows = try view.count()
        #expect(rows == Self.count)
        #expect(try view.reduced(as: Int.self) == Self.count * (Self.count - 1) / 2)
        #expect(try view.groups().count == 50)
        try database.close()
    }
}
