import ChildProcesses
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

// MARK: - CSVImportTests

/// `roost import` of CSV, and `roost export` to it.
@Suite struct CSVImportTests {
    let tool = Tool()

    /// Imports a file of CSV.
    private func importing(
        _ content: some Sequence<UInt8>, _ options: String..., into other: Tool? = nil
    ) throws -> (status: Int32, output: String) {
        let file = tool.path + ".csv"
        try Data(Array(content)).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        return tool.run(["import", (other ?? tool).path, file] + options)
    }

    private func importing(_ text: String, _ options: String...) throws -> (status: Int32, output: String) {
        let file = tool.path + ".csv"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        return tool.run(["import", tool.path, file] + options)
    }

    @Test func csvBecomesDocuments() throws {
        let text =
            "_id,name,stars,seen,zip,note\r\n7,\"Swift, \"\"common\"\"\",3,true,01234,\"two\nlines\"\r\n8,Owl,,,99,\"5\"\r\n\r\n"
        #expect(try importing(text).status == 0)
        #expect(
            tool.output("export").split(separator: "\n") == [
                #"{"_id":"7","name":"Swift, \"common\"","note":"two\nlines","seen":true,"stars":3,"zip":"01234"}"#,
                #"{"_id":"8","name":"Owl","note":"5","zip":"99"}"#,
            ])
    }

    @Test func columnsThatDifferInTheirNormalFormAreApart() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let text = "_id,\(composed),\(decomposed)\na,1,2\n"
        #expect(try importing(text, "--types", "\(decomposed)=text").status == 0)
        let stored = tool.output("get", "a").utf8
        #expect(stored.contains("\"\(composed)\":1".utf8) && stored.contains("\"\(decomposed)\":\"2\"".utf8))
        let unknown = try importing("\(composed)\n1\n", "--types", "\(decomposed)=text")
        #expect(unknown.status == 1 && unknown.output.contains("There is no column"))
    }

    @Test func typesAndSeparatorsMayBeGiven() throws {
        let text = "key;zip;on;tags\na;99;1;[1,2]\n"
        let report = try importing(text, "--id-field", "key", "--types", "zip=text,on=bool,tags=json")
        #expect(report.status == 0, "\(report.output)")
        #expect(tool.output("get", "a").contains(#""on":true,"tags":[1,2],"zip":"99"}"#))
    }

    @Test(arguments: [
        ("a,b\n1,2,3\n", "Line 2: 3 fields where the first line names 2"), ("a,a\n", "the same name"),
        ("a\n\"x", "never closed"), ("", "is empty"), ("a,,b\n", "has no name"),
    ])
    func badCSVIsExplained(text: String, message: String) throws {
        let report = try importing(text)
        #expect(report.status == 1 && report.output.contains(message), "\(report.output)")
    }

    @Test(arguments: ["\n", "\r\n", "\r", "\u{2028}", "\u{2029}", "\u{85}"])
    func anyEndOfALineEndsARecord(end: String) throws {
        let text = ["_id,v,note", "a,1,\"two\(end)lines\"", "b,2,", "c,3"].joined(separator: end)
        for text in [text, text + end, text + end + end] {
            let report = try importing(text)
            #expect(report.status == 0 && report.output.contains("3 documents"), "\(report.output)")
            let lines = tool.output("export").split(separator: "\n")
            #expect(
                lines.map { $0.prefix(18) } == [
                    #"{"_id":"a","note":"#, #"{"_id":"b","v":2}"#, #"{"_id":"c","v":3}"#,
                ])
        }
    }

    /// What ends no line of this file is a part of its texts.
    @Test func aSeparatorOfLinesInATextStays() throws {
        #expect(try importing("_id,v\na,x\u{2028}y\n").status == 0)
        #expect(tool.output("get", "a").utf8.contains("x\u{2028}y".utf8))
    }

    /// Also where the file comes in pieces.
    @Test func recordsAreTheSameWhereverTheFileIsCut() throws {
        let text = Array("a,\"b\r\n\"\"c\"\"\",d\r\n,\"\"\r\rx\n".utf8)
        func records(_ sizes: [Int]) -> [[String]] {
            var (found, rest): ([[String]], ArraySlice<UInt8>) = ([], text[...])
            var scanner = CSVScanner(separator: UInt8(ascii: ","), endsAtUnicode: false)
            while !rest.isEmpty {
                scanner.reset()
                var length: Int?
                for size in sizes where length == nil && size <= rest.count {
                    length = unsafe Array(rest.prefix(size)).withUnsafeBufferPointer {
                        unsafe scanner.scan($0, isLast: size == rest.count)
                    }
                }
                guard let length else { return found }
                let start = rest.startIndex
                found.append(
                    scanner.fields.map {
                        String(
                            decoding: CSVScanner.content(of: rest[start + $0.start..<start + $0.end]),
                            as: UTF8.self)
                    })
                rest = rest.dropFirst(length)
            }
            return found
        }
        let expected = [["a", "b\r\n\"c\"", "d"], ["", ""], [""], ["x"]]
        #expect(records(Array(1...text.count)) == expected)
    }

    // MARK: Types

    @Test(arguments: [
        (["1", "22", "-3.5"], ["1", "22", "-3.5"]), (["true", "false"], ["true", "false"]),
        (["1", "x"], [#""1""#, #""x""#]), (["007", "8"], [#""007""#, #""8""#]),
        (["+1", "2"], [#""+1""#, #""2""#]),
        (["2024-05-01", "7"], [#""2024-05-01""#, #""7""#]), (["true", "1"], [#""true""#, #""1""#]),
        (["000be5", "1e2641", "8e8813"], [#""000be5""#, #""1e2641""#, #""8e8813""#]),
        (["655e38", "1"], [#""655e38""#, #""1""#]), (["1e-400", "1"], [#""1e-400""#, #""1""#]),
        (["1e+16", "2.5e-07"], ["1e+16", "2.5e-07"]), (["1e+400", "1"], [#""1e+400""#, #""1""#]),
        (["1234567890123456", "1"], [#""1234567890123456""#, #""1""#]),
        (["\"5\"", "6"], [#""5""#, #""6""#]), (["1.", "2"], [#""1.""#, #""2""#]),
        (["NaN", "1"], [#""NaN""#, #""1""#]),
    ])
    func aColumnHasOneType(fields: [String], values: [String]) throws {
        let rows = fields.enumerated().map { "\($0),\($1)" }
        #expect(try importing("_id,v\n" + rows.joined(separator: "\n")).status == 0)
        let stored = fields.indices.map { tool.output("get", "\($0)").trimmingCharacters(in: .newlines) }
        for (text, value) in zip(stored, values) {
            let number = value.hasPrefix("\"") ? nil : Double(value)
            let found = try #require(text.components(separatedBy: "\"v\":").last?.dropLast())
            #expect(number != nil ? Double(found) == number : found == value, "\(text)")
        }
    }

    @Test func aFieldFarBehindDecidesOverItsColumn() throws {
        let rows = (0..<5000).map { "\($0),\($0)" } + ["5000,none"]
        #expect(try importing("_id,v\n" + rows.joined(separator: "\n")).status == 0)
        #expect(tool.output("get", "7").contains(#""v":"7""#))
        #expect(
            tool.output("query", "SELECT count(*) AS n FROM _ WHERE type(v) <> 'string'") == "{\"n\":0}\n")
    }

    @Test func whatComesThroughAPipeIsReadTwiceToo() throws {
        let input = "_id,v\na,1\nb,x\n"
        let result = try ChildProcess.run(
            [Tool.program, "import", tool.path, "-", "--format", "csv"], input: input)
        #expect(result.status == 0, "\(String(decoding: result.output, as: UTF8.self))")
        #expect(tool.output("get", "a").contains(#""v":"1""#))
    }

    @Test(
        arguments: [
            ("a,b\n1,2\n1,2,3\n4,5\n", nil), ("a,b\n1,2\n\u{0}\u{0}bad,2\n4,5\n", nil),
            ("a,b\n1,2\nx,2\n4,5\n", "a=number"),
        ] as [(String, String?)])
    func aBadRecordIsLeftOutWhereOneSaysSo(text: String, types: String?) throws {
        // No text is not UTF-8, so one is made so.
        let bytes = text.utf8.map { $0 == 0 ? 0xE9 : $0 }
        let file = tool.path + ".csv"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let more = types.map { ["--types", $0] } ?? []
        let report = tool.run(["import", tool.path, file, "--on-error", "continue"] + more)
        #expect(report.status == 1 && report.output.contains("Line 3: "), "\(report.output)")
        #expect(
            report.output.contains("2 documents imported")
                && report.output.contains("1 document was left out."))
        #expect(tool.run(["import", tool.path, file] + more).output.contains("Line 3: "))
    }

    // MARK: Export

    /// A program that is given what was written has what was there.
    private func comesBack(_ lines: String, through name: String) throws {
        let (file, other) = (tool.path + name, Tool())
        defer { try? FileManager.default.removeItem(atPath: file) }
        let source = tool.path + ".jsonl"
        try Data(lines.utf8).write(to: URL(fileURLWithPath: source))
        defer { try? FileManager.default.removeItem(atPath: source) }
        #expect(tool.run(["import", tool.path, source]).status == 0)
        let export = tool.run(["export", tool.path, file])
        #expect(export.status == 0, "\(export.output)")
        let types = export.output.components(separatedBy: "--types ").dropFirst().first.map {
            ["--types", String($0.prefix { $0 != "\n" }.dropLast())]
        }
        #expect(tool.run(["import", other.path, file] + (types ?? [])).status == 0)
        #expect(other.output("export") == tool.output("export"))
    }

    @Test(arguments: [".csv", ".csv.gz", ".tsv", ".jsonl.gz"])
    func whatWentOutComesIn(name: String) throws {
        let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Samples/cities.jsonl")
        let cities = try String(contentsOf: sample, encoding: .utf8).split(separator: "\n").prefix(300)
        try comesBack(cities.joined(separator: "\n"), through: name)
    }

    @Test func valuesOfAllKindsComeBack() throws {
        let lines = [
            #"{"_id":"1","text":"5","mixed":1,"big":12345678901234567890,"on":true,"list":[1,"2"],"empty":""}"#,
            #"{"_id":"01","text":"true","mixed":"1","big":1,"on":false,"list":{"a":"\"b\""},"empty":"x"}"#,
            #"{"_id":"a,b","text":" x ","mixed":null,"double":1.5,"lines":"a\r\nb\u2028c","quote":"\"\"\""}"#,
            #"{"_id":"none","text":"null","double":1e300,"quote":"=1+1;\t"}"#,
        ]
        let lossless = lines.map { $0.replacingOccurrences(of: #""mixed":null,"#, with: "") }
        try comesBack(lossless.joined(separator: "\n"), through: ".csv")
    }

    @Test func rowsOfAQueryComeBack() throws {
        _ = tool.output("put", "a", #"{"code":"007","n":1.5,"on":true,"t":"x, y"}"#)
        let text = tool.output("query", "SELECT _id, code, n, `on`, t, lacking FROM _", "--csv")
        #expect(text == "_id,code,n,on,t,lacking\r\na,007,1.5,true,\"x, y\",\r\n")
        let other = Tool()
        #expect(try importing(text.utf8, into: other).status == 0)
        #expect(other.output("export") == tool.output("export"))
    }
}
