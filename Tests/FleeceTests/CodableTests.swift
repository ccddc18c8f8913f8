import Fleece
import Foundation
import Testing

@Suite struct CodableTests {
    struct Bird: Codable, Equatable {
        enum Size: String, Codable { case small, large }
        struct Ring: Codable, Equatable {
            var number: UInt64
            var colour: String?
        }
        var name: String
        var grams: Double
        var wingspan: Float
        var count: Int8
        var total: UInt64
        var isMigrant: Bool
        var size: Size
        var tags: [String]
        var rings: [Ring]
        var sightings: [String: [Int]]
        var partner: String?
        var seen: Date
        var photo: Data
        var page: URL
        var matrix: [[Double?]]
    }

    static let bird = Bird(
        name: "Apus apus", grams: 42.5, wingspan: 0.43, count: -7, total: .max, isMigrant: true, size: .small,
        tags: ["swift", "swift", "bird"],
        rings: [.init(number: 1, colour: nil), .init(number: 2, colour: "red")],
        sightings: ["Utrecht": [1, 2, 3], "": []], partner: nil,
        seen: Date(timeIntervalSince1970: 1_700_000_000.125),
        photo: Data([0, 1, 254, 255]), page: URL(string: "https://example.org/swift?q=1")!,
        matrix: [[1, nil], [], [2.5]])

    @Test func structuresRoundTrip() throws {
        let body = try FleeceEncoder().encode(Self.bird)
        let document = try FleeceDocument(validating: body)
        #expect(try FleeceDecoder().decode(Bird.self, from: document.root) == Self.bird)
        #expect(document["seen"].string == "2023-11-14T22:13:20.125Z")
        #expect(document["photo"].data == [0, 1, 254, 255])
        #expect(document["page"].string == "https://example.org/swift?q=1")
        #expect(document["partner"].kind == .undefined)
        #expect(document["matrix"].json() == "[[1.0,null],[],[2.5]]")
        #expect(document["total"].uint64 == .max)
        #expect(document["wingspan"].double == Double(Float(0.43)))
    }

    @Test func structuresRoundTripThroughJSONAndSharedKeys() throws {
        var writer = FleeceWriter(sharedKeys: SharedKeys())
        try FleeceEncoder().encode(Self.bird, to: &writer)
        let body = try writer.finish()
        let keys = writer.sharedKeys
        #expect(keys?.number(of: "isMigrant") != nil)
        let value = try root(body, sharedKeys: keys)
        #expect(try FleeceDecoder().decode(Bird.self, from: value) == Self.bird)
        let text = try FleeceDocument(json: value.json())
        #expect(try FleeceDecoder().decode(Bird.self, from: text.root) == Self.bird)
    }

    class Animal: Codable {
        var name = "?"
        init() {}
    }

    final class Swift: Animal {
        var speed = 0
        enum CodingKeys: CodingKey { case speed }
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            speed = try container.decode(Int.self, forKey: .speed)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try super.encode(to: container.superEncoder())
            try container.encode(speed, forKey: .speed)
        }
    }

    @Test func classesRoundTrip() throws {
        let swift = Swift()
        swift.name = "Apus"
        swift.speed = 111
        let document = try FleeceDocument(validating: FleeceEncoder().encode(swift))
        #expect(document.root.json(.canonical) == #"{"speed":111,"super":{"name":"Apus"}}"#)
        let decoded = try FleeceDecoder().decode(Swift.self, from: document.root)
        #expect(decoded.name == "Apus" && decoded.speed == 111)
    }

    /// Fills containers in an order that no stack of open collections could follow.
    struct Interleaved: Encodable {
        enum Key: CodingKey { case first, second, third, late }
        func encode(to encoder: any Encoder) throws {
            var keyed = encoder.container(keyedBy: Key.self)
            var first = keyed.nestedUnkeyedContainer(forKey: .first)
            var second = keyed.nestedContainer(keyedBy: Key.self, forKey: .second)
            try first.encode("a")
            try second.encode(1, forKey: .late)
            var inner = first.nestedUnkeyedContainer()
            let third = keyed.superEncoder(forKey: .third)
            try first.encode("b")
            try inner.encode(2)
            try second.encode("x", forKey: .first)
            try inner.encode(3)
            _ = keyed.superEncoder(forKey: .late)
            var single = third.singleValueContainer()
            try single.encode(4.5)
            var again = encoder.container(keyedBy: Key.self)
            try again.encode("again", forKey: .late)
        }
    }

    @Test func containersAreFilledInAnyOrder() throws {
        let document = try FleeceDocument(validating: FleeceEncoder().encode(Interleaved()))
        let expected =
            #"{"first":["a",[2,3],"b"],"late":"again","second":{"first":"x","late":1},"third":4.5}"#
        #expect(document.root.json(.canonical) == expected)
    }

    @Test func scalarsAndCollectionsAreRoots() throws {
        func roundTrip<T: Codable & Equatable>(_ value: T) throws {
            let document = try FleeceDocument(validating: FleeceEncoder().encode(value))
            #expect(try FleeceDecoder().decode(T.self, from: document.root) == value)
        }
        try roundTrip(5)
        try roundTrip("text")
        try roundTrip(true)
        try roundTrip(1.5)
        try roundTrip([1, 2, 3])
        try roundTrip(["a": [1: "x"]])
        try roundTrip([Int?.none, 3])
        try roundTrip(Date(timeIntervalSince1970: 12))
        try roundTrip(Data([1, 2]))
        try roundTrip(Bird.Size.large)
        try roundTrip(UUID())
        try roundTrip([UInt8.max, .min])
        try roundTrip([Int16.min, .max])
        try roundTrip([UInt32.max])
        try roundTrip([Float.greatestFiniteMagnitude])
    }

    @Test func valuesAreMembers() throws {
        struct Envelope: Codable, Equatable {
            var id: Int
            var payload: FleeceValue
        }
        let payload = try FleeceDocument(json: #"{"any": ["thing", 1, 2.0, null, {"a": true}]}"#).root
        let envelope = Envelope(id: 1, payload: payload)
        let document = try FleeceDocument(validating: FleeceEncoder().encode(envelope))
        #expect(document[path: "payload.any[0]"].string == "thing")
        #expect(try FleeceDecoder().decode(Envelope.self, from: document.root) == envelope)
        let json = try JSONEncoder().encode(envelope)
        let decoded = try JSONDecoder().decode(Envelope.self, from: json)
        #expect(decoded.payload[path: "any[4].a"].bool == true)
        #expect(decoded.payload["any"][3].isNull)
    }

    @Test func strategies() throws {
        let date = Date(timeIntervalSince1970: 1234.5)
        var encoder = FleeceEncoder()
        var decoder = FleeceDecoder()
        encoder.dataStrategy = .base64
        let data = try FleeceDocument(trusting: encoder.encode(Data([1, 2, 3, 4])))
        #expect(data.root.string == "AQIDBA==")
        #expect(try decoder.decode(Data.self, from: data.root) == Data([1, 2, 3, 4]))
        for (strategy, number) in [
            (FleeceDateStrategy.secondsSince1970, 1234.5), (.millisecondsSince1970, 1_234_500),
        ] {
            encoder.dateStrategy = strategy
            decoder.dateStrategy = strategy
            let value = try FleeceDocument(trusting: encoder.encode(date)).root
            #expect(value.double == number)
            #expect(try decoder.decode(Date.self, from: value) == date)
            #expect(throws: DecodingError.self) { try FleeceDecoder().decode(Date.self, from: value) }
        }
    }

    @Test(arguments: [
        ("1970-01-01", 0), ("2000-02-29T00:00:00Z", 951_782_400), ("1969-12-31T23:59:59.999Z", -0.001),
        ("2014-01-28T05:37:03+08:00", 1_390_858_623), ("2014-01-28 05:37:03-0130", 1_390_892_823),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799.999), ("0000-01-01T00:00Z", -62_167_219_200),
        ("2016-12-31T23:59:60Z", 1_483_228_800), ("2026-03-01T12:34:56.123456789Z", 1_772_368_496.123_456_7),
    ])
    func datesAreRead(text: String, seconds: Double) throws {
        let value = try FleeceDocument(trusting: written { $0.write(text) }).root
        let date = try #require(value.date)
        #expect(abs(date.timeIntervalSince1970 - seconds) < 1e-6)
    }

    @Test(arguments: [
        "", "2026", "2026-13-01", "2026-02-29", "2026-00-10", "2026-01-01T24:00Z", "2026-01-01T00:60Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T", "2026-01-01T1:00", "2026-01-01T00:00Zx", "2026-01-01T00:00:00.Z", "26-01-01",
        "2026-01-01T00:00+1",
        "2014-01-28T05:37:03 +08:00",
    ])
    func otherTextsAreNoDates(text: String) throws {
        #expect(try FleeceDocument(trusting: written { $0.write(text) }).root.date == nil)
    }

    @Test func datesAreWritten() throws {
        let date = Date(timeIntervalSince1970: 951_782_399.999)
        #expect(try FleeceDocument(trusting: written { $0.write(date) }).root.date == date)
        #expect(throws: FleeceError.self) { try written { $0.write(Date(timeIntervalSince1970: .infinity)) } }
    }

    @Test func decodingErrorsNameThePath() throws {
        let document = try FleeceDocument(
            json: #"{"name": "x", "rings": [{"number": 1}, {"number": "two"}], "count": 300}"#)
        struct Rings: Decodable { var rings: [Bird.Ring] }
        let mismatch = #expect(throws: DecodingError.self) {
            try FleeceDecoder().decode(Rings.self, from: document.root)
        }
        guard case .typeMismatch(_, let context)? = mismatch else {
            return #expect(Bool(false), "\(mismatch as Any)")
        }
        #expect(context.codingPath.map(\.stringValue) == ["rings", "1", "number"])

        struct Count: Decodable { var count: Int8 }
        let overflow = #expect(throws: DecodingError.self) {
            try FleeceDecoder().decode(Count.self, from: document.root)
        }
        guard case .dataCorrupted(let context)? = overflow else {
            return #expect(Bool(false), "\(overflow as Any)")
        }
        #expect(context.codingPath.map(\.stringValue) == ["count"])

        struct Missing: Decodable { var nothing: Int }
        let missing = #expect(throws: DecodingError.self) {
            try FleeceDecoder().decode(Missing.self, from: document.root)
        }
        guard case .keyNotFound(let key, _)? = missing else {
            return #expect(Bool(false), "\(missing as Any)")
        }
        #expect(key.stringValue == "nothing")
        #expect(throws: DecodingError.self) { try FleeceDecoder().decode([Int].self, from: .undefined) }
    }

    @Test func listsOfTexts() throws {
        struct Tagged: Codable, Equatable { var tags: [String] }
        for tags in [[], ["é"], (0..<100).map { "tag \($0)" }] {
            let body = try FleeceEncoder().encode(Tagged(tags: tags))
            let decoded = try FleeceDecoder().decode(
                Tagged.self, from: FleeceDocument(validating: body).root)
            #expect(decoded.tags == tags)
        }
        let document = try FleeceDocument(json: #"{"tags": ["a", 1]}"#)
        let mismatch = #expect(throws: DecodingError.self) {
            try FleeceDecoder().decode(Tagged.self, from: document.root)
        }
        guard case .typeMismatch(_, let context)? = mismatch else {
            return #expect(Bool(false), "\(mismatch as Any)")
        }
        #expect(context.codingPath.map(\.stringValue) == ["tags", "1"])
    }

    @Test func encodingErrors() throws {
        let infinite = #expect(throws: EncodingError.self) {
            try FleeceEncoder().encode(["a": [1, Double.infinity]])
        }
        guard case .invalidValue(_, let context)? = infinite else {
            return #expect(Bool(false), "\(infinite as Any)")
        }
        #expect(context.codingPath.map(\.stringValue) == ["a", "1"])

        struct Nested: Encodable {
            var depth: Int
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                if depth > 1 { try container.encode(Nested(depth: depth - 1)) }
            }
        }
        #expect(throws: Never.self) { try FleeceEncoder().encode(Nested(depth: 500)) }
        #expect(throws: FleeceError.self) { try FleeceEncoder().encode(Nested(depth: 520)) }

        // The writer can be used again, and its shared keys survive.
        var writer = FleeceWriter(sharedKeys: SharedKeys())
        #expect(throws: EncodingError.self) { try FleeceEncoder().encode(["a": Double.nan], to: &writer) }
        writer.removeAll()
        try FleeceEncoder().encode(["a": 1], to: &writer)
        let body = try writer.finish()
        let keys = writer.sharedKeys
        #expect(try root(body, sharedKeys: keys)["a"].int == 1)
    }
}
