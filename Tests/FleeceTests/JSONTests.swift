import Fleece
import Testing

@Suite struct JSONTests {
    private func value(_ json: String) throws -> FleeceValue { try root(converted("[\(json)]"))[0] }

    @Test(arguments: [
        ("0", "0"), ("-1", "-1"), ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"), ("9223372036854775808", "9223372036854775808"),
        ("18446744073709551615", "18446744073709551615"), ("1.0", "1.0"), ("1e2", "100.0"), ("-0", "-0.0"),
        ("-0.0", "-0.0"), ("0.1", "0.1"), ("1E+2", "100.0"), ("5e-324", "5e-324"), ("1e-400", "0.0"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"), ("123.456", "123.456"),
        ("6.02e+23", "6.02e+23"),
        ("0.10000000149011612", "0.10000000149011612"), ("3.4028234663852886e38", "3.4028234663852886e+38"),
        ("100000000000000000000000000000000000000000000000000.5", "1e+50"),
        ("9007199254740993.0", "9007199254740992.0"),
        ("18446744073709551616", "1.8446744073709552e+19"),
        ("-9223372036854775809", "-9.223372036854776e+18"),
        ("2.2250738585072011e-308", "2.225073858507201e-308"), ("1234567.12345678", "1234567.12345678"),
    ])
    func numbers(text: String, expected: String) throws {
        #expect(try value(text).json() == expected)
    }

    @Test func numbersKeepTheirKind() throws {
        #expect(try value("1").kind == .integer)
        #expect(try value("1.0").kind == .double)
        #expect(try value("1.0") != value("1"))
        #expect(try value("18446744073709551615").uint64 == .max)
        #expect(try value("18446744073709551616").kind == .double)
        #expect(try value("-0").double?.sign == .minus)
    }

    @Test func doublesAreWrittenAsShortAsTheStandardLibraryDoes() throws {
        var random = Random(state: 3)
        for round in 0..<20_000 {
            let number =
                round % 2 == 0
                ? Double(Int.random(in: -99_999_999...99_999_999, using: &random)) / 1e5
                : Double(bitPattern: random.next())
            guard number.isFinite else { continue }
            let value = try FleeceDocument(trusting: written { $0.write(number) }).root
            #expect(value.json() == number.description)
        }
    }

    @Test(arguments: ["1e400", "-1e400", "1e999999999999", "2e308"])
    func numbersBeyondDoubleAreErrors(text: String) {
        #expect(failure { _ = try value(text) }?.code == .unrepresentableNumber)
    }

    @Test(arguments: [
        (#""""#, ""), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""H\u0061ppy""#, "Happy"),
        (#""\u20ac\uFFFF""#, "€\u{FFFF}"), (#""a\u0000b""#, "a\u{0}b"), (#""lmao\uD83D\uDE1C!""#, "lmao😜!"),
        (#""\ud800\udc00\udbff\udfff""#, "\u{10000}\u{10FFFF}"),
        ("\"müßchop 漢字 🐦\u{7F}\"", "müßchop 漢字 🐦\u{7F}"),
        ("\"1234567é\"", "1234567é"), (#""12345678\n12345678""#, "12345678\n12345678"),
    ])
    func strings(text: String, expected: String) throws {
        let value = try value(text)
        #expect(value.string == expected)
        #expect(try self.value(value.json()).string == expected)
    }

    @Test(arguments: [
        #""\uD83D""#, #""\uD83Dx""#, #""\uD83D\n""#, #""\uD83D\u0041""#, #""\uDE1C\uD83D""#, #""\uDE1C""#,
    ])
    func loneSurrogatesAreErrors(text: String) {
        #expect(failure { _ = try value(text) }?.code == .illFormedText)
    }

    @Test(
        arguments: [
            [0x80], [0xC3], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xED, 0xA0, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
            [0xE2, 0x82],
            [0xF0, 0x9F, 0x98], [0xC3, 0x28],
        ] as [[UInt8]])
    func illFormedUTF8IsAnError(sequence: [UInt8]) {
        for padding in [0, 5, 8, 20] {
            let text = [0x22] + Array(repeating: UInt8(ascii: "a"), count: padding) + sequence + [0x22]
            let error = failure { _ = try FleeceDocument(json: text) }
            #expect(error?.code == .illFormedText)
            #expect(error?.offset == 1 + padding)
        }
    }

    @Test(arguments: [
        "", " ", "x", "nul", "nulll", "tru", "truee", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]",
        "[1 2]", "{\"a\"}",
        "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[1}",
        "{\"a\":1]", "01", "-",
        "-01", "+1", ".5", "1.", "1.e2", "1e", "1e+", "0x10", "NaN", "Infinity", "-Infinity", "\"", "\"abc",
        "\"\\\"", "\"\\x\"",
        "\"\\u12\"", "\"\\u12G4\"", "\"\u{1}\"", "\"a\nb\"", "\"tab\t\"", "1 2", "[] []", "// c\n1",
        "/* c */ 1", "[1, /* c */ 2]",
        "\u{FEFF}1", "\u{A0}1", "[1]\u{0}", "\u{0}", "{1:2}", "{null:1}", "{\"a\":1,,\"b\":2}", "'a'",
        "[undefined]", "1_000",
    ])
    func malformedTextIsAnError(text: String) {
        #expect(failure { _ = try FleeceDocument(json: text) }?.code == .malformedJSON, "\(text)")
    }

    @Test func errorsNameThePlace() throws {
        let error = try #require(failure { _ = try FleeceDocument(json: "{\n  \"a\": [1,\n  2 3]}") })
        #expect(error.offset == 17)
        #expect(error.line == 3)
        #expect(error.column == 5)
        #expect(
            error.description == "Line 3, column 5: Here a comma or a closing bracket is expected, not “3”.")
        let end = try #require(failure { _ = try FleeceDocument(json: "[") })
        #expect(end.description == "Line 1, column 2: The text ends where a value is expected.")
    }

    @Test func nestingIsLimited() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[{\"a\":", count: depth / 2) + "1" + String(repeating: "}]", count: depth / 2)
        }
        let deepest = try FleeceDocument(json: nested(FleeceLimits.maximumDepth))
        #expect(deepest.root.json() == nested(FleeceLimits.maximumDepth))
        #expect(try FleeceDocument(validating: deepest.bytes) == deepest)
        #expect(
            failure { _ = try FleeceDocument(json: nested(FleeceLimits.maximumDepth + 2)) }?.code == .tooDeep)
        #expect(
            failure { _ = try FleeceDocument(json: String(repeating: "[", count: 1_000_000)) }?.code
                == .tooDeep)
    }

    @Test func lastOfSeveralValuesForAKeyCounts() throws {
        let json = #"{"b": 1, "a": 2, "b": 3, "é": 4, "b": 5, "\u00e9": 6, "": 7, "": 8, "\u0000": 9}"#
        let value = try root(converted(json))
        #expect(value.json(.canonical) == #"{"":8,"\u0000":9,"a":2,"b":5,"é":6}"#)
        var keys = SharedKeys()
        keys.add("b")
        let sharing = try root(converted(json, sharedKeys: keys), sharedKeys: SharedKeys(["b", "a", ""]))
        #expect(sharing == value)
    }

    @Test func formats() throws {
        let keys = try SharedKeys(["zebra", "ant"])
        let body = try converted(
            #"{"ant": [], "bee.s": {}, "zebra": [1, {"ant": "\u001f\u007f\"\\/"}]}"#, sharedKeys: keys)
        let value = try root(body, sharedKeys: keys)
        #expect(value.json() == #"{"zebra":[1,{"ant":"\u001f\#u{7F}\"\\/"}],"ant":[],"bee.s":{}}"#)
        #expect(value.json(.canonical) == #"{"ant":[],"bee.s":{},"zebra":[1,{"ant":"\u001f\#u{7F}\"\\/"}]}"#)
        let pretty = """
            {
              "zebra": [
                1,
                {
                  "ant": "\\u001f\u{7F}\\"\\\\/"
                }
              ],
              "ant": [],
              "bee.s": {}
            }
            """
        #expect(value.json(.pretty) == pretty)
        #expect(value.jsonBytes() == Array(value.json().utf8))
    }

    @Test func dataIsWrittenAsBase64AndUndefinedLeftOut() throws {
        let body = try written { writer in
            writer.beginDictionary()
            for (key, length) in [("a", 0), ("b", 1), ("c", 2), ("d", 3), ("e", 17)] {
                writer.key(key)
                writer.write(data: Array("not-really-binary".utf8.prefix(length)))
            }
            writer.key("u")
            writer.writeUndefined()
            writer.endDictionary()
        }
        let value = try root(body)
        let expected = #"{"a":"","b":"bg==","c":"bm8=","d":"bm90","e":"bm90LXJlYWxseS1iaW5hcnk="}"#
        #expect(value.json() == expected)
        #expect(value["e"].data == Array("not-really-binary".utf8))
        #expect(!value["u"].exists)
        #expect(FleeceValue.undefined.json() == "null")
    }

    @Test func writerContinuesBehindJSON() throws {
        let body = try written { writer in
            writer.beginDictionary()
            writer.key("a")
            try writer.write(json: "[1, {\"b\": 2}]")
            writer.key("c")
            try writer.write(json: Array("3".utf8))
            writer.endDictionary()
        }
        #expect(try root(body).json() == #"{"a":[1,{"b":2}],"c":3}"#)
    }
}
