import Roost
import RoostQuery
import Testing

/// UNION, INTERSECT, EXCEPT and WITH.
@Suite struct SetOperationTests {
    private let fixture: QueryFixture

    init() throws {
        fixture = try QueryFixture()
        try fixture.fill("a", (0..<6).map { #"{"n":\#($0 % 4),"s":"x\#($0 % 4)"}"# })
        try fixture.fill("b", (2..<8).map { #"{"n":\#($0),"s":"x\#($0)"}"# })
    }

    @Test(arguments: [
        ("SELECT n FROM a UNION SELECT n FROM b ORDER BY n", ["0", "1", "2", "3", "4", "5", "6", "7"]),
        (
            "SELECT n FROM a UNION ALL SELECT n FROM a WHERE n = 0 ORDER BY n LIMIT 5",
            ["0", "0", "0", "0", "1"]
        ),
        ("SELECT n FROM a INTERSECT SELECT n FROM b ORDER BY n DESC", ["3", "2"]),
        ("SELECT n FROM a EXCEPT SELECT n FROM b ORDER BY n", ["0", "1"]),
        (
            "SELECT n, s FROM a EXCEPT SELECT n, s FROM b WHERE n > 2 ORDER BY n LIMIT 2 OFFSET 1",
            [#"[1,"x1"]"#, #"[2,"x2"]"#]
        ),
        // INTERSECT comes before UNION, and what stands in parentheses first.
        (
            "SELECT n FROM a WHERE n = 0 UNION SELECT n FROM a INTERSECT SELECT n FROM b ORDER BY n",
            ["0", "2", "3"]
        ),
        (
            "(SELECT n FROM a WHERE n = 0 UNION SELECT n FROM a) INTERSECT SELECT n FROM b ORDER BY n",
            ["2", "3"]
        ),
        ("SELECT n AS k FROM a UNION SELECT n FROM b ORDER BY k DESC LIMIT 1", ["7"]),
        ("SELECT count(*) FROM (SELECT n FROM a UNION SELECT n FROM b) AS t", ["8"]),
        (
            "SELECT n FROM a WHERE n IN (SELECT n FROM b EXCEPT SELECT 2 AS n FROM b LIMIT 1) GROUP BY n",
            ["3"]
        ),
        (
            "SELECT x.n FROM a AS x WHERE EXISTS (SELECT n FROM b WHERE n = x.n UNION SELECT n FROM b WHERE n > 9) GROUP BY x.n",
            ["2", "3"]
        ),
        ("WITH t AS (SELECT n FROM a WHERE n > 1), u AS (SELECT max(n) AS m FROM t) SELECT m FROM u", ["3"]),
        ("WITH t AS (SELECT n FROM a) SELECT p.n FROM t AS p JOIN t AS q ON p.n = q.n WHERE p.n = 3", ["3"]),
        // They are names elsewhere.
        ("SELECT union.n FROM a AS union WHERE union.n = 3", ["3"]),
    ])
    func rowsArePutTogether(_ text: String, _ rows: [String]) throws {
        #expect(try fixture.rows(text) == rows, "\(text)")
    }

    @Test func theirColumnsAreAsMany() {
        #expect(
            QueryFixture.message { _ = try fixture.rows("SELECT n FROM a UNION SELECT n, s FROM b") }
                == "column 17: UNION takes queries of as many columns, and these have 1 and 2")
    }

    @Test(arguments: ["INTERSECT", "EXCEPT"]) func whatTheyKeepIsBounded(_ operation: String) throws {
        var query = try fixture.database.query("SELECT n FROM a \(operation) SELECT n FROM b")
        query.options.memoryLimit = 64
        let error = #expect(throws: DatabaseError.self) { try query.fetch() }
        #expect(error?.code == .limitExceeded)
    }

    @Test func whatUnionKeepsIsSpilled() throws {
        var query = try fixture.database.query("SELECT n FROM a UNION SELECT n FROM b ORDER BY n")
        query.options.memoryLimit = 64
        #expect(try QueryFixture.texts(try query.fetch()) == ["0", "1", "2", "3", "4", "5", "6", "7"])
    }

    @Test(arguments: [
        ("SELECT n FROM b WHERE n IN (WITH t AS (SELECT n FROM a) SELECT n FROM t WHERE n > 2)", ["3"]),
        ("SELECT (WITH t AS (SELECT n FROM a) SELECT max(n) FROM t) AS m FROM b LIMIT 1", ["3"]),
        (
            "SELECT n FROM b WHERE EXISTS (WITH t AS (SELECT n FROM a) SELECT 1 FROM t WHERE t.n = b.n)",
            ["2", "3"]
        ),
        ("SELECT t.n FROM (WITH u AS (SELECT n FROM a) SELECT max(n) AS n FROM u) AS t", ["3"]),
        // Names of WITH are known in queries within.
        ("WITH t AS (SELECT n FROM a WHERE n > 1) SELECT n FROM b WHERE n IN (SELECT n FROM t)", ["2", "3"]),
        ("SELECT with.n FROM a AS with WHERE with.n = 3", ["3"]),
    ])
    func withIsInAnyQuery(_ text: String, _ rows: [String]) throws {
        #expect(try fixture.rows(text) == rows, "\(text)")
    }

    /// Each query of WITH names the one before twice, so that there are twice as many each time.
    @Test func queriesThatMultiplyAreRefused() {
        var text = "WITH t0 AS (SELECT n FROM a)"
        for number in 1...40 {
            text +=
                ", t\(number) AS (SELECT x.n FROM t\(number - 1) AS x JOIN t\(number - 1) AS y ON x.n = y.n)"
        }
        let message = QueryFixture.message { _ = try fixture.rows(text + " SELECT n FROM t40") }
        #expect(message.hasPrefix("The statement comes to more than 1000 queries"))
    }

    @Test func queriesWithinEachOtherAreBounded() {
        var text = "WITH t0 AS (SELECT n FROM a)"
        for number in 1...20_000 { text += ", t\(number) AS (SELECT n FROM t\(number - 1))" }
        let message = QueryFixture.message { _ = try fixture.rows(text + " SELECT n FROM t20000") }
        #expect(message.hasPrefix("The statement comes to more than 1000 queries"))
    }

    @Test func theirPlansAreShown() throws {
        let steps = try fixture.database.query("SELECT n FROM a UNION SELECT n FROM b").explainAnalyze().steps
        #expect(
            steps.map { "\($0.depth) \($0.operation) \($0.rows ?? -1)" } == [
                "0 QUERY 12", "1 SCAN 6", "1 SCAN 6", "0 DISTINCT -1",
            ])
    }
}
