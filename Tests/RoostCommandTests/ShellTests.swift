import ChildProcesses
import Foundation
import Roost
import RoostQuery
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

// MARK: - HabitsTests

/// What other shells take is answered with what this one does.
@Suite struct HabitsTests {
    @Test(arguments: [
        (".headers on", "mode table"), ("show create table x", "DESCRIBE"), ("\\copy x", "import FILE"),
        ("INSERT INTO notes VALUES (1)", "put ID JSON"),
        ("UPDATE notes SET a = 1", "put ID JSON"), ("DELETE FROM notes", "rm ID"),
        ("CREATE INDEX x ON notes(a)", "index create"), ("DROP INDEX x", "index drop"),
        ("BEGIN", "transaction"),
        ("db.notes.find({})", "SQL++"),
    ])
    func aHabitIsPointedOn(typed: String, here: String) {
        #expect(Habits.pointer(for: typed)?.contains(here) == true)
    }

    @Test(arguments: [
        (".tables", "lscoll"), ("\\dt", "lscoll"), ("show  TABLES", "lscoll"),
        ("\\d notes", "DESCRIBE notes"),
        (".schema", "DESCRIBE _"), ("show indexes", "index list"), (".import x.csv", "import x.csv"),
        (".import x.csv notes", "import x.csv --collection notes"), (".dump out.json", "export out.json"),
    ])
    func aNameOfAnotherShellIsTranslated(typed: String, here: String) throws {
        #expect(try Habits.translation(of: typed)?.text == here)
    }

    @Test func otherWordsAreNone() throws {
        for word in ["beginning", "dba", "\\dtx", "shows", "count"] {
            #expect(Habits.pointer(for: word) == nil)
            #expect(try Habits.translation(of: word) == nil)
        }
    }

    @Test func synonymsAreWords() {
        for name in ["exit", "QUIT", ".quit", "\\q"] { #expect(ShellWord(typed: name) == .exit) }
        for name in [".mode", "MODE"] { #expect(ShellWord(typed: name) == .mode) }
        for name in ["read", ".read", "\\i"] { #expect(ShellWord(typed: name) == .read) }
        for name in ["help", ".help", "\\?", "?"] { #expect(ShellWord(typed: name) == .help) }
        #expect(ShellWord(typed: "explain") == nil)
    }

    @Test func messagesKeepBackslashesAndEndWithAStop() {
        #expect(ShellHelp.unknown("\\foo") == "There is no command \"\\foo\". See `help`.")
        #expect(
            ShellHelp.unknown("selct") == "There is no command \"selct\"; did you mean SELECT? See `help`.")
    }
}

// MARK: - StatementsTests

/// Lines are cut into queries, which go on, and commands, which don't.
@Suite struct StatementsTests {
    private func cut(_ lines: String...) -> [String] {
        var statements = Statements()
        let found = lines.flatMap { statements.take($0) } + statements.finish()
        return found.map { "\($0.line) \($0.kind == .query ? "Q" : "C") \($0.text)" }
    }

    @Test func aQueryGoesOnToASemicolonAnEmptyLineOrTheEnd() {
        #expect(
            cut("SELECT a", "FROM _", "WHERE a > 1;", "count") == [
                "1 Q SELECT a\nFROM _\nWHERE a > 1", "4 C count",
            ])
        #expect(cut("explain select a", "  ", "count") == ["1 Q explain select a\n", "3 C count"])
        #expect(cut("count", "SELECT a") == ["1 C count", "2 Q SELECT a\n"])
    }

    @Test func statementsOnALineArePartedBySemicolons() {
        #expect(
            cut("use n; SELECT 1; SELECT 2", ";count;; ;") == [
                "1 C use n", "1 Q SELECT 1", "1 Q SELECT 2\n", "2 C count",
            ])
        #expect(cut("exit;") == ["1 C exit"])
        #expect(cut(";", "  ") == [])
    }

    @Test func semicolonsInQuotationMarksAndCommentsEndNothing() {
        #expect(
            cut(#"SELECT 'a;'';', ";", `x;` -- ; "#, "/* ; */ ;") == [
                "1 Q SELECT 'a;'';', \";\", `x;` -- ; \n/* ; */ "
            ])
        #expect(
            cut(#"put a {"x":"a;b"}; get 'c;d' e\;f"#) == [#"1 C put a {"x":"a;b"}"#, #"1 C get 'c;d' e\;f"#])
    }

    @Test func textAndCommentsSpanLines() {
        #expect(cut("SELECT 'a", "", "b;' /* c", "", "; */, 1;") == ["1 Q SELECT 'a\n\nb;' /* c\n\n; */, 1"])
        #expect(cut("-- x", "/* y", ";", "*/ SELECT 1; # z", "# SELECT 2") == ["4 Q SELECT 1"])
    }

    @Test func whatIsOpenIsKnown() {
        var statements = Statements()
        _ = statements.take("SELECT `a")
        #expect(statements.open == .quoted("`"))
        _ = statements.take("`, /*")
        #expect(statements.open == .comment)
        _ = statements.take("*/ 1")
        #expect(statements.open == .query)
        statements.drop()
        #expect(statements.open == .nothing && statements.finish().isEmpty)
        #expect(statements.take("selected").map(\.kind) == [.command])
    }

    @Test func explainIsTakenOffAndKeepsPlaces() {
        #expect(ExplainedQuery("SELECT 1").explains == .no)
        #expect(ExplainedQuery("Explain SELECT 1").explains == .plan)
        let query = ExplainedQuery("EXPLAIN\nanalyze SELECT 1")
        #expect(query.explains == .analysis && query.text == "       \n        SELECT 1")
    }
}

// MARK: - ShellCompletionTests

/// What Tab offers.
@Suite struct ShellCompletionTests {
    private let tool = Tool()
    private let session: ShellSession

    init() throws {
        _ = tool.output("put", "city-1", #"{"title":"Rome","we-ird":1}"#)
        _ = tool.output("put", "city-2", #"{"title":"Oslo"}"#)
        _ = tool.output("mkcoll", "notes")
        _ = tool.output("index", "create", "bytitle", "--on", "title")
        _ = tool.output("index", "create", "words", "--text", "title")
        session = ShellSession(
            path: tool.path, try Database.open(tool.path, options: DatabaseOptions(isReadOnly: true)),
            collection: nil,
            mode: .table)
        session.parameters["least"] = 1
    }

    private func words(_ text: String) -> [String] { ShellCompletion(session).completions(of: text).words }

    @Test func commandsAreCompletedByTheirArguments() {
        #expect(words("ind") == ["index"])
        #expect(words("get city-") == ["city-1", "city-2"])
        #expect(
            ShellCompletion(session).completions(of: "get city-1")
                == Completion(words: ["city-1"], replaced: 6))
        #expect(words("search ") == ["words"])
        #expect(words("index d") == ["drop"])
        #expect(words("index drop ") == ["bytitle", "words"])
        #expect(words("use ") == ["_default", "notes"])
        #expect(words("ls --collection n") == ["notes"])
        #expect(words("mode c") == ["chart", "csv"])
        #expect(words("count; ge") == ["get"])
    }

    @Test func viewsAndFilesAreCompleted() throws {
        let directory = tool.path + "-files"
        try FileManager.default.createDirectory(atPath: directory + "/sub", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try Data().write(to: URL(fileURLWithPath: directory + "/n.jsonl"))
        #expect(words("import \(directory)/n") == [directory + "/n.jsonl"])
        #expect(words("import \(directory)/") == [directory + "/n.jsonl", directory + "/sub/"])
        let design =
            #"{"language":"query","views":{"all":{"map":{"fields":{"title":"asc"}},"reduce":"_count"}}}"#
        #expect(tool.run("put", "_design/d", design).status == 0)
        #expect(words("view ") == ["d/all"])
    }

    @Test func queriesOfferWhatMayFollowFirst() {
        #expect(words("SELECT title FROM _ ").prefix(2) == ["WHERE", "ORDER BY"])
        #expect(words("SELECT title FROM _ WHERE title = 'x' ").prefix(2) == ["AND", "OR"])
        #expect(words("SELECT title FROM _ ORDER BY title ").first == "DESC")
        #expect(words("SELECT title FROM _ WHERE ti") == ["title"])
        #expect(words("SELECT title ").first == "FROM")
        #expect(words("SELECT title\nFROM ") == ["_default", "notes", "_"])
        #expect(words("select title from _ wh").first == "where")
        #expect(words("SELECT title FROM _ ORD") == ["ORDER BY"])
    }

    @Test func quotedNamesAndParametersAreCompleted() {
        #expect(
            ShellCompletion(session).completions(of: "SELECT `we")
                == Completion(words: ["we-ird`"], replaced: 2))
        #expect(words("SELECT 1 FROM `no") == ["notes`"])
        #expect(words("SELECT $") == ["$least"])
    }
}
