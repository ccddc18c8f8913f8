import Roost
import RoostQuery
import Testing

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
