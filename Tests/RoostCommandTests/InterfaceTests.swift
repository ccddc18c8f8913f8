import Foundation
import Roost
import Testing

@testable import RoostCommand

/// What programs that use Roost may rely on, as CONTRIBUTING.md promises it, held against `Golden/Interface.txt`. A line that is missing
/// breaks somebody's program; a line more is promised as soon as it stands in the file.
@Suite struct InterfaceTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Golden/Interface.txt")

    /// All codes of errors; one that is renamed does not compile here.
    private static let codes: [DatabaseError.Code] = [
        .notFound, .alreadyExists, .conflict, .invalidDocumentID, .invalidRevisionID, .corruptRevisionData,
        .missingStub, .invalidName, .invalidDocument, .invalidQuery, .noIndex, .invalidDate, .decodingFailed,
        .limitExceeded, .readOnly, .wrongKey, .nestedWrite, .closed, .cancelled, .notADatabase,
        .unsupportedFormat, .damaged, .locked, .noSpace, .inputOutput, .permissionDenied, .writerFailed,
    ]

    private func commands() -> [String] {
        RoostTool.commands.flatMap { command in
            [(["command", command.name] + command.parameters.map(\.label)).joined(separator: " ")]
                + command.options.map {
                    "option \(command.name) \($0.name)\($0.value == nil ? "" : " VALUE")"
                }
        }
    }

    private func statuses() -> [String] {
        let tool = Tool()
        return [
            "status \(tool.run(["--version"]).status) done", "status \(tool.run("count").status) failed",
            "status \(tool.run(["nonsense"]).status) wrong usage",
        ]
    }

    /// The members of what commands print with `--json`.
    private func members() throws -> [String] {
        let tool = Tool()
        let file = tool.path + ".jsonl"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try #"{"_id": "a", "n": 1}"#.write(toFile: file, atomically: true, encoding: .utf8)
        var lines: [String] = []
        for (name, arguments) in [
            ("import", [file]), ("info", []), ("check", []), ("changes", []), ("revs", ["a"]),
            ("history", ["--limit", "1"]), ("inspect", []), ("compact", []), ("lscoll", []), ("ls", []),
        ] {
            let (status, output) = tool.run([name, tool.path] + arguments + ["--json"])
            #expect(status == 0, "\(name): \(output)")
            let text = output.split(separator: "\n").first.map(String.init) ?? ""
            let json = try JSONSerialization.jsonObject(
                with: Data((text.hasPrefix("[") || !text.hasSuffix("}") ? output : text).utf8))
            let object = json as? [String: Any] ?? (json as? [[String: Any]])?.first ?? [:]
            lines += object.keys.sorted().map { "json \(name) \($0)" }
        }
        return lines
    }

    @Test func nothingThatIsPromisedIsMissing() throws {
        let settings = ServeSettings.options.map { "setting \($0.name.dropFirst(2))" }
        let now = Self.codes.map { "error \($0)" } + commands() + settings + statuses() + (try members())
        let promised = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n").map(
            String.init)
        let (missing, more) = (Set(promised).subtracting(now), Set(now).subtracting(promised))
        #expect(missing.isEmpty, "These were promised:\n\(missing.sorted().joined(separator: "\n"))")
        #expect(
            more.isEmpty, "Write these into Golden/Interface.txt:\n\(more.sorted().joined(separator: "\n"))")
    }

    /// The tool says the library's version.
    @Test func theToolSaysTheVersion() {
        #expect(RoostVersion.number.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil)
        #expect(Tool().run(["--version"]).output == "roost \(RoostVersion.number)\n")
    }
}
