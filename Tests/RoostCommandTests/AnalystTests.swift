import ChildProcesses
import Foundation
import Testing

@testable import RoostCommand

/// What an analyst does in the shell who comes from sqlite3 or duckdb.
@Suite struct AnalystTests {
    private let tool = Tool()
    private let directory: String

    init() throws {
        directory = tool.path + "-files"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try "code,city,people\nR,Rome,2800000\nO,Oslo,700000\nB,Bergen,290000\n".write(
            toFile: directory + "/cities.csv", atomically: true, encoding: .utf8)
        try #"{"city":"Oslo","country":"Norway"}"#.appending("\n").write(
            toFile: directory + "/more-places.ndjson", atomically: true, encoding: .utf8)
        _ = tool.output("import", directory + "/cities.csv", "--id-field", "code")
    }

    /// What the shell answers to lines from a pipe.
    private func answers(_ lines: String...) throws -> String {
        let (_, output) = try ChildProcess.run(
            [Tool.program, "shell", tool.path], input: lines.joined(separator: "\n") + "\n")
        return String(decoding: output, as: UTF8.self)
    }

    private func remove() { try? FileManager.default.removeItem(atPath: directory) }

    @Test func resultsArePrintedInManyForms() throws {
        defer { remove() }
        let query = "SELECT city, people FROM _ WHERE people > 500000 ORDER BY people;"
        #expect(
            try answers("mode markdown", query).contains(
                """
                | city |  people |
                | ---- | ------: |
                | Oslo |  700000 |
                | Rome | 2800000 |
                """))
        #expect(
            try answers(".mode box", query).contains(
                """
                ┌──────┬─────────┐
                │ city │  people │
                ├──────┼─────────┤
                │ Oslo │  700000 │
                │ Rome │ 2800000 │
                └──────┴─────────┘
                """))
        #expect(try answers(".mode tabs", query) == "city\tpeople\r\nOslo\t700000\r\nRome\t2800000\r\n")
        let chart = try answers(".mode chart", query)
        #expect(chart.contains("Oslo") && chart.contains("2800000  ██████"))
        #expect(try answers(".mode nothing", query).contains("mode takes one of"))
    }

    /// `*` is a column for each property, in every form; the document stays whole where an alias names it.
    @Test func starHasAColumnForEachProperty() throws {
        defer { remove() }
        _ = tool.output("put", "X", #"{"city":"X","area":7}"#)
        #expect(
            try answers("mode csv", "SELECT * FROM _ WHERE _id IN ('O', 'X') ORDER BY _id;")
                == "city,code,people,area\r\nOslo,O,700000,\r\nX,,,7\r\n")
        #expect(
            try answers("mode markdown", "SELECT _id, * FROM _ WHERE _id = 'X';").contains(
                "| _id | area | city |"))
        #expect(try answers("SELECT * FROM _ WHERE _id = 'X';") == "{\"area\":7,\"city\":\"X\"}\n")
        #expect(
            try answers("SELECT d FROM _ AS d WHERE _id = 'X';") == "{\"d\":{\"area\":7,\"city\":\"X\"}}\n")
        #expect(try answers("SELECT VALUE city FROM _ WHERE _id = 'X';") == "\"X\"\n")
        #expect(
            try answers("mode csv", "SELECT * FROM '\(directory)/more-places.ndjson';")
                == "city,country\r\nOslo,Norway\r\n")
    }

    @Test func manyNumbersAreCountedInRanges() throws {
        defer { remove() }
        let documents = (0..<1000).map { "{\"n\":\($0 % 100)}\n" }.joined()
        try documents.write(toFile: directory + "/numbers.ndjson", atomically: true, encoding: .utf8)
        let chart = try answers("mode chart", "SELECT n FROM '\(directory)/numbers.ndjson';")
        #expect(chart.contains("How many of 1000 rows have n in each range:"))
        #expect(chart.split(separator: "\n").count == 21)
        #expect(chart.contains("0 to 4.95"))
    }

    @Test func filesAreReadWithoutAnImport() throws {
        defer { remove() }
        let path = directory + "/cities.csv"
        #expect(try answers("SELECT city FROM '\(path)' WHERE people < 300000;") == "{\"city\":\"Bergen\"}\n")
        #expect(
            try answers(
                "SELECT c.city, p.country FROM '\(path)' c JOIN '\(directory)/more-places.ndjson' AS p ON c.city = p.city;"
            )
                == "{\"city\":\"Oslo\",\"country\":\"Norway\"}\n")
        #expect(
            try answers("SELECT cities.code FROM '\(path)' WHERE cities.people > 2000000;")
                == "{\"code\":\"R\"}\n")
        let (status, output) = tool.run(["query", ":memory:", "SELECT count(*) AS n FROM '\(path)'"])
        #expect(status == 0 && output.contains("3"))
        #expect(
            tool.run(["query", ":memory:", "SELECT 1 FROM '/nowhere.csv'"]).output.contains("/nowhere.csv"))
        #expect(
            try answers("SELECT EXTRACT(year FROM '2024-01-01') AS y FROM _ LIMIT 1;") == "{\"y\":2024}\n")
        // What is wrong is where it was typed.
        #expect(try answers("SELECT x FROM '\(path)' WERE x;").contains("did you mean WHERE?"))
    }

    @Test func collectionsAreDescribedAndSummarized() throws {
        defer { remove() }
        _ = tool.output("put", "X", #"{"city":"X","place":{"lat":1.5},"people":null}"#)
        let lines = try answers("DESCRIBE _;").split(separator: "\n")
        #expect(lines.count == 5)
        let city = try #require(lines.first { $0.contains(#""column":"city""#) })
        #expect(
            city.contains(#""type":"string""#) && city.contains(#""rows":4"#)
                && city.contains(#""missing %":0.0"#))
        let place = try #require(lines.first { $0.contains(#""column":"place.lat""#) })
        #expect(place.contains(#""type":"number""#) && place.contains(#""missing %":75.0"#))
        let summary = try answers("SUMMARIZE _;").split(separator: "\n")
        let people = try #require(summary.first { $0.contains(#""column":"people""#) })
        #expect(people.contains(#""distinct":3,"max":2800000,"min":290000"#), "\(people)")
        #expect(people.contains(#""q50":700000.0"#))
        #expect(try answers("SUMMARIZE SELECT people / 1000 AS k FROM _;").contains(#""max":2800"#))
        #expect(try answers("DESCRIBE '\(directory)/cities.csv';").contains(#""column":"code""#))
        #expect(try answers("DESCRIBE nothing;").contains("nothing"))
        #expect(try answers(".schema _") == (try answers("DESCRIBE _;")))
    }

    @Test func wordsOfOtherShellsAreUnderstood() throws {
        defer { remove() }
        #expect(try answers(".tables") == (try answers("lscoll")))
        #expect(try answers("\\dt") == (try answers("lscoll")))
        #expect(try answers(".indexes") == (try answers("index list")))
        _ = try answers(".import '\(directory)/cities.csv' copies")
        #expect(try answers("use copies", "count").contains("3"))
        #expect(try answers("help functions").contains("substr(text, start, length?)"))
        #expect(try answers(".help SUBSTRING").contains("Yields a part of the text"))
    }

    @Test func outputGoesToFilesAndStatementsComeFromThem() throws {
        defer { remove() }
        let (out, script) = (directory + "/out.txt", directory + "/script.sql")
        let rest = try answers(
            ".output \(out)", "SELECT city FROM _ WHERE _id = 'R';", "count", ".output", "count")
        #expect(rest == "3\n")
        #expect(try String(contentsOfFile: out, encoding: .utf8) == "{\"city\":\"Rome\"}\n3\n")
        #expect(try answers(".once \(out)", "count", "count") == "3\n")
        #expect(try String(contentsOfFile: out, encoding: .utf8) == "3\n")
        try "-- a script\nSELECT city\nFROM _ WHERE _id = 'O';\ncuont\ncount\n".write(
            toFile: script, atomically: true, encoding: .utf8)
        let read = try answers(".read \(script)")
        #expect(
            read.contains("{\"city\":\"Oslo\"}\n") && read.contains("\(script), line 4: There is no command"))
        #expect(read.contains("3\n"))
        try ".read \(script)\n".write(toFile: script, atomically: true, encoding: .utf8)
        #expect(try answers(".read \(script)").contains("more than 16 deep"))
        #expect(try answers(".timer on", "count").contains("Time: "))
    }

    /// A table that was imported by a key is the same table when it comes again.
    @Test func aTableIsKnownAgainByItsKey() throws {
        defer { remove() }
        try "code,city,people\nR,Roma,2800001\nN,Nice,340000\n".write(
            toFile: directory + "/cities.csv", atomically: true, encoding: .utf8)
        let (status, output) = tool.run("import", directory + "/cities.csv")
        #expect(status == 0 && output.contains("The property code has the IDs"))
        #expect(tool.output("count") == "4\n")
        #expect(tool.output("get", "R").contains("Roma"))
        // A table with other columns, and one with IDs of its own, are others.
        try "a,b\n1,2\n".write(toFile: directory + "/other.csv", atomically: true, encoding: .utf8)
        _ = tool.output("import", directory + "/other.csv")
        #expect(tool.output("count") == "5\n")
    }

    /// JSON by its key again: neither a line nor an array of the same objects doubles what is there.
    @Test(arguments: [
        #"{"code": "b1", "name": "Bern"}"# + "\n" + #"{"code": "c", "name": "Chur"}"#,
        #"[{"code": "b1", "name": "Bern"}, {"code": "c", "name": "Chur"}]"#,
    ])
    func jsonIsKnownAgainByItsKey(text: String) throws {
        let tool = Tool()
        let file = tool.path + ".json"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try #"{"code": "a", "name": "Aarau"}"#.appending("\n").appending(#"{"code": "b1", "name": "Berne"}"#)
            .write(toFile: file, atomically: true, encoding: .utf8)
        #expect(tool.run("import", file, "--id-field", "code").status == 0)
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let again = tool.run("import", file)
        #expect(
            again.status == 0 && again.output.contains("The property code has the IDs"), "\(again.output)")
        #expect(tool.output("count") == "3\n")
        #expect(tool.output("get", "b1", "--compact").contains("Bern\""))
        // Documents that say their IDs are taken at their word.
        try #"{"_id": "x", "code": "a"}"#.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(!tool.run("import", file).output.contains("The property code"))
        #expect(tool.output("count") == "4\n")
    }
}
