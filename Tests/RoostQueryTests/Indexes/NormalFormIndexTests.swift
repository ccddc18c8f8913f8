import Roost
import RoostIndex
import RoostQuery
import Testing

/// Documents and columns whose names differ only in Unicode's normal form are different ones to indexes and queries too.
@Suite struct NormalFormIndexTests {
    static let pairs = [
        ["\u{E9}", "e\u{301}"], ["\u{AC01}", "\u{1100}\u{1161}\u{11A8}"], ["\u{2126}", "\u{3A9}"],
        ["a\u{323}\u{301}", "a\u{301}\u{323}"],
    ]
    let fixture: QueryFixture
    let notes: DocumentCollection

    init() throws {
        fixture = try QueryFixture((0..<300).map { #"{"n":\#($0),"text":"owl"}"# })
        notes = try fixture.database.defaultCollection
    }

    /// What changed since an index was kept is laid over it, by the documents' IDs.
    @Test(arguments: pairs) func bothAreFoundAfterAChange(names: [String]) throws {
        for name in names { try notes.save(json: #"{"n":1}"#, id: name) }
        try notes.createIndex("byN", on: "n")
        try notes.createTextIndex("words", on: "text")
        for (number, name) in names.enumerated() {
            try notes.save(json: #"{"n":\#(1000 + number),"text":"barn"}"#, id: name, expecting: .any)
        }
        #expect(try fixture.rows("SELECT n FROM _ WHERE n >= 1000 ORDER BY n") == ["1000", "1001"])
        #expect(try fixture.rows("SELECT COUNT(*) AS c FROM _ WHERE n = 1") == ["1"])
        let found = try notes.search("words", "barn").map { Array($0.id.utf8) }
        #expect(Set(found) == Set(names.map { Array($0.utf8) }))
    }

    /// What was purged since an index was updated leaves it, by the documents' IDs.
    @Test(arguments: pairs) func bothGoWithAPurge(names: [String]) throws {
        for name in names { try notes.save(json: #"{"n":1000,"text":"barn"}"#, id: name) }
        try notes.createIndex("byN", on: "n")
        try notes.createTextIndex("words", on: "text")
        #expect(try fixture.rows("SELECT COUNT(*) FROM _ WHERE n = 1000") == ["2"])
        #expect(try notes.searchCount("words", "barn") == 2)
        try fixture.database.write { batch in
            for name in names { try batch.purge(name, in: notes) }
        }
        // Brought up, not laid over.
        try notes.indexes.update(notes)
        #expect(try fixture.rows("SELECT COUNT(*) FROM _ WHERE n = 1000") == ["0"])
        #expect(try notes.searchCount("words", "barn") == 0)
    }

    @Test(arguments: pairs) func columnsAreApart(names: [String]) throws {
        try notes.save(json: "{\"\(names[0])\":1,\"\(names[1])\":2}", id: "both")
        let columns = names.map { "x.`\($0)`" }.joined(separator: ", ")
        let row = try #require(
            try fixture.database.query("SELECT \(columns) FROM _ x WHERE META().id = 'both'").fetch().first)
        #expect(row[names[0]].int == 1 && row[names[1]].int == 2)
        let named = try fixture.database.query("SELECT 1 AS `\(names[0])`, 2 AS `\(names[1])`").fetch()
        #expect(named.first?[names[1]].int == 2)
    }

    /// Parameters and members of objects, too.
    @Test(arguments: pairs) func parametersAreApart(names: [String]) throws {
        let query = try fixture.database.query("SELECT $\(names[0]) AS a, $\(names[1]) AS b FROM _ LIMIT 1")
        #expect(query.parameterNames.map { Array($0.utf8) } == names.map { Array($0.utf8) })
        #expect(
            QueryFixture.message { _ = try query.with([names[0]: 1]).fetch() }
                == "The parameter $\(names[1]) is not set. Give it a value, .null for none.")
        let one = try fixture.database.query("SELECT $\(names[1]) FROM _ LIMIT 1", parameters: [names[1]: 7])
        #expect(try QueryFixture.texts(try one.fetch()) == ["7"])
        #expect(QueryFixture.message { _ = try one.with([names[0]: 7]).fetch() }.contains("is not set"))
        let groups = "{'\(names[0])': 1}, {'\(names[1])': 1}"
        let rows = try fixture.rows("SELECT \(groups) FROM _ GROUP BY {'\(names[0])': 1}, {'\(names[1])': 1}")
        #expect(rows.map { Array($0.utf8) } == [Array("[{\"\(names[0])\":1},{\"\(names[1])\":1}]".utf8)])
    }

    /// Fields of selectors and of Mango's indexes, too.
    @Test(arguments: pairs) func fieldsAreApart(names: [String]) throws {
        try notes.save(json: #"{"\#(names[0])":1}"#, id: "first")
        try notes.save(json: #"{"\#(names[1])":1}"#, id: "second")
        try notes.save(
            json:
                #"{"language":"query","views":{"v":{"map":{"fields":{"\#(names[0])":"asc"}},"options":{"def":{"fields":["\#(names[0])"]}}}}}"#,
            id: "_design/d")
        try notes.prepareMangoIndexes()
        for (name, id) in zip(names, ["first", "second"]) {
            let request: DocumentValue = [
                "selector": .dictionary(["\(name)": 1]), "use_index": "d",
            ]
            #expect(try notes.find(request).documents.map { $0["_id"].string } == [id])
            #expect(try notes.explainMango(request).index?.name == (id == "first" ? "v" : nil))
        }
    }

    /// Two indexes whose names differ only so are two, and each is listed, used and dropped by itself.
    @Test(arguments: pairs) func indexesAreApart(names: [String]) throws {
        try notes.createIndex(names[0], on: "n")
        try notes.createIndex(names[1], on: "text")
        try notes.createTextIndex(names[0], on: "text")
        try notes.createTextIndex(names[1], on: "other")
        #expect(
            Set(try notes.valueIndexes().map { Array($0.name.utf8) }) == Set(names.map { Array($0.utf8) }))
        #expect(Set(try notes.textIndexes().map { Array($0.name.utf8) }) == Set(names.map { Array($0.utf8) }))
        #expect(try fixture.rows("SELECT count(*) FROM _ WHERE n = 7 OR text = 'barn'") == ["1"])
        try notes.save(json: #"{"n":7,"text":"barn","other":"wharf"}"#, id: "new")
        #expect(try fixture.rows("SELECT count(*) FROM _ WHERE n = 7") == ["2"])
        #expect(try fixture.rows("SELECT count(*) FROM _ WHERE text = 'barn'") == ["1"])
        #expect(try notes.searchCount(names[0], "barn") == 1)
        #expect(try notes.searchCount(names[0], "wharf") == 0)
        #expect(throws: DatabaseError.self) { try notes.searchCount("e", "barn") }
        try notes.dropIndex(names[0])
        try notes.dropTextIndex(names[0])
        #expect(try notes.valueIndexes().map { Array($0.name.utf8) } == [Array(names[1].utf8)])
        #expect(try notes.textIndexes().map { Array($0.name.utf8) } == [Array(names[1].utf8)])
        #expect(throws: DatabaseError.self) { try notes.searchCount(names[0], "barn") }
        #expect(try notes.searchCount(names[1], "wharf") == 1)
    }

    /// An index of one property says nothing of the other, nor does one of the same name with another one's properties stay.
    @Test(arguments: pairs) func propertiesOfIndexesAreApart(names: [String]) throws {
        try notes.save(json: "{\"\(names[0])\":1,\"\(names[1])\":2}", id: "both")
        for name in names {
            try notes.createIndex("one", on: "`\(name)`", including: "`\(name)`")
            for (number, asked) in names.enumerated() {
                #expect(
                    try fixture.rows("SELECT _id FROM _ WHERE `\(asked)` = \(number + 1)") == [#""both""#])
                #expect(
                    try fixture.rows(
                        "SELECT `\(asked)`, count(*) FROM _ WHERE `\(asked)` > 0 GROUP BY `\(asked)`") == [
                            "[\(number + 1),1]"
                        ])
            }
            #expect(try notes.valueIndexes().map { Array($0.columns.utf8) } == [Array("`\(name)`".utf8)])
        }
    }

    @Test(arguments: pairs) func conditionsOfIndexesAreApart(names: [String]) throws {
        for name in names { try notes.save(json: "{\"kind\":\"\(name)\",\"m\":1}", id: name) }
        try notes.createIndex("part", on: "m", where: "kind = '\(names[0])'")
        for name in names {
            let ids = try fixture.database.query("SELECT _id FROM _ WHERE m = 1 AND kind = '\(name)'").fetch()
            #expect(ids.map { Array(($0[0].string ?? "").utf8) } == [Array(name.utf8)])
        }
    }

    @Test(arguments: pairs) func columnsOfFullTextAreApart(names: [String]) throws {
        try notes.save(json: "{\"\(names[0])\":\"gable\",\"\(names[1])\":\"wharf\"}", id: "both")
        try notes.createTextIndex("words", on: names.map { "`\($0)`" }.joined(separator: ", "))
        #expect(try notes.searchCount("words", "\"\(names[0])\": gable") == 1)
        #expect(try notes.searchCount("words", "\"\(names[1])\": gable") == 0)
        #expect(try notes.searchCount("words", "\"\(names[1])\": wharf") == 1)
        #expect(try notes.searchCount("words", "{\"\(names[0])\" \"\(names[1])\"}: wharf") == 1)
        #expect(try notes.searchCount("words", "-\"\(names[1])\": wharf") == 0)
    }
}
