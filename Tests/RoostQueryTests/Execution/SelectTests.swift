import Foundation
import Roost
import RoostQuery
import RoostSimulation
import Testing

/// Queries over a few documents.
@Suite struct SelectTests {
    let fixture: QueryFixture

    init() throws {
        fixture = try QueryFixture()
        try fixture.fill(
            "people",
            [
                #"{"_id":"anna","name":"Anna","age":34,"city":"Berlin","tags":["a","b"]}"#,
                #"{"_id":"bert","name":"Bert","age":28,"city":"Rome","tags":["b"]}"#,
                #"{"_id":"cleo","name":"Cleo","age":41,"city":"Berlin","tags":[]}"#,
                #"{"_id":"dora","name":"dora","age":28,"city":null}"#,
                #"{"_id":"emil","name":"Emil","city":"Paris","tags":["c","a"]}"#,
            ])
        try fixture.fill(
            "cities",
            [
                #"{"_id":"c1","name":"Berlin","country":"DE"}"#,
                #"{"_id":"c2","name":"Rome","country":"IT"}"#,
                #"{"_id":"c3","name":"Oslo","country":"NO"}"#,
            ])
    }

    /// What is planned is in proportion to what is asked.
    @Test(.timeLimit(.minutes(1))) func manyFieldsAndConditionsArePlanned() throws {
        let names = (0..<8_000).map { "p\($0)" }
        let text = """
            SELECT \(names.map { "\($0) AS \($0)x" }.joined(separator: ", ")) FROM people
            WHERE \(names.map { "\($0) IS MISSING" }.joined(separator: " AND "))
            ORDER BY \(names.map { "\($0)x" }.joined(separator: ", ")) LIMIT 1
            """
        try fixture.database.collection("people").createIndex("some", on: "p1, p2")
        #expect(try fixture.database.query(text).count() == 1)
        let groups = names.joined(separator: ", ")
        #expect(try fixture.database.query("SELECT \(groups) FROM people GROUP BY \(groups)").count() == 1)
    }

    @Test func sourcesAreBounded() {
        let joins = (0..<64).map { "CROSS JOIN people p\($0)" }.joined(separator: " ")
        #expect(
            QueryFixture.message { _ = try fixture.rows("SELECT 1 FROM people \(joins)") }.hasSuffix(
                "A query has at most 64 sources"))
    }

    @Test(arguments: [
        ("SELECT name FROM people ORDER BY age NULLS LAST, name LIMIT 2", ["\"Bert\"", "\"dora\""]),
        ("SELECT name FROM people ORDER BY city DESC NULLS FIRST, name LIMIT 2", ["\"dora\"", "\"Bert\""]),
        ("SELECT name FROM people ORDER BY age NULLS FIRST, name LIMIT 1", ["\"Emil\""]),
        ("SELECT name FROM people ORDER BY age DESC NULLS LAST LIMIT 1", ["\"Cleo\""]),
        ("SELECT nulls FROM people ORDER BY nulls LIMIT 1", ["MISSING"]),
    ])
    func nullsComeWhereTheyAreWanted(_ text: String, _ rows: [String]) throws {
        #expect(try fixture.rows(text) == rows, "\(text)")
    }

    @Test(arguments: [
        ("SELECT name FROM people WHERE age > 30", ["\"Anna\"", "\"Cleo\""]),
        ("SELECT name, age FROM people WHERE city = 'Rome'", ["[\"Bert\",28]"]),
        ("SELECT name FROM people WHERE age IS MISSING", ["\"Emil\""]),
        ("SELECT name FROM people WHERE NOT (age > 30)", ["\"Bert\"", "\"dora\""]),
        (
            "SELECT name FROM people ORDER BY name",
            ["\"Anna\"", "\"Bert\"", "\"Cleo\"", "\"Emil\"", "\"dora\""]
        ),
        (
            "SELECT name FROM people ORDER BY name COLLATE NOCASE DESC",
            ["\"Emil\"", "\"dora\"", "\"Cleo\"", "\"Bert\"", "\"Anna\""]
        ),
        ("SELECT name, age FROM people ORDER BY age DESC, name LIMIT 2", ["[\"Cleo\",41]", "[\"Anna\",34]"]),
        ("SELECT name FROM people ORDER BY age, name LIMIT 2 OFFSET 1", ["\"Bert\"", "\"dora\""]),
        ("SELECT name FROM people OFFSET 3", ["\"dora\"", "\"Emil\""]),
        ("SELECT name FROM people LIMIT -1", []), ("SELECT name FROM people LIMIT -1e300", []),
        (
            "SELECT name FROM people ORDER BY age, name LIMIT 2 OFFSET -1e19", ["\"Emil\"", "\"Bert\""]
        ),
        ("SELECT count(*) FROM people LIMIT 18446744073709551615", ["5"]),
        ("SELECT name FROM people LIMIT 1e19 OFFSET 1e300", []),
        ("SELECT DISTINCT city FROM people", ["\"Berlin\"", "\"Rome\"", "null", "\"Paris\""]),
        ("SELECT DISTINCT age FROM people ORDER BY age", ["MISSING", "28", "34", "41"]),
        ("SELECT count(*) FROM people", ["5"]),
        ("SELECT count(age), sum(age), min(age), max(name) FROM people", ["[4,131,28,\"dora\"]"]),
        ("SELECT avg(age) FROM people WHERE city = 'Oslo'", ["null"]),
        ("SELECT count(*), sum(age) FROM people WHERE false", ["[0,null]"]),
        ("SELECT count(DISTINCT age) FROM people", ["3"]),
        ("SELECT array_agg(name) FROM people WHERE age = 28", ["[\"Bert\",\"dora\"]"]),
        (
            "SELECT city, count(*) FROM people GROUP BY city",
            ["[null,1]", "[\"Berlin\",2]", "[\"Paris\",1]", "[\"Rome\",1]"]
        ),
        (
            "SELECT city, avg(age) AS mean FROM people GROUP BY city HAVING count(*) > 1",
            ["[\"Berlin\",37.5]"]
        ),
        (
            "SELECT city, count(*) AS n FROM people GROUP BY city ORDER BY n DESC, city LIMIT 1",
            ["[\"Berlin\",2]"]
        ),
        (
            "SELECT upper(city) AS c, count(*) FROM people GROUP BY upper(city) ORDER BY c DESC LIMIT 1",
            ["[\"ROME\",1]"]
        ),
        (
            "SELECT count(*) + 1, city || '!' FROM people WHERE city = 'Berlin' GROUP BY city",
            ["[3,\"Berlin!\"]"]
        ),
        (
            "SELECT p.name, c.country FROM people AS p JOIN cities AS c ON p.city = c.name",
            ["[\"Anna\",\"DE\"]", "[\"Bert\",\"IT\"]", "[\"Cleo\",\"DE\"]"]
        ),
        (
            "SELECT p.name, c.country FROM people p LEFT JOIN cities c ON p.city = c.name WHERE p.age = 28",
            ["[\"Bert\",\"IT\"]", "[\"dora\",MISSING]"]
        ),
        (
            "SELECT c.name FROM cities c LEFT JOIN people p ON p.city = c.name WHERE p.name IS MISSING",
            ["\"Oslo\""]
        ),
        ("SELECT count(*) FROM people CROSS JOIN cities", ["15"]),
        (
            "SELECT p.name FROM people p JOIN cities c ON p.age > 30 AND c.country = 'NO'",
            ["\"Anna\"", "\"Cleo\""]
        ),
        (
            "SELECT a._id, b._id FROM people a JOIN people b ON META(b).id = a._id WHERE a.age > 40",
            ["[\"cleo\",\"cleo\"]"]
        ),
        (
            "SELECT name, tag FROM people UNNEST tags AS tag WHERE tag = 'a'",
            ["[\"Anna\",\"a\"]", "[\"Emil\",\"a\"]"]
        ),
        (
            "SELECT tag, count(*) FROM people UNNEST people.tags AS tag GROUP BY tag",
            ["[\"a\",2]", "[\"b\",2]", "[\"c\",1]"]
        ),
        ("SELECT name FROM people WHERE ANY t IN tags SATISFIES t = 'b' END", ["\"Anna\"", "\"Bert\""]),
        (
            "SELECT q.n FROM (SELECT name AS n, age FROM people WHERE age < 35) AS q ORDER BY q.n DESC LIMIT 1",
            ["\"dora\""]
        ),
        (
            "SELECT name FROM people WHERE city IN (SELECT name FROM cities WHERE country = 'DE')",
            ["\"Anna\"", "\"Cleo\""]
        ),
        ("SELECT name FROM people WHERE age = (SELECT max(age) FROM people)", ["\"Cleo\""]),
        (
            "SELECT c.name FROM cities c WHERE EXISTS (SELECT 1 FROM people p WHERE p.city = c.name)",
            ["\"Berlin\"", "\"Rome\""]
        ),
        (
            "SELECT c.name, (SELECT count(*) FROM people p WHERE p.city = c.name) AS n FROM cities c",
            ["[\"Berlin\",2]", "[\"Rome\",1]", "[\"Oslo\",0]"]
        ),
        (
            "SELECT (SELECT name, age FROM people LIMIT 1) FROM cities LIMIT 1",
            ["[{\"age\":34,\"name\":\"Anna\"}]"]
        ),
        ("SELECT name FROM people WHERE _id = 'cleo'", ["\"Cleo\""]),
        (
            "SELECT name FROM people WHERE META().id IN ('emil','anna','nobody','anna')",
            ["\"Anna\"", "\"Emil\""]
        ),
        ("SELECT name FROM people WHERE _id >= 'bert' AND _id < 'dora'", ["\"Bert\"", "\"Cleo\""]),
        ("SELECT name FROM people WHERE _id LIKE 'c%'", ["\"Cleo\""]),
        ("SELECT _id FROM people ORDER BY _id DESC LIMIT 2", ["\"emil\"", "\"dora\""]),
        (
            "SELECT name FROM people WHERE _id > 5",
            ["\"Anna\"", "\"Bert\"", "\"Cleo\"", "\"dora\"", "\"Emil\""]
        ),
        ("SELECT name FROM people WHERE _id < 5", []), ("SELECT name FROM people WHERE _id = null", []),
        ("SELECT name FROM people LIMIT 0", []),
        ("SELECT name FROM people WHERE 'bert' = _id AND age = 28;", ["\"Bert\""]),
    ])
    func rowsAreRight(_ text: String, _ expected: [String]) throws {
        #expect(try fixture.rows(text) == expected)
    }

    @Test func columnsAreNamed() throws {
        func names(_ text: String) throws -> [String] { try fixture.database.query(text).columnNames }
        #expect(
            try names("SELECT name, age AS years, 1 + 1, 'x', name FROM people") == [
                "name", "years", "$1", "$2", "name #2",
            ])
        #expect(
            try names("SELECT age[0], name.a[1].b, age[1], a[0] AS x FROM people") == ["$1", "b", "$2", "x"])
        #expect(try names("SELECT * FROM people") == ["people"])
        #expect(try names("SELECT * FROM people p JOIN cities c ON true") == ["p", "c"])
        #expect(try names("SELECT META().id, p.name FROM people p") == ["id", "name"])
        #expect(
            try fixture.database.query(json: #"{"FROM":[{"COLLECTION":"people"}]}"#).columnNames == [
                "_id", "_sequence",
            ])
    }

    @Test func parametersAreTaken() throws {
        let query = try fixture.database.query(
            "SELECT name FROM people WHERE age >= $min AND city IN $cities LIMIT $n",
            parameters: ["min": 30, "n": 1])
        #expect(
            try query.with(["min": 30, "cities": ["Berlin"], "n": 5]).fetch().map { $0.name.string } == [
                "Anna", "Cleo",
            ])
        #expect(query.parameterNames.sorted() == ["cities", "min", "n"])
        #expect(try query.with(["min": 30, "cities": ["Berlin"], "n": 1]).count() == 1)
        #expect(try query.with(["min": .null, "cities": ["Berlin"], "n": 1]).fetch().isEmpty)
        for unset in [["cities": ["Berlin"], "n": 1], ["min": 1]] as [[String: DocumentValue]] {
            #expect(QueryFixture.message { _ = try query.with(unset).fetch() }.contains("is not set"))
        }
        #expect(
            QueryFixture.message { _ = try query.with(["min": 1, "cities": [], "n": "x"]).fetch() }
                .contains("LIMIT is a number"))
    }

    @Test func deletedDocumentsAreSeenWhenAskedFor() throws {
        try fixture.database.collection("people").delete("bert")
        #expect(try fixture.rows("SELECT _id FROM people WHERE META().deleted = true") == ["\"bert\""])
        #expect(try fixture.rows("SELECT count(*) FROM people") == ["4"])
        #expect(try fixture.rows("SELECT _id FROM people WHERE META().deleted") == ["\"bert\""])
        #expect(
            try fixture.rows(
                "SELECT _id FROM people WHERE _id IN ('anna', 'bert') AND META().deleted IS VALUED") == [
                    "\"anna\"", "\"bert\"",
                ])
    }

    @Test func rowsAreReadInManyWays() throws {
        struct Person: Decodable, Equatable {
            let name: String
            let age: Int?
        }
        let query = try fixture.database.query("SELECT name, age FROM people ORDER BY name LIMIT 5")
        let rows = try query.fetch()
        #expect(rows[0].json() == #"{"age":34,"name":"Anna"}"#)
        #expect(rows[3]["age"].exists == false)
        #expect(rows[0][1].int == 34)
        #expect(try query.fetch(as: Person.self)[3] == Person(name: "Emil", age: nil))
        #expect(try query.first()?.name.string == "Anna")
        let cursor = try query.cursor()
        var count = 0
        while try cursor.next() != nil { count += 1 }
        #expect(count == 5)
    }

    @Test func anAnswerIsOfOneMoment() throws {
        let cursor = try fixture.database.query("SELECT _id FROM people").cursor()
        _ = try cursor.next()
        try fixture.fill("people", [#"{"_id":"zoe"}"#])
        var ids: [String] = []
        while let row = try cursor.next() { ids.append(row[0].string ?? "") }
        #expect(ids == ["bert", "cleo", "dora", "emil"])
    }

    @Test func documentsByIDAreNotLookedForByReadingAll() throws {
        func read(_ text: String) throws -> Int {
            let cursor = try fixture.database.query(text).cursor()
            while try cursor.next() != nil {}
            return cursor.documentsRead
        }
        #expect(try read("SELECT name FROM people") == 5)
        #expect(try read("SELECT name FROM people WHERE _id = 'cleo'") == 1)
        #expect(try read("SELECT name FROM people WHERE _id IN ('cleo', 'anna') AND age > 1") == 2)
        #expect(try read("SELECT name FROM people WHERE _id BETWEEN 'b' AND 'd'") == 2)
        #expect(try read("SELECT count(*) FROM people") == 0)
        #expect(try read("SELECT name FROM people ORDER BY _id DESC LIMIT 1") == 1)
        #expect(try read("SELECT name FROM people WHERE _id LIKE 'c%'") == 1)
    }

    @Test func aCancelledTaskEndsItsQuery() async throws {
        let query = try fixture.database.query(
            "SELECT count(*) FROM people a CROSS JOIN people b CROSS JOIN people c")
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return QueryFixture.message { _ = try query.fetch() }
        }
        #expect(await task.value.contains("cancelled"))
    }
}

// MARK: - Failing database tests

/// Queries of a database whose medium fails.
@Suite struct FailingDatabaseTests {
    /// What the medium did is no fault of the query's text.
    @Test func aFailedReadIsNotTakenForAWrongQuery() throws {
        let simulation = Simulation(seed: 1)
        func open() throws -> Database {
            try Database.open("notes", options: DatabaseOptions(), environment: simulation.environment)
        }
        let made = try open()
        let notes = try made.collection("notes")
        for number in 0..<50 { try notes.save(json: #"{"v":\#(number)}"#, id: "d\(number)") }
        try notes.createIndex("by-value", on: "v")
        try made.compact()
        try made.close()
        for number in 0..<3 {
            let database = try open()
            let notes = try database.collection("notes")
            simulation.disk.faults.fail(.read, probability: 1)
            let error = #expect(throws: DatabaseError.self) {
                switch number {
                case 0: _ = try database.query("SELECT v FROM notes WHERE v = 3").fetch()
                case 1: _ = try notes.query(json: #"{"WHAT":[[".v"]],"WHERE":["=",[".v"],3]}"#).fetch()
                default: _ = try notes.find(json: #"{"selector":{"v":3}}"#)
                }
            }
            #expect(error?.code == .inputOutput, "\(String(describing: error))")
            simulation.disk.faults = FaultPlan()
            try database.close()
        }
    }
}

// MARK: - Uncomputable tests

/// What can't be computed ends a query with an error wherever it is computed, and is never a wrong or a missing row.
@Suite struct UncomputableTests {
    /// An array that is nested as deeply as a document can be.
    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
    }

    private func code(_ body: () throws -> Void) -> DatabaseError.Code? {
        do { try body() } catch let error as DatabaseError { return error.code } catch {}
        return nil
    }

    /// The deepest array that a document may have.
    private static func deepest(_ fixture: QueryFixture) throws -> Int {
        for depth in (1...600).reversed()
        where (try? fixture.fill("_default", [#"{"a":\#(nested(depth))}"#])) != nil {
            return depth
        }
        return 0
    }

    @Test func valuesBeyondTheDepthLimitEndTheQuery() throws {
        let fixture = try QueryFixture()
        let depth = try Self.deepest(fixture)
        try #require(depth > 10)
        for text in ["SELECT [[a]] FROM _", "SELECT a FROM _ WHERE array_length([[[a]]]) = 1"] {
            #expect(code { _ = try fixture.rows(text) } == .limitExceeded, "\(text)")
        }
    }

    @Test func anIndexFailsWhereAScanDoes() throws {
        let fixture = try QueryFixture()
        let depth = try Self.deepest(fixture)
        try #require(depth > 10)
        let documents = try fixture.database.defaultCollection
        let condition = "array_length([[[a]]]) = 1"
        #expect(code { _ = try fixture.rows("SELECT _id FROM _ WHERE \(condition)") } == .limitExceeded)
        #expect(code { try documents.createIndex("i", on: "array_length([[[a]]])") } == .limitExceeded)
        #expect(code { try documents.createTextIndex("t", on: "[[[a]]]") } == .limitExceeded)
        #expect(code { _ = try fixture.rows("SELECT _id FROM _ WHERE \(condition)") } == .limitExceeded)
    }

    /// Threads that execute one prepared query have the content of blobs at once.
    @Test func blobsAreReadByExpressions() async throws {
        let fixture = try QueryFixture()
        let database = fixture.database
        let digest = try await database.saveBlob(Data("hello".utf8)).digest
        try fixture.fill(
            "_default",
            [#"{"f":{"@type":"blob","digest":"\#(digest)","length":5}}"#, #"{"f":{"digest":"sha1-x"}}"#])
        let query = try database.query("SELECT BLOB(f) AS content FROM _ ORDER BY _id")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let rows = try query.fetch()
                    #expect(rows[0].content.data.map { String(decoding: $0, as: UTF8.self) } == "hello")
                    #expect(!rows[1].content.exists)
                }
            }
            try await group.waitForAll()
        }
    }
}
