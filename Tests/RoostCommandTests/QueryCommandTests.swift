import Foundation
import Testing

@testable import RoostCommand

/// `roost query` shows rows as a table, JSON or CSV.
@Suite struct QueryCommandTests {
    private let tool = Tool()

    /// What the command prints, without the last line's end.
    private func query(_ arguments: String...) -> String {
        let collector = Console.Collector()
        let status = Console.$collector.withValue(collector) {
            RoostTool.run(["query", tool.path] + arguments)
        }
        return status == 0 ? collector.content.trimmingCharacters(in: .newlines) : ""
    }

    init() {
        _ = tool.output("put", "a", #"{"name":"Anna","n":1234,"text":"x, \"y\""}"#)
        _ = tool.output("put", "b", #"{"name":"Bo","n":5}"#)
    }

    @Test func rowsAreShown() {
        #expect(query("SELECT name, n FROM _ WHERE n > 10") == #"{"n":1234,"name":"Anna"}"#)
        #expect(query("SELECT name, n FROM _", "--csv") == "name,n\r\nAnna,1234\r\nBo,5")
        #expect(query("SELECT text FROM _", "--csv") == "text\r\n\"x, \"\"y\"\"\"\r\n\"\"")
        #expect(
            query("SELECT name, n FROM _", "--table").hasPrefix(
                "name     n\nAnna  1234\nBo       5\n2 rows in "))
        #expect(query("SELECT name FROM _ WHERE n = $n", "--param", "n=5") == #"{"name":"Bo"}"#)
        #expect(query("SELECT n FROM _ WHERE name = $x", "--param", "x=Bo") == #"{"n":5}"#)
    }

    @Test func parametersAreChecked() {
        #expect(
            query("SELECT name FROM _ WHERE n = $n AND name = $m", "--param", "$n=5", "--param", "m=Bo")
                == #"{"name":"Bo"}"#)
        let unset = tool.run("query", "SELECT name FROM _ WHERE n = $min", "--param", "mni=5")
        #expect(
            unset.status == 1 && unset.output.contains("The query has no parameter $mni; did you mean min?"))
        let missing = tool.run("query", "SELECT name FROM _ WHERE n = $min")
        #expect(
            missing.status == 1
                && missing.output.contains("The parameter $min is not set. --param NAME=JSON sets it."))
        #expect(tool.run("query", "SELECT 1", "--param", "n").status == 2)
    }

    @Test func plansAreShown() {
        #expect(query("SELECT n FROM _ WHERE _id = 'a'", "--explain").hasPrefix("SEARCH _ by ID"))
        #expect(query("SELECT n FROM _", "--analyze").contains("2 rows from 2 documents in "))
    }

    @Test func indexesAreMadeListedAndDropped() {
        #expect(
            tool.run("index", "create", "by-n", "--on", "n DESC", "--where", "name IS VALUED").status == 0)
        #expect(tool.output("index", "list") == "by-n on n DESC where name IS VALUED\n")
        #expect(
            tool.output("index", "list", "--json")
                == #"{"columns":"n DESC","condition":"name IS VALUED","name":"by-n"}"# + "\n")
        #expect(query("SELECT name FROM _ WHERE n = 5 AND name IS VALUED") == #"{"name":"Bo"}"#)
        #expect(tool.run("index", "drop", "by-n").status == 0)
        let again = tool.run("index", "drop", "by-n")
        #expect(again.status == 1 && again.output.contains("no index \"by-n\""))
        #expect(tool.output("index", "list") == "")
        #expect(tool.run("index", "create", "by-n").status == 2)
        #expect(tool.run("index", "create", "by-n", "--on", "n", "--text", "name").status == 2)
    }

    @Test func whatBecameOfAnIndexIsTold() {
        #expect(
            tool.output("index", "create", "by-n", "--on", "n") == "Created index by-n on n: 2 entries.\n")
        #expect(
            tool.output("index", "create", "words", "--text", "name").hasPrefix("Created index words on name")
        )
        #expect(
            tool.run("index", "drop", "by-m").output.contains(
                "There is no index \"by-m\"; did you mean by-n?"))
        #expect(tool.output("index", "drop", "by-n") == "Dropped index by-n.\n")
    }

    @Test func mistakesAreTold() {
        let answer = tool.run("query", "SELEC n FROM _")
        #expect(answer.status == 1 && answer.output.contains("did you mean SELECT?"))
        #expect(tool.run("query", "SELECT n FROM _", "--csv", "--json").status == 2)
    }
}

// MARK: - RowPrintingTests

/// Tables and comma-separated values.
@Suite struct RowPrintingTests {
    private func collected(_ body: () -> Void) -> String {
        let collector = Console.Collector()
        Console.$collector.withValue(collector) { body() }
        return collector.content
    }

    @Test func tablesFitTheTerminal() {
        let output = collected {
            var table = TextTable(["id", "text"], fitting: 30)
            table.add(["1", String(repeating: "long ", count: 20)])
            table.add(["22", "日本"])
            table.finish()
        }
        let lines = output.split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.count <= 30 })
        #expect(lines[1].hasSuffix("…"))
        let narrow = collected {
            var table = TextTable((0..<9).map { "column\($0)" }, fitting: 30)
            table.add((0..<9).map { "value number \($0)" })
            table.finish()
        }
        #expect(narrow.hasPrefix("— 1 —\ncolumn0  value number 0\n"))
    }

    @Test func aValueThatStandsAloneTakesAllThereIs() {
        let output = collected {
            var table = TextTable(["_"], fitting: 100)
            table.add([String(repeating: "x", count: 100)])
            table.add([String(repeating: "y", count: 101)])
            table.finish()
        }
        #expect(output.contains(String(repeating: "x", count: 100)))
        #expect(output.contains("\n" + String(repeating: "y", count: 99) + "…\n"))
    }

    /// The first rows tell the widths; later ones are not waited for, and make a column wider where they need it.
    @Test func rowsArePrintedAsTheyCome() {
        let collector = Console.Collector()
        Console.$collector.withValue(collector) {
            var table = TextTable(["n", "t"], fitting: 20)
            for n in 0..<199 { table.add(["\(n)", "x"]) }
            #expect(collector.content == "")
            table.add(["199", "x"])
            #expect(collector.content.hasPrefix("  n  t\n  0  x\n"))
            table.add(["123456", "a text beyond its column"])
            #expect(collector.content.hasSuffix("\n199  x\n123456  a text beyo…\n"))
            table.finish()
            #expect(collector.content.hasSuffix("beyo…\n"))
        }
    }

    @Test func whatTerminalsObeyIsEscaped() {
        let output = collected {
            var table = TextTable(["a\u{1B}[2J"])
            table.add(["\u{1B}]0;title\u{07}\u{9B}31m\n\u{7F}"])
            table.finish()
        }
        #expect(output == #""a\u001b[2J""# + "\n" + #""\u001b]0;title\u0007\u009b31m\n\u007f""# + "\n")
        #expect(ControlCharacters.escaped(in: "é\n\t\r\u{1B}") == "é\n\t\\u000d\\u001b")
    }

    @Test func fieldsAreQuotedWhereTheyMustBe() {
        #expect(CommaSeparated.field("a \"b\u{301}\", c") == "\"a \"\"b\u{301}\"\", c\"")
        #expect(
            CommaSeparated.field("\"\u{301}").unicodeScalars.elementsEqual("\"\"\"\u{301}\"".unicodeScalars))
        for text in ["5", "-1.5e3", "true", "", " a", "a;b", "a\u{2028}"] {
            #expect(CommaSeparated.field(text) == "\"\(text)\"")
        }
        #expect(CommaSeparated.field("1a") == "1a")
        #expect(CommaSeparated.field("a\r\nb") == "\"a\r\nb\"")
        #expect(CommaSeparated.row([""]) == "\"\"")
        #expect(CommaSeparated.row(["", ""]) == ",")
    }

    @Test func numbersAreGrouped() {
        #expect(Count.text(1_000_000, "row") == "1,000,000 rows")
        #expect(Count.text(1, "row") == "1 row")
    }
}

// MARK: - JSONColoursTests

@Suite struct JSONColoursTests {
    @Test func everyKindOfTokenHasItsColour() {
        let painted = JSONColours.paint(#"{"k\"":["s\\",-1.5e+3,true,null],"":{}}"#)
        let readable = painted.replacing("\u{1B}[0m", with: ">").replacing(/\x1B\[(3\d)m/) { "<\($0.1) " }
        #expect(readable == #"{<34 "k\"">:[<32 "s\\">,<36 -1.5e+3>,<33 true>,<33 null>],<34 "">:{}}"#)
    }

    @Test(arguments: ["", "\"", "\"\\", "{\"é鍵\": 1}", "tru"])
    func theTextItselfStays(_ text: String) {
        #expect(JSONColours.paint(text).replacing(/\x1B\[\d+m/, with: "") == text)
    }
}
