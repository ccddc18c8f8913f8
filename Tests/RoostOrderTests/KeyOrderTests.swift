import Fleece
import RoostBytes
import Testing

@testable import RoostOrder

/// Keys compare as values do.
@Suite struct KeyOrderTests {
    /// The table in CouchDB's documentation of view collation, with numbers, nested arrays and objects in more detail.
    static let couchDB = """
        null;false;true;-1e300;-9223372036854775808;-1.5;-1;0;0.5;1;2;3.0;4;9007199254740993;18446744073709551615;1e300
        "";"a";"A";"aa";"b";"B";"ba";"bb";"résumé";"resumes"
        [];["a"];["b"];["b","c"];["b","c","a"];["b","d"];["b","d","e"]
        {};{"a":1};{"a":2};{"b":1};{"b":2};{"b":2,"a":1};{"b":2,"c":2}
        """

    /// CouchDB's raw collation: numbers, false, null, true, objects, arrays, strings by bytes.
    static let raw = """
        1;2;false;null;true;{};{"a":1};[];["a"];["b","c"];"";"A";"B";"a";"aa";"é"
        """

    /// The order of queries: strings by bytes.
    static let binary = """
        null;false;true;-1;0;1;"";"A";"B";"a";"a\\u0000";"a\\u0000b";"a\\u0001";"aa";"é";[];[1];[[]];{};{"":0};{"a":1}
        """

    static let tables = [(Collation.couchDB, couchDB), (.raw, raw), (.binary, binary)]

    @Test("Keys and comparisons follow the documented order", arguments: tables)
    func documented(collation: Collation, table: String) throws {
        let lines = table.split(whereSeparator: { ";\n".contains($0) }).map { String($0) }
        // Members stand by their names, so this one comes before those that begin with b.
        let values = try lines.filter { $0 != #"{"b":2,"a":1}"# }.map(value)
        for (index, a) in values.enumerated() {
            for (other, b) in values.enumerated() {
                let expected = (index - other).signum()
                #expect(compare(try key(a, collation), try key(b, collation)) == expected, "\(a) \(b)")
                #expect(collation.compare(a, b).signum() == expected, "\(a) \(b)")
            }
        }
    }

    @Test(
        "What the order holds equal has one key",
        arguments: [
            ("1", "1.0"), ("0", "-0.0"), (#""é""#, #""e\u0301""#), ("[1,2]", "[1.0,2e0]"),
            (#""\uac00""#, #""\u1100\u1161""#),
            (#"{"a":1,"b":2}"#, #"{"b":2.0,"a":1}"#), (#""a\u0001""#, #""a""#),
        ])
    func equal(a: String, b: String) throws {
        #expect(try key(value(a), .couchDB) == key(value(b), .couchDB))
        #expect(try Collation.couchDB.compare(value(a), value(b)) == 0)
    }

    @Test("A complemented column orders the other way, in front of others") func descending() throws {
        let values = try ["null", "-1", "2", #""""#, #""a""#, #""ab""#, "[]", "[1]", "{}"].map(value)
        let keys = try values.map { value in
            let encoder = KeyEncoder(.binary)
            encoder.append(Int64(7))
            let start = encoder.count
            try encoder.append(value)
            encoder.complement(from: start)
            encoder.append("rest")
            return encoder.key
        }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { compare($0, $1) > 0 })
        for key in keys {
            try reading(key) { view in
                var reader = KeyReader(view, .binary)
                try reader.skip()
                var column = KeyReader(view, .binary, from: reader.position, isDescending: true)
                try column.skip()
                var rest = KeyReader(view, .binary, from: column.position)
                var writer = FleeceWriter()
                let isWhole = try rest.readValue(into: &writer)
                let body = try writer.finish()
                #expect(isWhole && rest.isAtEnd)
                #expect(FleeceDocument(trusting: body).root.string == "rest")
            }
        }
    }

    @Test("Random numbers of every form compare exactly") func numbers() throws {
        var random = Random(state: 1)
        func number() -> FleeceValue {
            var writer = FleeceWriter()
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                writer.write(Int64(bitPattern: random.next() >> UInt64.random(in: 0..<64, using: &random)))
            case 1: writer.write(random.next() >> UInt64.random(in: 0..<64, using: &random))
            case 2: writer.write(Double(Int64.random(in: -9...9, using: &random)))
            case 3: writer.write(Double(bitPattern: random.next() & ~(1 << 62)))
            default: writer.write(Double(Int64(bitPattern: random.next())) + 0.5)
            }
            return try! FleeceDocument(trusting: writer.finish()).root
        }
        for _ in 0..<20_000 {
            let (a, b) = (number(), number())
            let expected = exactly(a, b)
            #expect(compare(try key(a, .binary), try key(b, .binary)) == expected, "\(a) \(b)")
            #expect(Collation.binary.compare(a, b) == expected, "\(a) \(b)")
        }
    }

    /// Compares two numbers in another way than the keys do: whole parts as 128-bit integers, then the doubles.
    private func exactly(_ a: FleeceValue, _ b: FleeceValue) -> Int {
        func whole(_ value: FleeceValue) -> Int128? {
            value.int64.map { Int128($0) } ?? value.uint64.map { Int128($0) }
                ?? value.double.flatMap { $0.magnitude < 1e37 ? Int128($0.rounded(.towardZero)) : nil }
        }
        func fraction(_ value: FleeceValue) -> Double {
            value.kind == .double ? value.double! - value.double!.rounded(.towardZero) : 0
        }
        guard let x = whole(a), let y = whole(b) else {
            let (x, y) = (a.double!, b.double!)
            return x < y ? -1 : x == y ? 0 : 1
        }
        if x != y { return x < y ? -1 : 1 }
        return fraction(a) < fraction(b) ? -1 : fraction(a) == fraction(b) ? 0 : 1
    }

    @Test("A damaged body that is nested too deep is refused, and comparing it ends") func depth() throws {
        let deep = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try !key(value(deep), .couchDB).isEmpty)
        #expect(try Collation.couchDB.compare(value(deep), value(deep)) == 0)
        // Arrays of one pointer to the one before, more of them than any writer would nest.
        var body: [UInt8] = [0x60, 0x00]
        for _ in 0..<600 { body += [0x60, 0x01, 0x80, body.count == 2 ? 2 : 3] }
        body += [0x80, 0x02]
        let damaged = FleeceDocument(trusting: body).root
        #expect(throws: FleeceError.self) { try key(damaged, .couchDB) }
        #expect(Collation.couchDB.compare(damaged, damaged) == 0)
    }
}
