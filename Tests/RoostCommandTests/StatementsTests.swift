import Testing

@testable import RoostCommand

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
