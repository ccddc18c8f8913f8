import Roost
import Testing

@testable import RoostQuery

/// `*`, SELECT VALUE, and what names mean in them.
@Suite struct StarTests {
    private let fixture: QueryFixture

    init() throws {
        fixture = try QueryFixture()
        try fixture.fill(
            "people",
            [#"{"_id":"p1","name":"Ada","city":"c1"}"#, #"{"_id":"p2","name":"Bo","tags":["a","b"]}"#])
        try fixture.fill("cities", [#"{"_id":"c1","name":"Oslo"}"#])
    }

    private func table(_ text: String) throws -> [String] {
        let query = try fixture.database.query(text)
        let spread = try #require(SpreadRows(query))
        var columns = SpreadRows.Columns()
        let rows = try query.fetch().map(spread.values(of:))
        for row in rows { try columns.add(row) }
        return [columns.names.joined(separator: " ")]
            + rows.map { row in
                columns.values(row).map { $0.exists ? $0.json(.canonical) : "-" }.joined(separator: " ")
            }
    }

    @Test(arguments: [
        ("SELECT * FROM people", ["city name tags", #""c1" "Ada" -"#, #"- "Bo" ["a","b"]"#]),
        (
            "SELECT META().id, * FROM people",
            ["id city name tags", #""p1" "c1" "Ada" -"#, #""p2" - "Bo" ["a","b"]"#]
        ),
        // A column of the query keeps its name.
        ("SELECT 1 AS name, * FROM cities", ["name cities.name", #"1 "Oslo""#]),
        (
            "SELECT * FROM people p JOIN cities c ON META(c).id = p.city",
            ["p.city p.name c.name", #""c1" "Ada" "Oslo""#]
        ),
        ("SELECT p.* FROM people p WHERE p.name = 'Ada'", ["city name", #""c1" "Ada""#]),
        ("SELECT t.* FROM (SELECT name AS n FROM cities) AS t", ["n", #""Oslo""#]),
        (
            "SELECT * FROM people UNNEST people.tags AS tag ORDER BY tag",
            ["people.name people.tags tag", #""Bo" ["a","b"] "a""#, #""Bo" ["a","b"] "b""#]
        ),
        ("SELECT * FROM cities UNION SELECT * FROM cities", ["name", #""Oslo""#]),
    ])
    func starIsSpread(_ text: String, _ rows: [String]) throws {
        #expect(try table(text) == rows)
    }

    @Test func rowsHaveTheDocument() throws {
        #expect(try fixture.rows("SELECT * FROM cities") == [#"{"name":"Oslo"}"#])
        #expect(try fixture.database.query("SELECT * FROM cities").columnNames == ["cities"])
        #expect(SpreadRows(try fixture.database.query("SELECT cities FROM cities")) == nil)
        let query = try fixture.database.query("SELECT 1 AS name, * FROM cities")
        let row = try #require(try query.first())
        #expect(SpreadRows(query)?.json(of: row) == #"{"cities.name":"Oslo","name":1}"#)
    }

    @Test(arguments: [
        ("SELECT VALUE name FROM people ORDER BY name", [#""Ada""#, #""Bo""#]),
        ("SELECT RAW {'n': name} FROM cities", [#"{"n":"Oslo"}"#]),
        ("SELECT DISTINCT VALUE 1 FROM people", ["1"]),
        ("SELECT VALUE city FROM people ORDER BY META().id", [#""c1""#, "null"]),
        (
            "SELECT VALUE name FROM people UNION SELECT VALUE name FROM cities ORDER BY name DESC LIMIT 1",
            [#""Oslo""#]
        ),
        // In FROM the value is the row.
        ("SELECT VALUE t FROM (SELECT VALUE name FROM cities) AS t", [#""Oslo""#]),
        ("SELECT VALUE t.name FROM (SELECT VALUE c FROM cities AS c) AS t", [#""Oslo""#]),
    ])
    func valuesAreRows(_ text: String, _ rows: [String]) throws {
        #expect(try fixture.database.query(text).fetch().map { $0.json() } == rows)
    }

    @Test func valuesAreDecoded() throws {
        #expect(
            try fixture.database.query("SELECT VALUE name FROM people ORDER BY name").fetch(as: String.self)
                == ["Ada", "Bo"])
    }

    @Test func valueIsANameElsewhere() throws {
        try fixture.fill("v", [#"{"value":2,"raw":[7]}"#])
        #expect(try fixture.rows("SELECT value FROM v") == ["2"])
        #expect(try fixture.rows("SELECT value, raw[0] FROM v WHERE value NOT IN (3)") == ["[2,7]"])
        #expect(
            try fixture.rows("SELECT value NOT IN (3), value * 2 AS x, value AS y FROM v") == ["[true,4,2]"])
        #expect(
            QueryFixture.message { _ = try fixture.rows("SELECT VALUE a, b FROM v") }
                == "column 19: SELECT VALUE yields one value, and so has one column")
    }

    @Test func moreColumnsThanATableHasAreAnError() throws {
        let properties = (0...SpreadRows.Columns.most).map { "\"p\($0)\":1" }.joined(separator: ",")
        try fixture.fill("wide", ["{\(properties)}"])
        #expect(QueryFixture.message { _ = try table("SELECT * FROM wide") }.contains("different properties"))
    }
}
