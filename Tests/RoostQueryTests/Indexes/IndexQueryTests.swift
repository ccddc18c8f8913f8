import Roost
import RoostSimulation
import Testing

@testable import RoostQuery

/// Queries that use indexes.
@Suite struct IndexQueryTests {
    let fixture: QueryFixture
    let notes: DocumentCollection

    init() throws {
        fixture = try QueryFixture()
        notes = try fixture.database.collection("notes")
        try fixture.database.write { batch in
            for number in 0..<400 {
                let stars: DocumentValue = number % 50 == 7 ? .null : .integer(Int64(number % 10))
                var note: DocumentValue = [
                    "title": .string("Note \(number)"), "stars": stars,
                    "tags": [.string("t\(number % 20)"), "all"],
                    "open": .bool(number % 4 == 0), "rooms": [["beds": .integer(Int64(number % 3))]],
                ]
                if number % 50 == 8 { note["stars"] = nil }
                try batch.save(json: note.json(), id: "n\(1000 + number)", in: notes)
            }
        }
    }

    /// The rows, and how many documents were read for them.
    private func run(_ text: String, _ parameters: [String: DocumentValue] = [:]) throws -> (
        rows: [String], read: Int
    ) {
        let cursor = try fixture.database.query(text, parameters: parameters).cursor()
        var rows: [ResultRow] = []
        while let row = try cursor.next() { rows.append(row) }
        return (try QueryFixture.texts(rows), cursor.documentsRead)
    }

    @Test(arguments: [
        ("SELECT title FROM notes WHERE stars = 3", 40), ("SELECT title FROM notes n WHERE 9 <= n.stars", 40),
        ("SELECT title FROM notes WHERE stars IN (1, 2)", 80),
        ("SELECT title FROM notes WHERE stars IS NULL", 8),
        ("SELECT title FROM notes WHERE stars IS MISSING", 8),
        ("SELECT title FROM notes WHERE stars < 1", 40),
        ("SELECT title FROM notes WHERE stars > 3 AND stars < 5", 40),
        ("SELECT title FROM notes WHERE stars = 3 AND title < 'Note 2'", 20),
        ("SELECT title FROM notes WHERE stars = $s AND open", 40),
        ("SELECT title FROM notes WHERE stars = 3.0", 40), ("SELECT title FROM notes WHERE stars = null", 0),
        ("SELECT title FROM notes WHERE ANY t IN tags SATISFIES t = 't5' END", 20),
        ("SELECT title FROM notes WHERE array_contains(tags, 't5')", 20),
        ("SELECT title FROM notes WHERE ANY r IN rooms SATISFIES r.beds = 2 END AND stars = 1", 40),
        ("SELECT title FROM notes WHERE title LIKE 'Note 1%' AND stars = 4", 11),
        ("SELECT title FROM notes WHERE stars > 8 ORDER BY stars, title", 40),
        ("SELECT title FROM notes WHERE stars = 2 ORDER BY title LIMIT 3", 3),
        ("SELECT title FROM notes WHERE stars = 2 ORDER BY title DESC LIMIT 3", 3),
        ("SELECT stars, title FROM notes ORDER BY stars, title LIMIT 4", 4),
    ])
    func theSameRowsWithFewerDocuments(_ text: String, _ most: Int) throws {
        let before = try run(text, ["s": 3])
        #expect(before.read == 400)
        try notes.createIndex("by-stars", on: "stars, title")
        try notes.createIndex("tags", unnesting: "tags")
        let after = try run(text, ["s": 3])
        #expect(after.rows.sorted() == before.rows.sorted())
        if text.contains("ORDER BY") { #expect(after.rows == before.rows) }
        let plan = try fixture.database.query(text, parameters: ["s": 3]).explain()
        #expect(after.read <= most, "\(plan)")
    }

    @Test func countsAreReadFromTheIndex() throws {
        try notes.createIndex("by-stars", on: "stars")
        for (text, count) in [
            ("stars > 3", "224"), ("stars = 3", "40"), ("stars IN (1, 2, 2)", "80"),
            ("stars >= 2 AND stars <= 3", "80"),
        ] {
            let answer = try run("SELECT count(*) FROM notes WHERE \(text)")
            #expect(answer.rows == [count])
            #expect(answer.read == 0)
        }
        #expect(try run("SELECT count(*) FROM notes WHERE stars > 3 AND open").rows == ["56"])
    }

    @Test func anIndexShowsEveryMoment() throws {
        try notes.createIndex("by-stars", on: "stars")
        #expect(try run("SELECT title FROM notes WHERE stars = 77").rows.isEmpty)
        let past = try fixture.database.snapshot()
        try notes.save(json: #"{"stars":77,"title":"new"}"#, id: "x")
        try notes.delete("n1003")
        #expect(try run("SELECT title FROM notes WHERE stars = 77").rows == ["\"new\""])
        #expect(try run("SELECT count(*) FROM notes WHERE stars = 3").rows == ["39"])
        let query = try fixture.database.query("SELECT count(*) FROM notes WHERE stars = 77 OR stars = 3")
        let cursor = try fixture.database.query("SELECT title FROM notes WHERE stars = 77").cursor(in: past)
        #expect(try cursor.next() == nil)
        #expect(try query.fetch().first?[0].int == 40)
    }

    @Test func partialIndexesServeQueriesWithTheirCondition() throws {
        try notes.createIndex("open", on: "stars", where: "open = true")
        let with = try run("SELECT title FROM notes WHERE stars = 4 AND open = true")
        #expect(with.read == with.rows.count && !with.rows.isEmpty)
        #expect(try run("SELECT title FROM notes WHERE stars = 4").read == 400)
        #expect(
            try fixture.database.query("SELECT title FROM notes WHERE stars = 4").explain().description
                .contains("NOT USED open: its condition"))
    }

    @Test func collationsAreHeeded() throws {
        try notes.save(json: #"{"name":"Émile"}"#, id: "e")
        try notes.createIndex("name", on: "name COLLATE (UNICODE NOCASE NODIAC)")
        #expect(
            try run("SELECT stars FROM notes WHERE name = 'EMILE' COLLATE (UNICODE NOCASE NODIAC)").read == 1)
        #expect(try run("SELECT stars FROM notes WHERE name = 'Émile'").read == 401)
        #expect(
            try run("SELECT name FROM notes WHERE name = 'emile' COLLATE (UNICODE NOCASE NODIAC)").rows == [
                "\"Émile\""
            ])
        #expect(try notes.find(["selector": ["name": ["$eq": "Émile"]]]).documents.count == 1)
        try notes.createIndex("mango", on: "stars COLLATE UNICODE")
        let found = try notes.find(["selector": ["stars": ["$gt": 8]], "limit": 100])
        #expect(found.documents.count == 40 && found.documentsExamined == 40)
    }

    @Test func indexesAreListedReplacedAndDropped() throws {
        try notes.createIndex("a", on: "stars DESC")
        try notes.createIndex("a", on: "stars DESC")
        #expect(try notes.valueIndexes() == [ValueIndex("a", on: "stars DESC")])
        let query = try fixture.database.query("SELECT title FROM notes WHERE stars > 8")
        #expect(try query.explain().description.contains("USING a (stars > 8), 40 to read"))
        try notes.createIndex("a", on: "title")
        #expect(try query.explain().description.contains("SCAN notes"))
        #expect(try query.fetch().count == 40)
        try notes.dropIndex("a")
        try notes.dropIndex("a")
        #expect(try notes.valueIndexes().isEmpty)
        #expect(try query.fetch().count == 40)
        #expect(
            QueryFixture.message { try notes.createIndex("b", on: "stars >") }.contains(
                "An expression is expected"))
        #expect(QueryFixture.message { try notes.createIndex("b") }.contains("at least one expression"))
    }

    @Test func typedIndexesServeTypedQueries() throws {
        struct Note: Codable, Sendable {
            var title: String
            var stars: Int?
            var tags: [String]
        }
        let typed = try fixture.database.collection("notes", of: Note.self)
        try typed.createIndex("by-stars", on: \.stars, \.title)
        try typed.createIndex("tags", unnesting: \.tags)
        #expect(try typed.query().where { $0.stars > 8 }.explain().description.contains("USING by-stars"))
        #expect(
            try typed.query().where { $0.tags.contains("t3") }.explain().description.contains("USING tags"))
        #expect(try typed.query().where { $0.tags.contains("t3") }.fetch().count == 20)
        #expect(try typed.query().where { $0.stars > 8 }.count() == 40)
    }

    @Test func joinsLookRowsUp() throws {
        try fixture.fill("stars", (0..<10).map { #"{"_id":"s\#($0)","n":\#($0)}"# })
        try notes.createIndex("by-stars", on: "stars")
        let text =
            "SELECT s._id, count(*) FROM stars s JOIN notes n ON n.stars < s.n AND n.stars >= s.n - 1 WHERE s.n = 3 GROUP BY s._id"
        let answer = try run(text)
        #expect(answer.rows == ["[\"s3\",40]"])
        // The ten of one side; the index has all that is asked of the other.
        #expect(answer.read == 10)
        #expect(try run(text.replacing("count(*)", with: "max(n.title)")).read == 50)
    }

    @Test func documentsFoundByAnIndexComeInTheOrderOfTheirIDs() throws {
        try notes.createIndex("by-stars", on: "stars DESC")
        let bounds = "SELECT title, _id FROM notes WHERE stars >= 8 ORDER BY _id LIMIT 3"
        #expect(
            try fixture.database.query(bounds).fetch().map { $0._id.string } == ["n1009", "n1018", "n1019"])
        // Rows of equal keys come in this order, either way.
        let equal = "SELECT title FROM notes WHERE stars = 8 ORDER BY _id DESC LIMIT 2"
        let answer = try run(equal)
        #expect(answer.rows == ["\"Note 398\"", "\"Note 388\""])
        #expect(answer.read == 2)
        #expect(try fixture.database.query(equal).explain().description.contains("ORDER by _id DESC"))
    }

    @Test func indexesOutliveTheProgram() throws {
        try notes.createIndex("by-stars", on: "stars")
        let path = fixture.directory + "/Test.roost"
        try fixture.database.close()
        let again = try Database.open(path)
        defer { try? again.close() }
        #expect(try again.collection("notes").valueIndexes().map(\.name) == ["by-stars"])
        #expect(
            try again.query("SELECT count(*) FROM notes WHERE stars = 3").explain().description.contains(
                "by-stars"))
    }
}

// MARK: - Shared index list tests

/// Lists of indexes that two processes change without having heard of each other.
@Suite struct SharedIndexListTests {
    private let simulation = Simulation(seed: 1)

    private func open() throws -> (Database, DocumentCollection) {
        var options = DatabaseOptions()
        options.writers = .takingTurns
        let database = try Database.open("db", options: options, environment: simulation.environment)
        return (database, try database.collection("notes"))
    }

    @Test func noneIsLost() throws {
        let (first, mine) = try open()
        let (second, theirs) = try open()
        try mine.createIndex("a", on: "a")
        try theirs.createIndex("b", on: "b")
        try mine.createTextIndex("words", on: "title")
        try theirs.createTextIndex("names", on: "name")
        try mine.createIndex("c", on: "c")
        try theirs.dropIndex("b")
        try mine.dropTextIndex("words")
        for (database, notes) in [(first, mine), (second, theirs)] {
            try database.refresh()
            #expect(try notes.valueIndexes().map(\.name) == ["a", "c"])
            #expect(try notes.textIndexes().map(\.name) == ["names"])
        }
        try first.close()
        try second.close()
    }
}

// MARK: - Index collation tests

/// An index compares as it was made to, and a condition as it says: with an index of whatever order, answers stay the same.
@Suite struct IndexCollationTests {
    private static let values = [
        #""a""#, #""A""#, #""ab""#, #""AB""#, #""aB""#, #""abc""#, #""b""#, #""é""#, #""É""#, #""e""#,
        #""e\u0301x""#, #""ea""#, #""eé""#,
        #""l""#, #""l·x""#, #""lz""#, #""L""#, #""Öl""#, #""เก""#, #""เ""#, #""""#, #""_a""#, #""%""#, "null",
        "0", "1", "1.5", "-3", "true",
        "false", #"["a"]"#, #"{"a":1}"#, #"["A","b"]"#,
    ]

    /// Some documents lack `s`; all have a number, by which the others may be told apart.
    private static func fixture() throws -> QueryFixture {
        var documents: [String] = []
        for (number, value) in values.enumerated() {
            documents.append(#"{"n":\#(number % 7),"t":\#(number),"s":\#(value),"list":[\#(value),"z"]}"#)
        }
        return try QueryFixture(documents + [#"{"n":1,"t":100}"#, #"{"n":2,"t":101}"#])
    }

    private static let indexes = [
        "s", "s DESC", "s COLLATE NOCASE", "s COLLATE UNICODE", "s COLLATE (UNICODE NOCASE)",
        "s COLLATE (UNICODE NOCASE NODIAC) DESC", "n, s COLLATE UNICODE", "n, s", "s COLLATE UNICODE, n",
        "s COLLATE UNICODE:sv",
    ]

    @Test(arguments: indexes)
    func conditionsFindTheSame(columns: String) throws {
        let fixture = try Self.fixture()
        let collations = ["", " COLLATE NOCASE", " COLLATE (UNICODE NOCASE NODIAC)"]
        var queries: [String] = []
        for collation in collations {
            for pattern in ["a%", "ab", "l%", "เ%"] {
                queries.append("s LIKE '\(pattern)'\(collation)")
                if !collation.isEmpty { queries.append("(s\(collation)) LIKE '\(pattern)'") }
            }
            for comparison in ["=", "<", ">=", "IN"] {
                let operand = comparison == "IN" ? "['A', 'é', 1]" : "'A'"
                queries.append("s \(comparison) \(operand)\(collation)")
                if !collation.isEmpty { queries.append("(s\(collation)) \(comparison) \(operand)") }
            }
            queries.append("ANY v IN list SATISFIES v = 'A'\(collation) END")
        }
        var asked: [String] = []
        for condition in queries {
            asked.append("SELECT t FROM _ WHERE \(condition) ORDER BY t")
            asked.append("SELECT s FROM _ WHERE \(condition) ORDER BY s, t LIMIT 5")
            asked.append("SELECT s FROM _ WHERE \(condition) ORDER BY s COLLATE UNICODE DESC, t LIMIT 5")
        }
        let before = asked.map { try? fixture.rows($0) }
        #expect(before.contains { $0?.isEmpty == false })
        try fixture.database.defaultCollection.createIndex("i", on: columns)
        for (query, rows) in zip(asked, before) {
            #expect((try? fixture.rows(query)) == rows, "\(query) with an index on \(columns)")
        }
    }

    /// Where an order leaves texts open that the index tells apart.
    @Test func rowsOfACollatedEqualityAreSorted() throws {
        let fixture = try QueryFixture([#"{"s":"a"}"#, #"{"s":"A"}"#, #"{"s":"a"}"#, #"{"s":"A"}"#])
        let query = "SELECT s FROM _ WHERE s = 'a' COLLATE NOCASE ORDER BY s LIMIT 2"
        #expect(try fixture.rows(query) == [#""A""#, #""A""#])
        try fixture.database.defaultCollection.createIndex("i", on: "s COLLATE NOCASE")
        #expect(try fixture.rows(query) == [#""A""#, #""A""#])
    }

    @Test(arguments: indexes)
    func selectorsFindTheSame(columns: String) throws {
        let fixture = try Self.fixture()
        let notes = try fixture.database.defaultCollection
        var selectors = ["a", "e", "l", "เ", "é", "A", "_", "ab"].map { #"{"s":{"$beginsWith":"\#($0)"}}"# }
        for value in Self.values where value.utf8.count % 2 == 1 || value == "null" {
            for name in ["$eq", "$lt", "$gte", "$ne"] {
                selectors.append(#"{"s":{"\#(name)":\#(value)}}"#)
            }
            selectors.append(#"{"s":{"$gt":null,"$lt":\#(value)}}"#)
            selectors.append(#"{"list":{"$elemMatch":{"$lt":\#(value)}}}"#)
        }
        func found(_ selector: String) throws -> [Int] {
            try notes.find(json: #"{"selector":\#(selector),"fields":["t"],"limit":1000}"#).documents
                .compactMap {
                    $0["t"].int
                }.sorted()
        }
        let before = try selectors.map(found)
        try notes.createIndex("i", on: columns)
        for (selector, expected) in zip(selectors, before) {
            #expect(try found(selector) == expected, "\(selector) with an index on \(columns)")
        }
    }

    /// No more is read of an index than CouchDB would read.
    @Test(arguments: [
        (#"{"s":{"$lt":"k00012"}}"#, 12), (#"{"s":{"$lte":"k00012"}}"#, 13),
        (#"{"s":{"$beginsWith":"k0003"}}"#, 10),
        (#"{"s":{"$gte":"k00390"}}"#, 10), (#"{"s":{"$gt":"k00010","$lt":"k00020"}}"#, 9),
        (#"{"s":null}"#, 0),
    ])
    func rangesHaveBothEnds(selector: String, count: Int) throws {
        let fixture = try QueryFixture(
            (0..<400).map { #"{"s":"k\#("00000".dropLast("\($0)".count))\#($0)"}"# })
        let notes = try fixture.database.defaultCollection
        try notes.createIndex("i", on: "s COLLATE UNICODE")
        let found = try notes.find(json: #"{"selector":\#(selector),"limit":1000}"#)
        #expect(found.documents.count == count && found.documentsExamined == count)
    }
}
