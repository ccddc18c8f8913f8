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
