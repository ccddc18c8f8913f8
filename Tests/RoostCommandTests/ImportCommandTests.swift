import Foundation
import Testing

@testable import RoostCommand

/// `roost import` and `roost export`.
@Suite struct ImportCommandTests {
    let tool = Tool()

    /// Imports `lines` from a file.
    private func importing(_ lines: String, _ options: String...) throws -> (status: Int32, output: String) {
        let file = tool.path + ".jsonl"
        try lines.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let collector = Console.Collector()
        let status = Console.$collector.withValue(collector) {
            RoostTool.run(["import", tool.path, file] + options)
        }
        return (status, collector.content)
    }

    @Test func whatIsExportedIsWhatWasImported() throws {
        let lines = #"{"_id":"a","v":1}"# + "\n" + #"{"_id":"b","v":[2.0,null,"é"]}"# + "\n"
        let report = try importing(lines)
        #expect(report.status == 0 && report.output.contains("2 documents imported in "))
        #expect(tool.output("export") == lines)
    }

    @Test func oneDocumentIsOne() throws {
        #expect(try importing(#"{"v":1}"#).output.contains("1 document imported in "))
        #expect(tool.output("count") == "1\n")
        #expect(try importing("\n \n").output.contains("0 documents imported in "))
    }

    @Test func batchesBeforeABadLineAreStored() throws {
        let lines = ["a", "b", "c"].map { #"{"_id":"\#($0)"}"# }.joined(separator: "\n") + "\n{\n"
        let report = try importing(lines, "--batch", "2")
        #expect(report.status == 1 && report.output.contains("Line 4, column 2: "))
        #expect(tool.output("count") == "2\n")
    }

    @Test func badLinesAreLeftOutWhereOneSaysSo() throws {
        let report = try importing("{\n" + #"{"_id":"a"}"# + "\n[]\n", "--on-error", "continue")
        #expect(
            report.status == 1 && report.output.contains("Line 1, column 2: ")
                && report.output.contains("Line 3: "))
        #expect(report.output.contains("1 document imported in "))
        #expect(report.output.contains("2 documents were left out."))
        #expect(tool.output("count") == "1\n")
    }

    /// More text than is parsed at once.
    @Test func whatIsParsedAheadIsStoredInOrder() throws {
        let padding = String(repeating: "x", count: 400)
        var lines = (0..<3000).map { #"{"_id":"\#($0 % 2900)","n":\#($0),"p":"\#(padding)"}"# }
        #expect(try importing(lines.joined(separator: "\n")).output.contains("3,000 documents imported in "))
        #expect(tool.output("count") == "2900\n")
        #expect(tool.output("get", "99").contains(#""n":2999"#))
        #expect(tool.output("get", "100").contains(#""n":100,"#))
        lines[2499] = "["
        let report = try importing(lines.joined(separator: "\n"))
        #expect(report.status == 1 && report.output.contains("Line 2500, "))
        #expect(tool.output("get", "99").contains(#""n":99,"#))
    }

    @Test func anyPropertyMayBeTheID() throws {
        _ = try importing(#"{"n":7}"# + "\n" + #"{"n":"x"}"#, "--id-field", "n")
        #expect(tool.output("ls").split(separator: "\n").count == 2)
        #expect(tool.run("get", "7").status == 0 && tool.run("get", "x").status == 0)
        let report = try importing(#"{"n":1.5}"#, "--id-field", "n")
        #expect(report.status == 1 && report.output.contains("no string or whole number"))
    }

    // MARK: Arrays

    @Test func anArrayIsADocumentForEachElement() throws {
        let array = "\u{FEFF} [\n {\"_id\":\"a\",\"v\":\"],{\\\"\"},\n{\"_id\":\"b\",\"v\":[[1]]} ] \n"
        #expect(try importing(array, "--format", "array").status == 0)
        #expect(
            tool.output("export") == #"{"_id":"a","v":"],{\""}"# + "\n" + #"{"_id":"b","v":[[1]]}"# + "\n")
        #expect(try importing("[]").output.contains("0 documents"))
        #expect(try importing(#"[{"_id":"c"}]"#).status == 0, "an array is known by its first character")
        #expect(tool.output("count") == "3\n")
    }

    @Test func aBlankBeforeAnArrayIsNone() throws {
        #expect(try importing(" \n\t[{\"_id\":\"a\"},\n {\"_id\":\"b\"}]").status == 0)
        #expect(tool.output("count") == "2\n")
        #expect(try importing("\n  {\"_id\":\"c\"}\n{}\n").status == 0)
        #expect(tool.output("count") == "4\n")
    }

    @Test func numbersAreIDsWhereOneSaysSo() throws {
        let lines = #"{"_id":7,"v":1}"# + "\n" + #"{"_id":"x","v":2}"# + "\n"
        #expect(try importing(lines).status == 1)
        #expect(tool.output("count") == "0\n")
        #expect(try importing(lines, "--number-ids").status == 0)
        #expect(tool.output("export") == #"{"_id":"7","v":1}"# + "\n" + #"{"_id":"x","v":2}"# + "\n")
        #expect(try importing(#"{"_id":1.5}"#, "--number-ids").status == 1)
    }

    @Test(arguments: [
        ("[{\"a\":1},\n  {\"b\":x}]", "Line 2, column 8: "), ("[{}, 1]", "Line 1: "),
        ("[{}", "Line 1, column 4: "),
        ("[{}] x", "Line 1, column 6: "), ("[{},]", "Line 1, column 5: "), ("\n{\n", "Line 2, column 2: "),
        ("{\"a\":\n", "Line 1, column 6: "),
    ])
    func errorsNameTheirPlaceOnce(text: String, place: String) throws {
        let report = try importing(text)
        #expect(report.status == 1 && report.output.hasPrefix("roost: \(place)"), "\(report.output)")
        #expect(report.output.lowercased().matches(of: /line \d/).count == 1, "\(report.output)")
    }

    @Test func wrongUseIsExplained() throws {
        #expect(try importing("a\n1\n", "--format", "csv", "--types", "a=date").status == 2)
        #expect(
            try importing("a\n1\n", "--format", "csv", "--types", "b=text").output.contains("no column \"b\"")
        )
        #expect(
            try importing("a\nx\n", "--format", "csv", "--types", "a=number").output.contains("no number"))
        #expect(try importing("{}", "--types", "a=text").status == 2)
        #expect(try importing("{}", "--format", "xml").status == 2)
        #expect(tool.run("import", "/").output.contains("is a directory"))
        #expect(tool.run("import", "/nowhere/at/all").output.contains("No such file"))
    }
}
