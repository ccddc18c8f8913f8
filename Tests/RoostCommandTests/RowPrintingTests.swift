import Testing

@testable import RoostCommand

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
