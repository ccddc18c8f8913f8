import Roost
import RoostQuery
import Testing

/// Names in a query that stand for columns, and for collections with their scopes.
@Suite struct SelectNamesTests {
    private let fixture: QueryFixture

    init() throws {
        fixture = try QueryFixture([
            #"{"_id":"a","dict":{"key1":1,"key2":2},"list":[1,2],"name":"Ada"}"#,
            #"{"_id":"b","dict":{"key1":2,"key2":1},"list":[2,1],"name":"bob"}"#,
        ])
    }

    @Test(arguments: [
        ("SELECT META().id, dict.key2 AS answer FROM _ WHERE answer = 1", [#"["b",1]"#]),
        ("SELECT META().id, dict.key2 AS dict2 FROM _ WHERE dict2 = 1 OR dict2 = 7", [#"["b",1]"#]),
        ("SELECT dict AS answer FROM _ WHERE answer.key1 = 1", [#"{"key1":1,"key2":2}"#]),
        ("SELECT META().id AS id, list AS answer FROM _ WHERE answer[1] = 1", [#"["b",[2,1]]"#]),
        ("SELECT META().id AS id FROM _ AS d WHERE id = 'a'", [#""a""#]),
        ("SELECT META().id, list AS answer FROM _ ORDER BY answer[1]", [#"["b",[2,1]]"#, #"["a",[1,2]]"#]),
        ("SELECT META().id, dict.key1 AS k FROM _ ORDER BY 0 - k", [#"["b",2]"#, #"["a",1]"#]),
        (
            "SELECT list[0] + 1 AS first, count(*) AS n FROM _ GROUP BY first HAVING n > 0 AND first > 2",
            ["[3,1]"]
        ),
        // The property, where a column of its name is made of it.
        ("SELECT lower(name) AS name FROM _ WHERE name = 'Ada'", [#""ada""#]),
        ("SELECT lower(name) AS name FROM _ ORDER BY name DESC", [#""bob""#, #""ada""#]),
        // A variable of the same name is what it was made for.
        (
            "SELECT META().id, dict.key1 AS e FROM _ WHERE ANY e IN list SATISFIES e = 2 END AND e = 1",
            [#"["a",1]"#]
        ),
        // Aggregates are of groups, so a name in WHERE or within another one is that of a property.
        (
            "SELECT count(*) AS list FROM _ WHERE list[0] > 0 GROUP BY dict.key1 HAVING max(list[0]) > 1 AND list = 1",
            ["1"]
        ),
        // A source's name stays one.
        ("SELECT d.dict.key1 AS d, META(d).id FROM _ AS d WHERE d.dict.key1 = 2", [#"[2,"b"]"#]),
    ])
    func columnsAreKnownByTheirNames(_ text: String, _ rows: [String]) throws {
        #expect(try fixture.rows(text) == rows)
    }

    @Test func columnsAreKnownInTheJSONSchema() throws {
        let json = #"{"WHAT": [["AS", [".dict.key2"], "answer"]], "WHERE": ["=", [".answer"], 1]}"#
        #expect(try fixture.rows(json: json) == ["1"])
        let path = #"{"WHAT": [[".", "list", [1]], ["$", 7]], "WHERE": ["=", [".list[0]"], 2]}"#
        #expect(try fixture.rows(json: path, ["7": "x"]) == [#"[1,"x"]"#])
    }

    @Test func anIndexAnswersAColumn() throws {
        let notes = try fixture.database.defaultCollection
        try notes.createIndex("key", on: "dict.key2")
        let query = try fixture.database.query("SELECT dict.key2 AS answer FROM _ WHERE answer = 1")
        #expect(try query.explain().description.contains("key: it would read 1 of its rows"))
    }

    @Test func collectionsAreKnownWithTheirScopes() throws {
        let people = try fixture.database.collection("people", scope: "crm")
        try fixture.database.write { batch in
            try batch.save(json: #"{"name":"x","tags":["p","q"]}"#, id: "one", in: people)
        }
        for (text, rows) in [
            ("SELECT crm.people.name FROM crm.people", [#""x""#]),
            ("SELECT META(crm.people).id FROM crm.people WHERE crm.people.name = 'x'", [#""one""#]),
            ("SELECT META(`crm.people`).id FROM crm.people ORDER BY crm.people.name", [#""one""#]),
            ("SELECT t FROM crm.people UNNEST crm.people.tags AS t", [#""p""#, #""q""#]),
            ("SELECT p.name FROM crm.people AS p WHERE crm.people.name = 'x'", []),
        ] {
            #expect(try fixture.rows(text) == rows, "\(text)")
        }
    }

    @Test func equalColumnsAreToldByTheirCollation() throws {
        try fixture.fill("words", [#"{"n":"Abc"}"#, #"{"n":"aBC"}"#, #"{"n":"abd"}"#])
        #expect(try fixture.rows("SELECT DISTINCT n COLLATE NOCASE FROM words") == [#""Abc""#, #""abd""#])
        #expect(try fixture.rows("SELECT DISTINCT n FROM words").count == 3)
    }

    @Test func namesMayHaveDollars() throws {
        try fixture.fill("prices", [#"{"usd$":3,"a$b":4}"#])
        #expect(try fixture.rows("SELECT usd$, a$b FROM prices WHERE usd$ = $p", ["p": 3]) == ["[3,4]"])
    }

    @Test func severalWordsOfCollateNeedParentheses() throws {
        #expect(
            QueryFixture.message { _ = try fixture.rows("SELECT name COLLATE UNICODE NOCASE FROM _") }
                == "column 29: Several words after COLLATE stand in parentheses: COLLATE (… NOCASE)"
        )
    }
}
