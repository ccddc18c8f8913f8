import Foundation
import Roost
import Testing

@testable import RoostCommand

/// No message shows the name of a type, or an error's domain and number.
@Suite struct ErrorSentenceTests {
    private enum Unknown: Error { case one }
    private struct Named: Decodable { let name: String, stars: [Int], when: Date }
    private struct Described: Error, CustomStringConvertible { let description = "It rains." }

    private func isForPeople(_ text: String) -> Bool {
        let traces = [
            "Domain", "Error(", "Code=", "NSCocoa", "UserInfo", "CodingKey", "Context(", "Optional(",
            "Swift.", "_Index",
            "NSPOSIX", "Unknown", "Foundation", "stringValue", "debugDescription",
        ]
        return !text.isEmpty && !traces.contains { text.contains($0) }
            && text.matches(of: /\w+Error\b/).isEmpty
    }

    private func thrown(_ body: () throws -> Void) -> any Error {
        do {
            try body()
            return Described()
        } catch { return error }
    }

    @Test func errorsOfOthersAreSentences() {
        let files = FileManager.default
        let file = NSTemporaryDirectory() + "roost-" + UUID().uuidString
        defer { try? files.removeItem(atPath: file) }
        _ = files.createFile(atPath: file, contents: Data([0xFF, 0xFE, 0xFD]))
        let errors: [any Error] = [
            thrown { _ = try files.contentsOfDirectory(atPath: "/nowhere/at/all") },
            thrown { try files.createDirectory(atPath: file, withIntermediateDirectories: true) },
            thrown { try files.removeItem(atPath: "/nowhere") },
            thrown { try files.moveItem(atPath: file, toPath: "/proc/none") },
            thrown { _ = try String(contentsOfFile: file, encoding: .utf8) },
            thrown { _ = try Data(contentsOf: URL(fileURLWithPath: "/")) },
            thrown { _ = try Data(contentsOf: URL(fileURLWithPath: "/nowhere")) },
            thrown { try Data().write(to: URL(fileURLWithPath: file), options: .withoutOverwriting) },
            thrown { _ = try JSONSerialization.jsonObject(with: Data("{".utf8)) },
            thrown { _ = try JSONDecoder().decode(Named.self, from: Data("{}".utf8)) },
            thrown { _ = try JSONDecoder().decode(Named.self, from: Data(#"{"name":1}"#.utf8)) },
            thrown { _ = try JSONDecoder().decode(Named.self, from: Data(#"{"name":null}"#.utf8)) },
            thrown {
                _ = try JSONDecoder().decode(Named.self, from: Data(#"{"name":"","stars":[1,"x"]}"#.utf8))
            },
            thrown { _ = try JSONEncoder().encode(["x": Double.infinity]) },
            POSIXError(.ENOSPC), CancellationError(), Unknown.one, Described(),
            NSError(domain: "Domain", code: 7), CocoaError(.fileWriteUnknown),
        ]
        for error in errors { #expect(isForPeople(error.sentence), "\(error) gives \(error.sentence)") }
        #expect(errors[9].sentence == "The property name is missing.")
        #expect(errors[10].sentence == "The property name is not text.")
        #expect(errors[12].sentence == "The property stars[1] is not a whole number in range.")
        #expect(
            Described().sentence == "It rains." && POSIXError(.ENOSPC).sentence == "No space left on device.")
        #expect(thrown { try files.removeItem(atPath: "/nowhere") }.sentence == "/nowhere does not exist.")
    }

    @Test func alertsShowTheMessage() {
        let error: any Error = DatabaseError(.conflict, "Another save came first.")
        #expect(error.localizedDescription == "Another save came first.")
    }

    @Test func documentsThatDoNotDecodeAreExplained() throws {
        let database = try Database.inMemory()
        let notes = try database.defaultCollection
        try notes.save(json: #"{"name":7,"stars":[],"when":"x"}"#, id: "a")
        let document = try #require(try notes.document("a"))
        #expect(
            thrown { _ = try document.decode(Named.self) }.sentence.hasSuffix(
                "The property name is not text."))
    }

    /// The tool, wherever it fails.
    @Test func theToolFailsInSentences() async throws {
        let tool = Tool()
        let missing = tool.path + "-missing"
        _ = tool.output("put", "a", #"{"v":1}"#)
        let (file, empty) = (tool.path + "-file", tool.path + "-empty")
        defer { for path in [file, empty] { try? FileManager.default.removeItem(atPath: path) } }
        try Data([0xFF, 0xFE, 0x00]).write(to: URL(fileURLWithPath: file))
        try Data().write(to: URL(fileURLWithPath: empty))
        let path = tool.path
        var calls: [[String]] = [
            ["serve", file, "--port", "0"], ["serve", "/proc/none", "--port", "0"],
            ["serve", path + "-d", "--port", "0", "--sync-function", file],
            ["serve", path + "-d", "--port", "0", "--sync-function", "/"],
            ["serve", path + "-d", "--port", "0", "--log", "/"],
            ["serve", path + "-d", "--port", "0", "--log", missing + "/x"],
            ["serve", path + "-d", "--port", "0", "--admin", "a", "--password-file", missing],
            ["serve", path + "-d", "--port", "0", "--admin", "a", "--password-file", "/"],
            ["serve", path + "-d", "--port", "0", "--certificate", file, "--key", file],
            ["serve", path + "-d", "--port", "0", "--address", "300.1.1.1"],
            ["attach", path, "a", missing], ["attach", path, "none", file], ["blob", "put", path, missing],
            ["blob", "get", path, "sha1-none"], ["backup", path, "/proc/none"],
            ["salvage", file, missing + "/x"],
            ["export", path, "/proc/none"], ["export", path, missing + "/x"], ["query", path, "SELECT"],
            ["query", path, "SELECT x FROM none"], ["get", path, "b"], ["get", path, "a", "--rev", "x"],
            ["get", path, "a", "--rev", "1-00"], ["put", path, "b", "{"], ["put", path, "_b", "{}"],
            ["rm", path, "b"],
            ["view", path, "none/none"], ["search", path, "none", "x"],
            ["replicate", path, "http://127.0.0.1:1/x"],
            ["replicate", path, "http://none.invalid/x"], ["replicate", missing, path],
            ["import", path, "/"], ["import", path, file], ["import", path, missing],
            ["inspect", file],
            ["encrypt", path, "--key-file", missing], ["check", path, "--passphrase-file", missing],
        ]
        for command in [
            "ls", "count", "info", "check", "history", "changes", "compact", "revs", "collections", "dump",
            "inspect",
        ] {
            // A dump shows whatever bytes a file has.
            let files = command == "dump" ? [] : [file, empty]
            for database in files + [missing, "/", "/proc", path + "/none"] {
                calls.append([command, database] + (command == "revs" ? ["a"] : []))
            }
        }
        for call in calls {
            let result = await Tool.onItsOwnThread { [tool] in tool.run(call) }
            #expect(result.status != 0, "\(call): \(result.output)")
            #expect(isForPeople(result.output), "\(call): \(result.output)")
        }
    }
}
