import ChildProcesses
import Foundation
import Testing

@testable import RoostCommand

/// The parts of `roost shell` that need no terminal.
@Suite struct ShellTests {
    private let tool = Tool()

    init() { _ = tool.output("mkcoll", "_default") }

    /// What the shell answers to lines from a pipe, and its exit status.
    private func answers(_ lines: [String]) throws -> (output: String, status: Int32) {
        let (status, output) = try ChildProcess.run(
            [Tool.program, "shell", tool.path], input: lines.joined(separator: "\n") + "\n")
        return (String(decoding: output, as: UTF8.self), status)
    }

    @Test func linesFromAPipeAreQueriesAndCommands() throws {
        _ = tool.output("put", "a", #"{"name":"Anna","n":1}"#)
        let (output, status) = try answers([
            "# a remark", #"put b {"name": "Bo b", "n": 2}"#, "SELECT name FROM _ WHERE n > 1;", "count;",
            "set min 0", "SELECT name", "FROM _", "WHERE n > $min ORDER BY name DESC LIMIT 1", "",
            "EXPLAIN SELECT n FROM _ WHERE _id = 'a';", "mkcoll notes; use notes;", "count", "exit;", "count",
        ])
        let lines = output.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        #expect(lines.first?.hasPrefix("b 1-") == true)
        #expect(
            lines.last ?? "" == """
                {"name":"Bo b"}
                2
                {"name":"Bo b"}
                SEARCH _ by ID (_id = 'a')
                  WHERE _id = 'a'
                0

                """)
        #expect(status == 0)
    }

    @Test func failuresAreToldAndCounted() throws {
        _ = tool.output("put", "a", "{}")
        let (output, status) = try answers(["conut", "SELECT x", "FORM _;", "get nobody", "get 'a", "count"])
        #expect(output.contains("roost: line 1: There is no command \"conut\"; did you mean count?"))
        #expect(output.contains("roost: line 2: ") && output.contains("did you mean FROM?"))
        #expect(output.contains("roost: line 4: There is no document \"nobody\"."))
        #expect(output.contains("roost: line 5: A quotation mark (') is not closed."))
        #expect(output.contains("1\n"))
        #expect(output.contains("4 statements failed."))
        #expect(status == 1)
    }

    /// A program that asks and waits for the answer before it asks again.
    @Test(.timeLimit(.minutes(1))) func aPipeThatStaysOpenIsAnsweredStatementByStatement() throws {
        _ = tool.output("put", "a", #"{"x":1}"#)
        let process = try ChildProcess(["shell", tool.path], of: "roost")
        for number in 1...3 {
            try process.write("SELECT x + \(number) AS x FROM _;\n")
            #expect(process.read() == "{\"x\":\(number + 1)}\n")
        }
        try process.write("count\n")
        #expect(process.read() == "1\n")
        #expect(process.finish() == 0)
    }

    @Test func aByteOrderMarkIsPassedOver() throws {
        _ = tool.output("put", "a", "{}")
        let (output, status) = try answers(["\u{FEFF}SELECT _id FROM _;"])
        #expect(output == "{\"_id\":\"a\"}\n" && status == 0)
    }

    @Test func commandsDoNotReadTheLinesAfterThem() throws {
        let (output, _) = try answers(["put a {}", "put b", "put {\"n\":1}", "count"])
        #expect(output.contains("roost: line 2: JSON is missing."))
        #expect(output.contains("roost: line 3: ID is missing."))
        #expect(output.contains("\n1\n"))
    }

    @Test func standardOutputComesBackAfterAnExportToAFile() throws {
        let file = tool.path + ".jsonl"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let (output, status) = try answers(["put a {}", "export \(file)", "count"])
        #expect(output.hasSuffix("\n1\n") && status == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "{\"_id\":\"a\"}\n")
    }

    @Test func parametersMustBeSet() throws {
        let (output, _) = try answers([
            "put a {}", "set $limit 1", "SELECT $limti AS x FROM _;", "SELECT $limit AS x FROM _;",
        ])
        #expect(output.contains("The parameter $limti is not set; did you mean limit?"))
        #expect(output.contains("{\"x\":1}"))
    }

    @Test func anUnknownCollectionTellsWhichThereAre() throws {
        let (output, _) = try answers([
            "mkcoll notes", "use cities", "SELECT 1 FROM cities;", "SELECT 1 FROM note;",
        ])
        #expect(
            output.components(
                separatedBy: "There is no collection cities here; there is _default (write _), notes."
            ).count
                == 3)
        #expect(output.contains("did you mean notes?"))
    }

    @Test func theModeSaysHowRowsArePrinted() throws {
        let (output, _) = try answers([
            #"put a {"n":1}"#, "mode csv", "SELECT n FROM _;", "mode records", "SELECT n FROM _;",
            "mode nonsense",
        ])
        #expect(output.contains("n\r\n1\r\n"))
        #expect(output.contains("— 1 —\nn  1\n"))
        #expect(
            output.contains(
                "mode takes one of table, box, markdown, json, csv, tabs, records, chart, not \"nonsense\"."))
    }

    @Test func helpTellsOfCommandsAndWords() throws {
        let (output, status) = try answers([".help", "help put", "help set", "help ptu"])
        #expect(output.contains("  put           stores one document\n"))
        #expect(output.contains("Usage: put ID [JSON|-] [OPTIONS]"))
        #expect(output.contains("set NAME [JSON]\n\n"))
        #expect(output.contains("There is no command \"ptu\"; did you mean put?"))
        #expect(status == 1)
    }

    @Test func wordsAreCutAsShellsDo() throws {
        #expect(try ShellWords.split(#"put a\ b 'it is' "x y""#) == ["put", "a b", "it is", "x y"])
        #expect(
            try ShellWords.split(#"put x {"a": "} \" ]", "b": [1, 2]} --force"#) == [
                "put", "x", #"{"a": "} \" ]", "b": [1, 2]}"#, "--force",
            ])
        #expect(throws: ShellWords.Unclosed.self) { try ShellWords.split("put x {\"a\": 1") }
    }

    @Test func linesAreEdited() {
        var line = EditedLine("SELECT title")
        line.moveByWord(-1)
        line.insert("é ")
        #expect(line.text == "SELECT é title" && line.beforeCursor == "SELECT é ")
        line.deleteBackward()
        line.deleteBackward()
        #expect(line.text == "SELECT title")
        line.deleteForward()
        line.moveToEnd()
        line.deleteWordBackward()
        #expect(line.text == "SELECT ")
        line.moveToStart()
        line.deleteBackward()
        line.deleteToEnd()
        #expect(line.text == "")
        // A combining mark makes one character with what stands before it.
        line.insert("e")
        line.insert("\u{301}")
        #expect(line.characters.count == 1 && line.place == 1)
    }
}
