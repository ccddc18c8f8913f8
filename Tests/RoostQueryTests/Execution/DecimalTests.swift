import Foundation
import Roost
import RoostQuery
import Testing

/// Decimals compare as numbers in queries, whatever keeps their digits.
@Suite struct DecimalTests {
    struct Item: Codable, Sendable, Identifiable, Equatable {
        var id: String
        var price: Decimal
    }

    /// Prices of which some have more digits than a number of floating point.
    private static let prices: [(id: String, price: Decimal)] = [
        ("a", Decimal(10) / 3), ("b", 100), ("c", Decimal(string: "3.5")!), ("d", Decimal(200) / 3),
        ("e", Decimal(string: "-99999999999999999999.99")!), ("f", 3),
    ]

    let fixture: QueryFixture
    let items: TypedCollection<Item>

    init() throws {
        fixture = try QueryFixture()
        items = try fixture.database.collection("items", of: Item.self)
        for (id, price) in Self.prices { try items.save(Item(id: id, price: price)) }
    }

    private func ids(_ condition: String, order: String = "_id") throws -> String {
        try fixture.rows("SELECT _id FROM items WHERE \(condition) ORDER BY \(order)")
            .joined().replacing("\"", with: "")
    }

    @Test func digitsAreKeptAndComeBack() throws {
        for (id, price) in Self.prices { #expect(try items.document(id)?.price == price) }
        let document = try #require(try items.documents.document("a"))
        let digits = "\(Decimal(10) / 3)"
        #expect(document.json().contains(#""price":{"@type":"decimal","value":"\#(digits)"}"#))
        #expect(document["price"].decimal == Decimal(10) / 3)
        // Also on the way through JSON, and as rows of a query.
        let copy = try fixture.database.collection("copies")
        try fixture.database.write { try $0.save(json: document.json(), id: "a", in: copy) }
        #expect(try copy.document("a", as: Item.self)?.price == Decimal(10) / 3)
        #expect(
            try fixture.database.query("SELECT price FROM items WHERE _id = 'a'").first()?.price.decimal
                == Decimal(10) / 3)
        var draft = MutableDocument(id: "draft")
        draft["price"] = Decimal(10) / 3
        #expect((draft["price"] as Decimal?) == Decimal(10) / 3)
    }

    @Test(arguments: [false, true]) func numbersCompareAsNumbers(indexed: Bool) throws {
        if indexed { try items.createIndex("by-price", on: \.price) }
        #expect(try ids("price > 50") == "bd")
        #expect(try ids("price > 3 AND price < 3.4") == "a")
        #expect(try ids("price BETWEEN 66 AND 67") == "d")
        #expect(try ids("price < 0") == "e")
        #expect(try ids("true", order: "price") == "efacdb")
        #expect(try ids("price > 0", order: "price DESC") == "bdcaf")
        #expect(try items.query().where { $0.price > 50 }.fetch().map(\.id).sorted() == ["b", "d"])
        #expect(try items.query().where { $0.price == Decimal(10) / 3 }.fetch().map(\.id) == ["a"])
        #expect(try items.query().order(by: \.price, .descending).first()?.id == "b")
        #expect(
            try fixture.rows("SELECT count(price), min(price), max(price) FROM items WHERE price > 0") == [
                "[5,3,100]"
            ])
        #expect(
            try fixture.rows("SELECT round(sum(price), 6), round(avg(price), 6) FROM items WHERE price > 0")
                == ["[176.5,35.3]"])
    }

    @Test func sumsInAnIndexCountDecimals() throws {
        try items.documents.createIndex("totals", on: "_id", summing: "price")
        #expect(
            try fixture.rows(
                "SELECT round(sum(price), 6), min(price), count(price) FROM items WHERE _id < 'e'") == [
                    "[173.5,3.3333333333333335,4]"
                ])
    }

    @Test(arguments: [
        ("price + 1 > 4.3 AND price + 1 < 4.4", "true"), ("isnumber(price)", "true"),
        ("isobject(price)", "false"),
        ("type(price)", "\"number\""), ("floor(price)", "3.0"), ("round(price, 2)", "3.33"),
        ("abs(price) > 3", "true"),
        ("CAST(price AS INTEGER)", "3"), ("[price] > [3]", "true"), ("[price] < [4]", "true"),
        ("price IN [1, 2]", "false"),
        ("price = price", "true"), ("greatest(price, 2) = price", "true"),
        ("tostring(price)", "\"\(Decimal(10) / 3)\""),
        ("CASE WHEN price THEN 1 END", "1"), ("{'p': price} > {'p': 3}", "true"),
    ])
    func functionsTakeThemForNumbers(_ text: String, _ expected: String) throws {
        #expect(try fixture.rows("SELECT \(text) FROM items WHERE _id = 'a'") == [expected])
    }

    @Test func selectorsAndViewsTakeThemForNumbers() throws {
        let result = try items.documents.find(json: #"{"selector":{"price":{"$gt":50}},"fields":["_id"]}"#)
        #expect(result.documents.count == 2)
    }

    /// What looks nearly like one is an object like any other.
    @Test func otherObjectsAreObjects() throws {
        try fixture.fill(
            "objects",
            [
                #"{"v":{"@type":"decimal","value":"x"}}"#, #"{"v":{"@type":"decimal","value":3}}"#,
                #"{"v":{"@type":"decimal","value":"1","more":1}}"#, #"{"v":{"@type":"blob","value":"1"}}"#,
                #"{"v":{"@type":"decimal","value":"0x10"}}"#, #"{"v":{"@type":"decimal","value":"1e999"}}"#,
                #"{"@type":"decimal","value":"1"}"#,
            ])
        #expect(
            try fixture.rows("SELECT isobject(v) FROM objects WHERE v IS VALUED")
                == Array(repeating: "true", count: 6))
        #expect(try fixture.rows("SELECT `value` FROM objects WHERE `@type` = 'decimal'") == ["\"1\""])
    }

    /// What earlier versions stored is read as before; as text it compares as text.
    @Test func digitsAsTextAreRead() throws {
        try fixture.fill("items", [#"{"_id":"old","price":"3.3333333333333333333"}"#])
        #expect(try items.document("old")?.price == Decimal(string: "3.3333333333333333333"))
        #expect(try fixture.rows("SELECT tonumber(price) > 50 FROM items WHERE _id = 'old'") == ["false"])
    }
}
