import Fleece
import RoostBytes
import Testing

@testable import RoostOrder

/// Keys can be read back as far as they hold the values, and damaged ones are refused.
@Suite struct KeyReaderTests {
    static let json = [
        "null", "false", "true", "0", "1", "-1", "0.5", "-1e300", "5e-324", "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615", #""""#, #""a\u0000b\u0001c""#, #""résumé 🦉""#, "[]", "[1,[2,[]],{}]",
        #"{"":null,"a":{"b":[true]},"z":"x"}"#,
    ]

    @Test("A value comes back from its key", arguments: [Collation.binary, .raw])
    func values(collation: Collation) throws {
        for json in Self.json {
            let expected = try value(json)
            try reading(key(expected, collation)) { view in
                var reader = KeyReader(view, collation)
                var writer = FleeceWriter()
                let isWhole = try reader.readValue(into: &writer)
                #expect(isWhole && reader.isAtEnd, "\(json)")
                let body = try writer.finish()
                #expect(try FleeceDocument(validating: body).root == expected, "\(json)")
            }
        }
    }

    @Test("Texts in Unicode's order do not come back, but are stepped over") func collated() throws {
        try reading(key(value(#"["a", {"b": "ß"}]"#), .couchDB)) { view in
            var reader = KeyReader(view, .couchDB)
            var writer = FleeceWriter()
            #expect(try !reader.readValue(into: &writer))
            var other = KeyReader(view, .couchDB)
            try other.skip()
            #expect(other.isAtEnd)
        }
    }

    @Test("The sizes that are promised") func sizes() throws {
        let sizes = [("5", 3), ("2026", 4), ("3.141592653589793", 10), ("9223372036854775807", 12)]
        for (json, size) in sizes { #expect(try key(value(json), .binary).count == size, "\(json)") }
        #expect(try key(value(#""resume""#), .couchDB).count == 8)
    }

    @Test("Cut and altered keys are refused or read as others, and nothing traps") func damage() throws {
        var random = Random(state: 2)
        for json in Self.json {
            let whole = try key(value(json), .binary)
            for length in 0..<whole.count {
                try reading(Array(whole[..<length])) { view in
                    var reader = KeyReader(view, .binary)
                    #expect(throws: MalformedBytes.self) { try reader.skip() }
                }
            }
            for _ in 0..<200 {
                var bytes = whole
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8(
                    truncatingIfNeeded: random.next())
                try reading(bytes) { view in
                    var reader = KeyReader(view, .binary)
                    var writer = FleeceWriter()
                    if (try? reader.readValue(into: &writer)) == true { _ = try? writer.finish() }
                }
            }
        }
    }
}
