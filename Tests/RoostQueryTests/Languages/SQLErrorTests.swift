import Roost
import RoostQuery
import Testing

/// What is said of queries that can't be understood.
@Suite struct SQLErrorTests {
    @Test(arguments: [
        ("SELEC name", "column 1: A query begins with SELECT, and SELEC was found; did you mean SELECT?"),
        (
            "SELECT name FROM _ WHERE ORDER BY name",
            "column 26: An expression is expected after WHERE, and the keyword ORDER was found"
        ),
        ("SELECT name FROM", "column 17: A name is expected after FROM, and the end was found"),
        ("SELECT lowr(name) FROM _", "column 8: There is no function lowr(); did you mean LOWER?"),
        (
            "SELECT name FROM _ WERE a = 1",
            "column 25: a can't follow here: the query is complete before it; did you mean WHERE?"
        ),
        ("SELECT name FROM _ GROUP name", "column 26: BY is expected after GROUP, and name was found"),
        ("SELECT (a FROM _", "column 11: \")\" is expected after the expression, and FROM was found"),
        ("SELECT 'open", "column 8: What begins here with ' is not closed by another."),
        ("SELECT a\nFROM _\nWHERE a ~ 1", "line 3, column 9: \"~\" is no part of the language."),
        ("SELECT round() FROM _", "column 8: round() takes 1 to 2 arguments, and 0 are given"),
        (
            "SELECT a & 1 FROM _",
            "column 10: There are no operators on bits. Write AND, OR or || if one of these was meant"
        ),
        ("SELECT a FROM nots", "column 15: There is no collection nots here; did you mean notes?"),
        (
            "SELECT a FROM notes n JOIN notes m ON x.a = n.a",
            "column 39: x is no name of a source, and with several of them a path begins with one: n, m; did you mean n?"
        ),
        (
            "SELECT a FROM notes JOIN notes ON true",
            "column 26: Two sources are called notes; give one of them another name with AS"
        ),
        ("SELECT META(x).id FROM _", "column 8: There is no source x; did you mean _?"),
        (
            "SELECT META().idd FROM _",
            "column 15: META() knows id, sequence, deleted, expiration, revisionID, and no idd; did you mean id?"
        ),
        ("SELECT a AS x, b AS x FROM _", "column 21: Two columns are called \"x\""),
        (
            "SELECT a FROM _ WHERE count(*) > 1",
            "column 23: count() looks at many rows, and can't stand in WHERE, ON, GROUP BY or within another one"
        ),
        (
            "SELECT a, max(b) AS m FROM _ GROUP BY m",
            "column 11: max() looks at many rows, and can't stand in WHERE, ON, GROUP BY or within another one"
        ),
        (
            "SELECT max(b + sum(c)) FROM _",
            "column 16: sum() looks at many rows, and can't stand in WHERE, ON, GROUP BY or within another one"
        ),
        (
            "SELECT a FROM _ LIMIT ten",
            "column 23: LIMIT is a number, and ten names a property: no document is meant here. Write a number or a $parameter"
        ),
        ("SELECT a FROM _ LIMIT 1 OFFSET 'x'", "column 32: OFFSET is a number, and 'x' is none"),
        (
            "SELECT a FROM _ ORDER BY a COLLATE UNICODE:xx",
            "column 44: The order of the locale \"xx\" is not known; leave the locale away for the order that is right in most languages"
        ),
        (
            "SELECT RANK(text) FROM _",
            "column 8: There is no full-text index \"text\" here: create one with createTextIndex or roost index create --text."
        ),
        ("SELECT a FROM _ LIMIT 1 LIMIT 2", "column 25: LIMIT is given twice"),
        ("SELECT a FROM _ HAVING a", "column 17: HAVING must follow GROUP BY"),
        (
            "SELECT a FROM _ a CROSS JOIN _ b ON true",
            "column 19: CROSS JOIN takes every row and has no ON; write INNER JOIN"
        ),
        (
            "SELECT a FROM _ a JOIN _ b",
            "column 27: ON is expected after what is joined, and the end was found"
        ),
        (
            "SELECT a COLLATE NOCSE FROM _",
            "column 18: One of UNICODE, NOUNICODE, CASE, NOCASE, DIAC, NODIAC is expected after COLLATE, and NOCSE was found; did you mean NOCASE?"
        ),
        (
            "SELECT a FROM _ WHERE from = 1",
            "column 23: An expression is expected after WHERE, and the keyword FROM was found"
        ),
        (
            "SELECT 12abc FROM _",
            "column 8: A number can't run into a name. Put the name in back quotes if it is one."
        ),
        (
            "SELECT 1e999 FROM _",
            "column 8: The number is beyond those that a floating-point number can hold."
        ),
        ("SELECT 'é', nope( FROM _", "column 13: There is no function nope()"),
        (
            "SELECT regexp_like(a, '(') FROM _",
            "In the regular expression, a parenthesis is not closed (character 2)"
        ),
        (
            "SELECT a FROM _ WHERE MATCH(text, 'x')",
            "column 23: There is no full-text index \"text\" here: create one with createTextIndex or roost index create --text."
        ),
    ])
    func errorsSayWhereAndWhat(_ text: String, _ message: String) throws {
        let fixture = try QueryFixture()
        try fixture.fill("notes", ["{}"])
        #expect(QueryFixture.message { _ = try fixture.database.query(text) } == message)
    }

    @Test func errorsHaveACodeAndAnOffset() throws {
        let fixture = try QueryFixture()
        let error = #expect(throws: DatabaseError.self) {
            try fixture.database.query("SELECT é FROM _ WHERE )")
        }
        #expect(error?.code == .invalidQuery)
        #expect((error?.underlyingError as? QueryError)?.offset == 23)
    }

    /// Texts that would need a deep stack.
    private static let deepTexts: [String] = [
        String(repeating: "(", count: 5000) + "1",
        "SELECT " + String(repeating: "(", count: 5000) + "1" + String(repeating: ")", count: 5000)
            + " FROM _",
        "SELECT " + String(repeating: "NOT ", count: 5000) + "1 FROM _",
        "SELECT " + String(repeating: "-", count: 4001) + " 1 FROM _",
        "SELECT 1" + String(repeating: " = 1", count: 5000) + " FROM _",
        "SELECT " + String(repeating: "[", count: 5000) + " FROM _",
        "SELECT a" + String(repeating: ".b", count: 5000) + " FROM _",
        "SELECT " + String(repeating: "CASE WHEN ", count: 5000),
        "SELECT * FROM " + String(repeating: "(SELECT * FROM ", count: 5000),
        "SELECT 1" + String(repeating: " COLLATE NOCASE", count: 5000) + " FROM _",
        "SELECT a" + String(repeating: " IN a", count: 5000) + " FROM _",
        String(repeating: " ", count: 2 << 20),
    ]

    @Test(arguments: deepTexts.indices)
    func depthIsBounded(_ number: Int) throws {
        let fixture = try QueryFixture()
        #expect(throws: DatabaseError.self) { try fixture.database.query(Self.deepTexts[number]) }
    }

    @Test func parenthesesAndChainsAddUp() throws {
        let fixture = try QueryFixture([#"{"a":1}"#])
        func nested(_ levels: Int, _ chain: Int) -> String {
            (0..<levels).reduce("true") { text, _ in "(\(text)\(String(repeating: " = true", count: chain)))"
            }
        }
        #expect(try fixture.rows("SELECT \(nested(10, 2)) AS r FROM _") == ["true"])
        #expect(throws: DatabaseError.self) { try fixture.rows("SELECT \(nested(10, 10)) AS r FROM _") }
        #expect(try fixture.rows("SELECT a FROM _ WHERE \(nested(1, 40))") == ["1"])
    }

    @Test func longConditionsAreTaken() throws {
        let fixture = try QueryFixture([#"{"a":1}"#])
        let many = (0..<3000).map { "a = \($0)" }
        #expect(try fixture.rows("SELECT a FROM _ WHERE \(many.joined(separator: " OR "))") == ["1"])
        #expect(try fixture.rows("SELECT a FROM _ WHERE \(many.joined(separator: " AND "))") == [])
    }
}

// MARK: - Select names tests

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
