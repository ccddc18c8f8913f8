import Roost
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

    @Test(arguments: pairs) func columnsAreApart(names: [String]) throws {
        try notes.save(json: "{\"\(names[0])\":1,\"\(names[1])\":2}", id: "both")
        let columns = names.map { "x.`\($0)`" }.joined(separator: ", ")
        let row = try #require(
            try fixture.database.query("SELECT \(columns) FROM _ x WHERE META().id = 'both'").fetch().first)
        #expect(row[names[0]].int == 1 && row[names[1]].int == 2)
        let named = try fixture.database.query("SELECT 1 AS `\(names[0])`, 2 AS `\(names[1])`").fetch()
        #expect(named.first?[names[1]].int == 2)
    }
}
