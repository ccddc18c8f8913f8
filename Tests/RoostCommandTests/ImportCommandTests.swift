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
        #expect(report.status == 1 && report.output.contains("line 4: "))
        #expect(tool.output("count") == "2\n")
    }

    @Test func badLinesAreLeftOutWhereOneSaysSo() throws {
        let report = try importing("{\n" + #"{"_id":"a"}"# + "\n[]\n", "--on-error", "continue")
        #expect(
            report.status == 1 && report.output.contains("line 1: ") && report.output.contains("line 3: "))
        #expect(report.output.contains("1 document imported in "))
        #expect(report.output.contains("2 lines were left out."))
        #expect(tool.output("count") == "1\n")
    }

    @Test func anyPropertyMayBeTheID() throws {
        _ = try importing(#"{"n":7}"# + "\n" + #"{"n":"x"}"#, "--id-field", "n")
        #expect(tool.output("ls").split(separator: "\n").count == 2)
        #expect(tool.run("get", "7").status == 0 && tool.run("get", "x").status == 0)
        let report = try importing(#"{"n":1.5}"#, "--id-field", "n")
        #expect(report.status == 1 && report.output.contains("no string or whole number"))
    }
}
