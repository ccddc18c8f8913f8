import Roost
import RoostQuery
import Testing

/// LiteCore's JSON schema, by the examples of its wiki page and tests.
@Suite struct JSONQueryTests {
    let fixture: QueryFixture

    init() throws {
        fixture = try QueryFixture([
            #"{"_id":"p1","name":{"first":"Cleveland","last":"Bejcek"},"gender":"male","contact":{"address":{"state":"CA","zip":"94040"}},"likes":["taxes","driving"],"age":30}"#,
            #"{"_id":"p2","name":{"first":"Georgetta","last":"Kolding"},"gender":"female","contact":{"address":{"state":"NY","zip":"10001"}},"likes":["reading"],"age":41,"books":{"a":1}}"#,
            #"{"_id":"p3","name":{"first":"Abe","last":"Ünal"},"gender":"male","contact":{"address":{"state":"CA"}},"likes":[],"age":null}"#,
        ])
        try fixture.fill(
            "states", [#"{"_id":"CA","name":"California"}"#, #"{"_id":"NY","name":"New York"}"#])
    }

    @Test(arguments: [
        (#"["=", [".contact.address.state"], "CA"]"#, ["[\"p1\",1]", "[\"p3\",3]"]),
        (
            #"{"WHAT": ["name.first"], "WHERE": ["AND", ["=", [".gender"], "male"], [">", [".age"], 20]]}"#,
            ["\"Cleveland\""]
        ),
        (
            #"{"WHAT": [[".name.last"]], "ORDER_BY": [["DESC", [".name.last"]]], "LIMIT": 2}"#,
            ["\"Ünal\"", "\"Kolding\""]
        ),
        (
            #"["SELECT", {"WHAT": [["._id"]], "WHERE": ["ANY", "like", [".likes"], ["=", ["?like"], "taxes"]]}]"#,
            ["\"p1\""]
        ),
        (
            #"{"WHAT": [["._id"]], "WHERE": ["EVERY", "l", [".likes"], ["!=", ["?l"], "taxes"]]}"#,
            ["\"p2\"", "\"p3\""]
        ),
        (
            #"{"WHAT": [["._id"]], "WHERE": ["ANY AND EVERY", "l", [".likes"], ["!=", ["?", "l"], "taxes"]]}"#,
            ["\"p2\""]
        ),
        (#"{"WHAT": [["AS", ["count()", ["."]], "n"], ["max()", [".age"]]]}"#, ["[3,41]"]),
        (
            #"{"what": [[".gender"], ["COUNT()"]], "group_by": [[".gender"]], "having": [">", ["count()"], 1]}"#,
            ["[\"male\",2]"]
        ),
        (#"{"WHAT": [["._id"]], "WHERE": ["IS", [".age"], null]}"#, ["\"p3\""]),
        (
            #"{"WHAT": [["._id"]], "WHERE": ["IS NOT", [".contact.address.zip"], ["MISSING"]]}"#,
            ["\"p1\"", "\"p2\""]
        ),
        (#"{"WHAT": [["._id"]], "WHERE": ["IN", [".gender"], ["[]", "female", "other"]]}"#, ["\"p2\""]),
        (#"{"WHAT": [["._id"]], "WHERE": ["BETWEEN", [".age"], 30, 40]}"#, ["\"p1\""]),
        (#"{"WHAT": [["._id"]], "WHERE": ["LIKE", [".name.first"], "%e%e%"]}"#, ["\"p1\"", "\"p2\""]),
        (#"{"WHAT": [["._id"]], "WHERE": ["NOT IN", [".age"], ["[]", 30]]}"#, ["\"p2\""]),
        (#"{"WHAT": [["CASE", [".gender"], "male", "m", "f"]]}"#, ["\"m\"", "\"f\"", "\"m\""]),
        (
            #"{"WHAT": [["+", 1, 2, 3], ["-", 5], ["*", 2, 3], ["||", "a", "b"]], "LIMIT": 1}"#,
            ["[6,-5,6,\"ab\"]"]
        ),
        (
            #"{"WHAT": [["array_length()", [".likes"]], ["._id"]], "WHERE": ["=", ["array_length()", [".", "likes"]], 2]}"#,
            ["[2,\"p1\"]"]
        ),
        (#"{"WHAT": [[".likes[-1]"], [".likes", "[0]"]], "LIMIT": 1}"#, ["[\"driving\",\"taxes\"]"]),
        (
            #"{"WHAT": [["_.", [".contact"], "address.zip"], ["_.last", [".name"]]], "LIMIT": 1}"#,
            ["[\"94040\",\"Bejcek\"]"]
        ),
        (
            #"{"WHAT": [[".p.name.first"], [".s.name"]], "FROM": [{"COLLECTION": "_", "AS": "p"}, {"COLLECTION": "states", "AS": "s", "JOIN": "INNER", "ON": ["=", ["META()", "s"], 1]}]}"#,
            []
        ),
        (
            #"{"WHAT": [[".p.name.first"], [".s.name"]], "FROM": [{"COLLECTION": "_", "AS": "p"}, {"COLLECTION": "states", "AS": "s", "JOIN": "LEFT OUTER", "ON": ["=", [".s._id"], [".p.contact.address.state"]]}], "WHERE": [">", [".p.age"], 35]}"#,
            ["[\"Georgetta\",\"New York\"]"]
        ),
        (
            #"{"WHAT": [[".p._id"], [".like"]], "FROM": [{"COLLECTION": "_", "AS": "p"}, {"UNNEST": [".p.likes"], "AS": "like"}]}"#,
            ["[\"p1\",\"taxes\"]", "[\"p1\",\"driving\"]", "[\"p2\",\"reading\"]"]
        ),
        (
            #"{"WHAT": [["._id"]], "WHERE": ["COLLATE", {"UNICODE": true, "CASE": false, "DIAC": false}, ["=", [".name.last"], "UNAL"]]}"#,
            ["\"p3\""]
        ),
        (#"{"WHAT": [["._id"]], "WHERE": [">", [".age"], ["$min"]], "LIMIT": ["$", "n"]}"#, ["\"p1\""]),
        (#"{"DISTINCT": true, "WHAT": ["gender"], "ORDER_BY": ["gender"]}"#, ["\"female\"", "\"male\""]),
        (#"{"WHAT": [{"id": ["._id"], "two": 2}], "OFFSET": 2}"#, ["{\"id\":\"p3\",\"two\":2}"]),
        (#"{"WHAT": [["._id"]], "WHERE": ["EXISTS", [".books"]]}"#, ["\"p2\""]),
        (
            #"{"WHAT": [["._id"]], "WHERE": ["IN", [".contact.address.state"], ["SELECT", {"WHAT": [["._id"]], "FROM": [{"COLLECTION": "states"}], "WHERE": ["LIKE", [".name"], "New%"]}]]}"#,
            ["\"p2\""]
        ),
        (
            #"{"WHAT": [[".id"]], "FROM": [{"COLLECTION": "states", "SCOPE": "_default", "AS": "s"}], "WHERE": ["=", ["_.id", ["META()", "s"]], "CA"]}"#,
            ["MISSING"]
        ),
        (
            #"{"WHAT": [["IS VALUED", [".age"]], ["IS NOT VALUED", [".nope"]]], "OFFSET": 2}"#,
            ["[false,true]"]
        ),
    ])
    func rowsAreRight(_ json: String, _ expected: [String]) throws {
        #expect(try fixture.rows(json: json, ["min": 20, "n": 1]) == expected)
    }

    @Test(arguments: [
        (#"{"WHAT": [], "WERE": true}"#, "There is no clause \"WERE\"; did you mean WHERE?"),
        (#"["LESS", 1, 2]"#, "There is no operator \"LESS\""),
        (#"["lower", [".a"]]"#, "There is no operator \"LOWER\": a function is written \"LOWER()\""),
        (#"["lwer()", [".a"]]"#, "There is no function lwer(); did you mean LOWER?"),
        (#"["=", 1]"#, "= takes two operands, and 1 are given"),
        (#"[[".a"], 1]"#, "An expression is an array that begins with the name of its operator as a string"),
        (#""x""#, "A query is an object with clauses such as WHAT and WHERE, or an array with an operator."),
        (#"{"HAVING": true}"#, "HAVING needs GROUP_BY"),
        (#"{"FROM": [{"COLLECTION": "_"}, {"COLLECTION": "states"}]}"#, "A join with states needs ON"),
        (#"["?x"]"#, "There is no variable ?x"),
        (#"{"WHAT": [["AS", 1]]}"#, "AS is written [\"AS\", expression, name]"),
        (#"{"FROM": [{"UNNEST": [".a"]}]}"#, "The first item of FROM is a collection, not UNNEST"),
        (#"[".a[x]"]"#, "In the path “a[x]”, the brackets must hold an integer."),
        (#"{"limit": 1, "LIMIT": 2}"#, "The clause LIMIT is given twice"),
    ])
    func errorsSayWhatIsWrong(_ json: String, _ message: String) throws {
        #expect(QueryFixture.message { _ = try fixture.database.query(json: json) } == message)
    }

    @Test func depthIsBounded() throws {
        let deep = String(repeating: #"["NOT","#, count: 400) + "true" + String(repeating: "]", count: 400)
        #expect(
            QueryFixture.message { _ = try fixture.database.query(json: deep) }.contains(
                "nested more than 50 deep"))
    }
}
