import ChildProcesses
import Foundation
import Roost
import Testing

@testable import RoostCommand

/// The tool as a process of its own: what becomes of what it writes, what it makes of the bytes of its arguments, and
/// what is left of a backup that is killed.
@Suite struct ToolProcessTests {
    private let tool = Tool()

    /// Runs a line of the shell with `$0` for the tool and `$1` for the database.
    private func shell(_ line: String) throws -> (status: Int32, errors: String) {
        let (status, errors) = try ChildProcess.run(
            ["/bin/bash", "-c", "{ \(line)\n} 2>&1 >/dev/null", Tool.program, tool.path])
        return (status, String(decoding: errors, as: UTF8.self))
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: "/dev/full"), "only Linux has a device that is full"),
        arguments: [
            #""$0" export "$1" >/dev/full"#, #""$0" get "$1" a >/dev/full"#, #""$0" --version >/dev/full"#,
            #""$0" help >/dev/full"#, #""$0" export "$1" /dev/full"#,
        ])
    func whatCannotBeWrittenIsAnError(line: String) throws {
        _ = tool.output("put", "a", "{}")
        let result = try shell(line)
        #expect(result.status == 1 && result.errors.contains("can't be written: No space left"), "\(result)")
    }

    @Test func aReaderThatGoesAwayIsNoFault() throws {
        _ = tool.output("put", "a", #"{"v":"\#(String(repeating: "x", count: 300_000))"}"#)
        let result = try shell(#""$0" export "$1" | head -c 1; exit ${PIPESTATUS[0]}"#)
        #expect(result.status == 1 && result.errors == "")
    }

    @Test(arguments: [
        #""$0" put "$1" a $'{"v":"\xe9"}'"#, #""$0" put "$1" $'\xe9' '{}'"#,
        #"printf '{"v":"\xe9"}' | "$0" put "$1" a"#,
        #"printf '{"_id":"a","v":"\xe9"}' | "$0" import "$1" -"#,
    ])
    func textThatIsNotUTF8IsRefused(line: String) throws {
        let result = try shell(line)
        #expect(result.status != 0 && result.errors.contains("not well-formed UTF-8"), "\(result)")
        #expect(tool.output("count").isEmpty || tool.output("count") == "0\n")
    }

    @Test func itTakesTurnsWithWhoeverDoes() throws {
        var options = DatabaseOptions()
        options.writers = .takingTurns
        let database = try Database.open(tool.path, options: options)
        let notes = try database.defaultCollection
        try notes.save(json: "{}", id: "mine")
        let result = try shell(#""$0" put "$1" theirs '{"v":1}'"#)
        #expect(result.status == 0 && result.errors == "", "\(result)")
        try database.refresh()
        #expect(try notes.document("theirs")?.int("v") == 1)
        try database.close()
        let alone = try Database.open(tool.path)
        #expect(try shell(#""$0" put "$1" late '{}'"#).status != 0)
        try alone.close()
    }

    /// Kills backups after every so many of the file system's calls have had time: whatever is left opens, and has the blobs
    /// of all its documents.
    @Test func aKilledBackupIsTheOldOneOrTheNew() throws {
        let copy = tool.path + ".copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let database = try Database.open(tool.path)
        let album = try database.defaultCollection
        var complete = 0
        for round in 0..<25 {
            for number in 0..<6 {
                var draft = MutableDocument(id: "r\(round)-\(number)")
                let content = [UInt8](repeating: UInt8(round), count: 40_000 + number)
                draft.attachments["photo"] = Attachment(try database.saveBlob(content))
                try album.save(&draft)
            }
            if round > 2 { try album.delete("r\(round - 3)-0") }
            if round % 5 == 4 { try database.compact() }
            let process = try ChildProcess(
                command: [Tool.program, "backup", tool.path, copy], errors: .hidden)
            usleep(UInt32(2_000 + 3_000 * round))
            process.kill()
            guard let found = try? Database.open(copy, options: DatabaseOptions(isReadOnly: true)) else {
                #expect(complete == 0, "the earlier backup is gone")
                continue
            }
            complete += 1
            let report = try found.check()
            #expect(report.isClean, "round \(round): \(report.findings)")
            try found.close()
        }
        #expect(tool.run("backup", copy).status == 0)
        #expect(try Database.check(copy).isClean)
        try database.close()
    }
}

// MARK: - WrongArgumentsTests

/// What is wrong with the arguments is told as it is, and nothing is made or changed.
@Suite struct WrongArgumentsTests {
    private let tool = Tool()

    @Test(arguments: [
        ["check"], ["inspect"], ["info"], ["ls"], ["get", "a"], ["export"], ["query", "SELECT 1"],
        ["blob", "ls"], ["backup", "copy"], ["salvage", "rescued"], ["compact"], ["index", "list"],
        ["history"],
    ])
    func aMissingDatabaseIsNamedByAllCommandsAlike(command: [String]) {
        let result = tool.run([command[0], tool.path] + command.dropFirst())
        #expect(result.status == 1)
        #expect(result.output == "roost: There is no database at \(tool.path).\n")
        #expect(!FileManager.default.fileExists(atPath: tool.path))
    }

    /// Without it, everybody would see everything.
    @Test func aSyncFunctionThatIsMissingServesNothing() {
        let result = tool.run(
            ["serve", tool.path, "--port", "0", "--sync-function", tool.path + "-none.js"])
        #expect(result.status == 1 && result.output.contains("-none.js"), "\(result.output)")
        #expect(!result.output.contains("roost serves"))
    }

    @Test func anUnknownVerbIsNamed() {
        let blob = tool.run("blob", "frob")
        #expect(
            blob.status == 2 && blob.output.contains(#"Neither "\#(tool.path)" nor "frob" is one of put,"#))
        let index = tool.run(["index", "frob", tool.path])
        #expect(
            index.status == 2
                && index.output.contains(#"Neither "frob" nor "\#(tool.path)" is one of create,"#))
    }

    /// A link is no way around it.
    @Test func aBackupInsideOfTheDatabaseIsRefused() throws {
        _ = tool.run("put", "a", "{}")
        let link = tool.path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: tool.path)
        defer { try? FileManager.default.removeItem(atPath: link) }
        let before = try FileManager.default.contentsOfDirectory(atPath: tool.path).sorted()
        for copy in [tool.path, tool.path + "/copy", tool.path + "/copy/", link, link + "/copy"] {
            let result = tool.run("backup", copy)
            #expect(result.status == 1 && result.output.contains("lies inside of the database"), "\(copy)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.path).sorted() == before)
        let beside = tool.path + "-beside"
        defer { try? FileManager.default.removeItem(atPath: beside) }
        #expect(tool.run("backup", beside).status == 0)
    }
}

// MARK: - LocalTimeTests

/// Queries of processes in several time zones: each answers in its own, whoever made the index.
@Suite struct LocalTimeTests {
    private let tool = Tool()

    private func output(in zone: String, _ arguments: [String]) throws -> String {
        let process = try ChildProcess(command: ["/usr/bin/env", "TZ=\(zone)", Tool.program] + arguments)
        return process.readToEnd()
    }

    @Test func indexesOfLocalTimeAreMadeAnewElsewhere() throws {
        for number in 0..<40 {
            #expect(tool.run("put", "d\(number)", #"{"s":"2020-01-01T00:00:00","n":\#(number)}"#).status == 0)
        }
        // Midnight in New York.
        let query = [
            "query", tool.path, "SELECT count(*) AS c FROM _ WHERE str_to_millis(s) = 1577854800000",
        ]
        #expect(try output(in: "America/New_York", query) == "{\"c\":40}\n")
        _ = try output(in: "UTC", ["index", "create", tool.path, "z", "--on", "str_to_millis(s)"])
        let explained = try output(in: "America/New_York", query + ["--explain"])
        #expect(explained.contains("z"))
        #expect(try output(in: "America/New_York", query) == "{\"c\":40}\n")
        #expect(try output(in: "UTC", query) == "{\"c\":0}\n")
    }

    /// Views go with the database, and are the same everywhere.
    @Test func viewsAreInUTC() throws {
        let design =
            #"{"language":"roost","views":{"v":{"map":{"emit":[{"key":["millis_to_str()",[".ms"]]}]}}}}"#
        #expect(tool.run("put", "_design/d", design).status == 0)
        #expect(tool.run("put", "a", #"{"ms":0}"#).status == 0)
        #expect(
            try output(in: "America/New_York", ["view", tool.path, "d/v"]).contains("1970-01-01T00:00:00Z"))
    }
}
