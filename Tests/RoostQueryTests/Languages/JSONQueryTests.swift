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

// MARK: - Couchbase lite example tests

/// What Couchbase Lite documents of SQL++, as a table of questions to a travel database of our own, and the rows that follow.
@Suite struct CouchbaseLiteExampleTests {
    let fixture: QueryFixture

    init() throws {
        fixture = try QueryFixture([])
        try fixture.fill(
            "places",
            [
                #"{"_id":"h1","type":"hotel","name":"Gable House","city":"Rome","country":"IT","stars":4,"vacancy":true,"price":120.5,"likes":["Ada","Bo"],"reviews":[{"by":"Ada","score":5},{"by":"Cy","score":3}],"geo":{"lat":41.9,"lon":12.5}}"#,
                #"{"_id":"h2","type":"hotel","name":"Eaves","city":"Oslo","country":"NO","stars":5,"vacancy":false,"price":300,"likes":[],"reviews":[],"geo":{"lat":59.9,"lon":10.8}}"#,
                #"{"_id":"h3","type":"hotel","name":"gutter inn","city":"Oslo","country":"NO","stars":2,"vacancy":true,"price":null,"likes":["Bo"],"alias":"The Gutter"}"#,
                #"{"_id":"l1","type":"landmark","name":"Élan Tower","city":"Paris","country":"FR","title":"100% view_point"}"#,
                #"{"_id":"l2","type":"landmark","name":"Old Fort","city":"Rome","country":"IT","opened":"1890-05-17T10:00:00Z"}"#,
            ])
        try fixture.fill(
            "countries",
            [
                #"{"_id":"IT","name":"Italy"}"#, #"{"_id":"NO","name":"Norway"}"#,
                #"{"_id":"DK","name":"Denmark"}"#,
            ])
    }

    @Test(arguments: [
        // Selecting.
        ("SELECT name FROM places WHERE stars = 5", [#""Eaves""#]),
        ("SELECT META().id AS id FROM places WHERE type = 'landmark'", [#""l1""#, #""l2""#]),
        ("SELECT p.name AS called, p.geo.lat FROM places AS p WHERE p.geo.lat > 50", [#"["Eaves",59.9]"#]),
        ("SELECT DISTINCT country FROM places ORDER BY country", [#""FR""#, #""IT""#, #""NO""#]),
        ("SELECT reviews[0].by, reviews[-1].score FROM places WHERE META().id = 'h1'", [#"["Ada",3]"#]),
        (
            "SELECT {'n': name, 'c': [city, country]} AS o FROM places WHERE _id = 'l2'",
            [#"{"c":["Rome","IT"],"n":"Old Fort"}"#]
        ),
        // Comparing.
        ("SELECT _id FROM places WHERE price > 100 AND vacancy = true", [#""h1""#]),
        ("SELECT _id FROM places WHERE price <= 120.5", [#""h1""#]),
        ("SELECT _id FROM places WHERE stars BETWEEN 2 AND 4", [#""h1""#, #""h3""#]),
        ("SELECT _id FROM places WHERE city IN ('Paris', 'Oslo') AND stars IS NOT VALUED", [#""l1""#]),
        ("SELECT _id FROM places WHERE city NOT IN ('Paris', 'Oslo', 'Rome')", []),
        ("SELECT _id FROM places WHERE price IS NULL", [#""h3""#]),
        ("SELECT _id FROM places WHERE price IS MISSING", [#""l1""#, #""l2""#]),
        ("SELECT _id FROM places WHERE price IS NOT MISSING AND price IS NOT VALUED", [#""h3""#]),
        ("SELECT _id FROM places WHERE price != 300", [#""h1""#]),
        ("SELECT _id FROM places WHERE NOT (stars > 2)", [#""h3""#]),
        // Patterns.
        ("SELECT _id FROM places WHERE name LIKE 'E%'", [#""h2""#]),
        ("SELECT _id FROM places WHERE name LIKE '_aves'", [#""h2""#]),
        (#"SELECT _id FROM places WHERE title LIKE '100\% view\_%'"#, [#""l1""#]),
        ("SELECT _id FROM places WHERE name LIKE 'GUTTER%' COLLATE NOCASE", [#""h3""#]),
        ("SELECT _id FROM places WHERE regexp_like(name, '^[A-Z]\\w+ [A-Z]')", [#""h1""#, #""l2""#]),
        ("SELECT _id FROM places WHERE contains(lower(name), 'inn')", [#""h3""#]),
        // Arrays.
        ("SELECT _id FROM places WHERE array_contains(likes, 'Bo')", [#""h1""#, #""h3""#]),
        ("SELECT _id FROM places WHERE ANY l IN likes SATISFIES l = 'Ada' END", [#""h1""#]),
        ("SELECT _id FROM places WHERE EVERY l IN likes SATISFIES l = 'Bo' END", [#""h2""#, #""h3""#]),
        ("SELECT _id FROM places WHERE ANY AND EVERY l IN likes SATISFIES l = 'Bo' END", [#""h3""#]),
        (
            "SELECT _id FROM places WHERE ANY r IN reviews SATISFIES r.score > 4 AND r.by = 'Ada' END",
            [#""h1""#]
        ),
        ("SELECT array_length(likes), array_count(likes) FROM places WHERE _id = 'h1'", ["[2,2]"]),
        ("SELECT p._id, r.score FROM places AS p UNNEST p.reviews AS r WHERE r.score < 5", [#"["h1",3]"#]),
        // Groups.
        (
            "SELECT country, count(*) FROM places GROUP BY country HAVING count(*) > 1 ORDER BY country",
            [#"["IT",2]"#, #"["NO",2]"#]
        ),
        (
            "SELECT count(*), count(price), sum(stars), avg(stars), min(stars), max(stars) FROM places",
            ["[5,2,11,3.6666666666666665,2,5]"]
        ),
        (
            "SELECT city, max(stars) AS best FROM places WHERE type = 'hotel' GROUP BY city ORDER BY best DESC LIMIT 1",
            [#"["Oslo",5]"#]
        ),
        // Joins.
        (
            "SELECT p._id, c.name FROM places AS p INNER JOIN countries AS c ON META(c).id = p.country WHERE p.type = 'hotel' ORDER BY p._id",
            [#"["h1","Italy"]"#, #"["h2","Norway"]"#, #"["h3","Norway"]"#]
        ),
        (
            "SELECT c.name, p._id FROM countries AS c LEFT JOIN places AS p ON p.country = META(c).id AND p.stars > 4 ORDER BY c.name",
            [#"["Denmark",MISSING]"#, #"["Italy",MISSING]"#, #"["Norway","h2"]"#]
        ),
        ("SELECT count(*) FROM places AS p CROSS JOIN countries AS c", ["15"]),
        // Order.
        ("SELECT name FROM places ORDER BY name LIMIT 2", [#""Eaves""#, #""Gable House""#]),
        (
            "SELECT name FROM places ORDER BY name COLLATE (UNICODE NOCASE NODIAC) LIMIT 3 OFFSET 1",
            [#""Élan Tower""#, #""Gable House""#, #""gutter inn""#]
        ),
        ("SELECT _id FROM places ORDER BY stars DESC, _id LIMIT 3", [#""h2""#, #""h1""#, #""h3""#]),
        // Conditionals and functions.
        (
            "SELECT CASE WHEN stars > 3 THEN 'good' WHEN stars > 0 THEN 'fair' ELSE 'none' END FROM places WHERE _id IN ('h1', 'h3', 'l1') ORDER BY _id",
            [#""good""#, #""fair""#, #""none""#]
        ),
        (
            "SELECT CASE type WHEN 'hotel' THEN 'h' END FROM places WHERE _id IN ('h1', 'l1') ORDER BY _id",
            [#""h""#, "null"]
        ),
        (
            "SELECT ifmissing(alias, name), ifnull(price, 0) FROM places WHERE _id = 'h3'",
            [#"["The Gutter",0]"#]
        ),
        (
            "SELECT ifmissingornull(price, 'unknown') FROM places WHERE _id IN ('h3', 'l1')",
            [#""unknown""#, #""unknown""#]
        ),
        (
            "SELECT upper(city), length(name), name || ', ' || city FROM places WHERE _id = 'h2'",
            [#"["OSLO",5,"Eaves, Oslo"]"#]
        ),
        ("SELECT trim('  a '), ltrim('  a'), rtrim('a  ') FROM places LIMIT 1", [#"["a","a","a"]"#]),
        (
            "SELECT round(price), floor(price), ceil(price), trunc(price, 0), abs(-3), sign(-2), power(2, 3) FROM places WHERE _id = 'h1'",
            ["[121.0,120.0,121.0,120.0,3,-1,8.0]"]
        ),
        (
            "SELECT stars + 1, stars - 1, stars * 2, stars / 2, stars % 3, -stars FROM places WHERE _id = 'h2'",
            ["[6,4,10,2,2,-5]"]
        ),
        (
            "SELECT type(stars), isstring(name), isnumber(name), tostring(stars), tonumber('7') FROM places WHERE _id = 'h1'",
            [#"["number",true,false,"4",7]"#]
        ),
        (
            "SELECT str_to_millis(opened), date_diff_str('1890-05-20T10:00:00Z', opened, 'day') FROM places WHERE _id = 'l2'",
            ["[-2512735200000,3]"]
        ),
        // Queries within queries.
        ("SELECT name FROM places WHERE stars = (SELECT max(stars) FROM places)", [#""Eaves""#]),
        (
            "SELECT q.c FROM (SELECT country AS c, count(*) AS n FROM places GROUP BY country) AS q WHERE q.n = 1",
            [#""FR""#]
        ),
        (
            "SELECT _id FROM countries WHERE NOT EXISTS (SELECT 1 FROM places AS p WHERE p.country = META(countries).id)",
            [#""DK""#]
        ),
    ])
    func rowsAreTheDocumentedOnes(_ text: String, _ expected: [String]) throws {
        let rows = try fixture.rows(text)
        #expect(rows == expected)
        // The same with indexes.
        let places = try fixture.database.collection("places")
        try places.createIndex("city", on: "city, stars", including: "type, country")
        try places.createIndex("country", on: "country", summing: "stars")
        try places.createIndex("likes", unnesting: "likes")
        try places.createIndex("name", on: "name COLLATE NOCASE")
        let indexed = try fixture.rows(text)
        #expect(text.contains("ORDER BY") ? indexed == expected : indexed.sorted() == expected.sorted())
    }
}
