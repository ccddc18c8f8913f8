import Foundation
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
        #expect(check.output.contains("damaged, and made anew when it is read"))
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
