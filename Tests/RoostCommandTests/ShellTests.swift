import Foundation
import Testing

@testable import RoostCommand

/// The parts of `roost shell` that need no terminal.
@Suite struct ShellTests {
    private let tool = Tool()

    /// What the shell answers to lines from a pipe, and its exit status.
    private func answers(_ lines: [String]) throws -> (output: String, status: Int32) {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: Tool.program)
        process.arguments = ["shell", tool.path]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (text, process.terminationStatus)
    }

    @Test func linesFromAPipeAreQueriesAndCommands() throws {
        _ = tool.output("put", "a", #"{"name":"Anna","n":1}"#)
        let (output, status) = try answers([
            "# a remark", #"put b {"name": "Bo b", "n": 2}"#, "SELECT name FROM _ WHERE n > 1", "count",
            "set min 0", "SELECT name", "FROM _ WHERE n > $min ORDER BY", "name DESC LIMIT 1",
            "EXPLAIN SELECT n FROM _ WHERE _id = 'a'", "mkcoll notes", "use notes", "count", "exit", "count",
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
        let (output, status) = try answers(["conut", "SELECT x FORM _", "get nobody", "get 'a", "count"])
        #expect(output.contains("There is no command \"conut\"; did you mean count?"))
        #expect(output.contains("did you mean FROM?"))
        #expect(output.contains("A quotation mark (') is not closed."))
        #expect(output.contains("1\n"))
        #expect(output.contains("4 lines failed."))
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

    @Test func tablesFitTheTerminal() {
        let output = collected {
            var table = TextTable(["id", "text"])
            table.add(["1", String(repeating: "long ", count: 20)])
            table.add(["22", "日本"])
            table.print(fitting: 30)
        }
        let lines = output.split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.count <= 30 })
        #expect(lines[1].hasSuffix("…"))
        let narrow = collected {
            var table = TextTable((0..<9).map { "column\($0)" })
            table.add((0..<9).map { "value number \($0)" })
            table.print(fitting: 30)
        }
        #expect(narrow.hasPrefix("— 1 —\ncolumn0  value number 0\n"))
    }

    private func collected(_ body: () -> Void) -> String {
        let collector = Console.Collector()
        Console.$collector.withValue(collector) { body() }
        return collector.content
    }
}
