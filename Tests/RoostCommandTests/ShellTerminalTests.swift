import Foundation
import Testing

@testable import RoostCommand

/// `roost shell` on a terminal, which is a pseudo terminal of the test.
@Suite(.serialized) struct ShellTerminalTests {
    private let tool = Tool()
    private var history: String { tool.path + ".history" }

    init() {
        _ = tool.output("put", "apus", #"{"title":"Swifts","stars":4,"place":{"city":"Rome"}}"#)
        _ = tool.output("put", "bubo", #"{"title":"Owls","stars":5}"#)
    }

    private func shell(_ options: String..., kind: String = "xterm") throws -> TerminalSession {
        try TerminalSession(["shell", tool.path] + options, history: history, kind: kind)
    }

    @Test(.timeLimit(.minutes(1))) func linesAreCompletedEditedAndRecalled() throws {
        defer { try? FileManager.default.removeItem(atPath: history) }
        let session = try shell()
        let greeting = try session.wait(for: "roost> ")
        #expect(greeting.contains("has _default with 2 documents.") && greeting.contains("SELECT * FROM _"))
        #expect(!session.isAsBefore)
        // Tab completes the path, the keyword and the name.
        try session.type("sel\tti\tfrom _ wher\tpl\t.c\t = 'Rome';\r")
        try session.wait(for: "Swifts")
        try session.wait(for: "1 row in")
        try session.wait(for: "roost> ")
        // Up, change the beginning of the line, and ask again.
        try session.type("\u{1B}[A")
        try session.type("\u{01}\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[C stars AS points, \r")
        try session.wait(for: "points")
        try session.wait(for: "1 row in")
        try session.wait(for: "roost> ")
        try session.type("get ap\t\r")
        try session.wait(for: "Swifts")
        try session.wait(for: "roost> ")
        try session.type("nonsense\u{03}")
        try session.wait(for: "^C")
        try session.wait(for: "roost> ")
        try session.type("\u{04}")
        #expect(session.end() == 0)
        #expect(session.isAsBefore)
        let kept = try String(contentsOfFile: history, encoding: .utf8)
        #expect(kept.contains("SELECT title from _ where place.city  = 'Rome';\n"), "\(kept)")
        #expect(kept.hasSuffix("get apus \n"), "\(kept)")
    }

    @Test(.timeLimit(.minutes(1))) func aPropertyThatIsMisspeltIsPointedAt() throws {
        defer { try? FileManager.default.removeItem(atPath: history) }
        let session = try shell()
        try session.wait(for: "roost> ")
        try session.type(
            "SELECT title, Stars AS s FROM _ AS d WHERE d.plce.city = 'Rome' AND nothing IS MISSING;\r")
        try session.wait(for: "None of the first 100 documents has Stars; did you mean stars?")
        let next = try session.wait(for: "None of the first 100 documents has plce; did you mean place?")
        // What has no like name may be rare, and what documents have is right.
        #expect(!next.contains("has nothing"), "\(next)")
        #expect(!(try session.wait(for: "roost> ")).contains("None of"))
        try session.type("exit\r")
        #expect(session.end() == 0)
    }

    @Test(.timeLimit(.minutes(1))) func aStatementGoesOnOverLinesAndIsOneEntry() throws {
        defer { try? FileManager.default.removeItem(atPath: history) }
        let session = try shell()
        try session.wait(for: "roost> ")
        try session.type("SELECT title FROM _\r")
        try session.wait(for: "A query ends with ; or an empty line.")
        try session.wait(for: "   ...> ")
        try session.type("WHERE title = 'O\r")
        try session.wait(for: "   '..> ")
        // Ctrl-C gives it up, and so does Ctrl-D.
        try session.type("\u{03}")
        try session.wait(for: "roost> ")
        try session.type("SELECT 1\r")
        try session.wait(for: "   ...> ")
        try session.type("\u{04}")
        try session.wait(for: "roost> ")
        // What is pasted is one statement, and is found again by Ctrl-R.
        try session.type("\u{1B}[200~SELECT title\r\nFROM _ WHERE stars > 4;\u{1B}[201~")
        try session.wait(for: "SELECT title↵FROM _")
        try session.type("\r")
        try session.wait(for: "Owls")
        try session.wait(for: "1 row in")
        try session.wait(for: "roost> ")
        try session.type("\u{12}title")
        try session.wait(for: "(search \"title\")> SELECT title↵FROM _")
        try session.type("\r")
        try session.wait(for: "Owls")
        try session.wait(for: "roost> ")
        try session.type("exit;\r")
        #expect(session.end() == 0)
        #expect(LineHistory(path: history).entries == ["SELECT title\nFROM _ WHERE stars > 4;", "exit;"])
    }

    @Test(.timeLimit(.minutes(1))) func controlCStopsWhatIsDoneAndNotTheShell() throws {
        let documents = (0..<3000).map { #"{"_id":"n\#($0)","n":\#($0)}"# }.joined(separator: "\n")
        let file = tool.path + ".jsonl"
        defer { for path in [file, history] { try? FileManager.default.removeItem(atPath: path) } }
        try documents.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(tool.run("import", file).status == 0)
        let session = try shell()
        try session.wait(for: "roost> ")
        // Millions of rows, of which the first ones are seen.
        try session.type("SELECT a.n + b.n AS total FROM _ a JOIN _ b ON a.n < b.n + 100000;\r")
        try session.wait(for: "total\r\n")
        try session.type("\u{03}")
        try session.wait(for: "Stopped.")
        try session.wait(for: "roost> ")
        try session.type("EXPLAIN ANALYZE SELECT a.n FROM _ a JOIN _ b ON a.n < b.n + 100000;\r")
        // Nothing is shown while it runs; before, Ctrl-C would be a key of the line.
        while !session.isAsBefore { sched_yield() }
        try session.type("\u{03}")
        try session.wait(for: "Stopped.")
        try session.wait(for: "roost> ")
        try session.type("changes --follow\r")
        try session.wait(for: "n2999")
        try session.type("\u{03}")
        try session.wait(for: "Stopped.")
        try session.wait(for: "roost> ")
        try session.type("count\r")
        try session.wait(for: "3002")
        try session.wait(for: "roost> ")
        try session.type("\u{04}")
        #expect(session.end() == 0)
        #expect(session.isAsBefore)
    }

    @Test(.timeLimit(.minutes(1))) func controlCharactersAreNotObeyed() throws {
        _ = tool.output("put", "zz", #"{"odd":"\u001b[2J\u009b"}"#)
        let session = try shell("--json")
        try session.wait(for: "roost> ")
        try session.type("SELECT odd FROM _ WHERE odd IS VALUED;\r")
        try session.wait(for: #"{"odd":"\u001b[2J\u009b"}"#)
        try session.type("mode table\r")
        try session.type("SELECT odd FROM _ WHERE odd IS VALUED;\r")
        try session.wait(for: "\n\"\\u001b[2J\\u009b\"")
        try session.wait(for: "1 row in")
    }

    /// A terminal that understands no escape sequences gets none.
    @Test(.timeLimit(.minutes(1))) func aPlainTerminalGetsPlainLines() throws {
        defer { try? FileManager.default.removeItem(atPath: history) }
        let session = try shell(kind: "dumb")
        var shown = try session.wait(for: "roost> ")
        try session.type("SELECT nonsense\u{03}")
        shown += try session.wait(for: "roost> ")
        try session.type("SELECT title FROM _ WHERE stars = 5\n")
        shown += try session.wait(for: "   ...> ")
        try session.type("\n")
        shown += try session.wait(for: "1 row in")
        shown += try session.wait(for: "roost> ")
        try session.type("\u{04}")
        #expect(session.end() == 0)
        #expect(shown.contains("Owls") && !shown.contains("\u{1B}"), "\(shown)")
        #expect(session.isAsBefore)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [SIGTERM, SIGHUP])
    func aSignalPutsTheTerminalBack(signal: Int32) throws {
        let session = try shell()
        try session.wait(for: "roost> ")
        #expect(!session.isAsBefore)
        kill(session.process, signal)
        #expect(session.end() == 128 + signal)
        #expect(session.isAsBefore)
    }

    // MARK: Passphrases

    private func encrypt() throws {
        let file = tool.path + ".passphrase"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "swifts\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(tool.run("encrypt", "--new-passphrase-file", file).status == 0)
    }

    /// Commands of the shell are not asked for the passphrase once more.
    @Test(.timeLimit(.minutes(2))) func aWrongPassphraseIsAskedForAgain() throws {
        try encrypt()
        let session = try shell()
        try session.wait(for: "Passphrase of ")
        try session.type("owls\r")
        try session.wait(for: "That is not its passphrase.")
        try session.wait(for: "Passphrase of ")
        try session.type("swiftx\u{7F}s\r")
        try session.wait(for: "roost> ")
        try session.type("count\r")
        try session.wait(for: "l2\r\n")
        try session.wait(for: "roost> ")
        try session.type("\u{04}")
        #expect(session.end() == 0)
    }

    @Test(.timeLimit(.minutes(1))) func controlCAtTheQuestionEndsTheTool() throws {
        try encrypt()
        let session = try TerminalSession(["count", tool.path])
        try session.wait(for: "Passphrase of ")
        #expect(!session.isAsBefore)
        try session.type("swi\u{03}")
        #expect(session.end() == 130)
        #expect(session.isAsBefore)
    }
}
