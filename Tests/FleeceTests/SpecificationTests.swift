import Fleece
import Testing

/// The worked examples of couchbase/fleece: `Fleece.md`, `Example.md`, `EncoderTests.cc` and `SharedKeysTests.cc`.
@Suite struct SpecificationTests {
    @Test(
        arguments: [
            (0, "0000"), (128, "0080"), (1234, "04D2"), (-1234, "0B2E"), (2047, "07FF"), (-2048, "0800"),
            (2048, "1100 0800 8002"), (-2049, "11FF F700 8002"), (12_345_678, "134E 61BC 0000 8003"),
            (-12_345_678, "13B2 9E43 FF00 8003"), (0x22_3344, "1244 3322 8002"),
            (0xBB_CCDD, "13DD CCBB 0000 8003"),
            (0x11_2233_4455_6677, "1677 6655 4433 2211 8004"),
            (0x1122_3344_5566_7788, "1788 7766 5544 3322 1100 8005"),
            (-0x1122_3344_5566_7788, "1778 8899 AABB CCDD EE00 8005"),
        ] as [(Int64, String)])
    func integers(value: Int64, expected: String) throws {
        #expect(try hex(written { $0.write(value) }) == expected)
        #expect(try root(bytes(expected)).int64 == value)
    }

    @Test(
        arguments: [
            (0xCCBB_AA99_8877_6655, "1F55 6677 8899 AABB CC00 8005"),
            (UInt64.max, "1FFF FFFF FFFF FFFF FF00 8005"),
        ] as [(UInt64, String)])
    func unsignedIntegers(value: UInt64, expected: String) throws {
        #expect(try hex(written { $0.write(value) }) == expected)
        let read = try root(bytes(expected))
        #expect(read.uint64 == value)
        #expect(read.int64 == nil)
    }

    /// The reference encoder writes whole numbers as integers; that example, 0.0 -> 0000, is left out on purpose.
    @Test(
        arguments: [
            (0.5, "2000 0000 003F 8003"), (-0.5, "2000 0000 00BF 8003"),
            (Double(Float(Double.pi)), "2000 DB0F 4940 8003"),
            (Double.pi, "2800 182D 4454 FB21 0940 8005"),
        ] as [(Double, String)])
    func floatingPointNumbers(value: Double, expected: String) throws {
        #expect(try hex(written { $0.write(value) }) == expected)
        #expect(try root(bytes(expected)).double == value)
    }

    @Test func specialValues() throws {
        #expect(try hex(written { $0.writeNull() }) == "3000")
        #expect(try hex(written { $0.write(false) }) == "3400")
        #expect(try hex(written { $0.write(true) }) == "3800")
        #expect(try hex(written { $0.writeUndefined() }) == "3C00")
        #expect(try root([0x30, 0]).isNull)
        #expect(try root([0x34, 0]).bool == false)
        #expect(try root([0x38, 0]).bool == true)
        #expect(try root([0x3C, 0]).kind == .undefined)
    }

    @Test(arguments: [
        ("", "4000"), ("a", "4161"), ("ab", "4261 6200 8002"),
        ("abcdefghijklmn", "4E61 6263 6465 6667 6869 6A6B 6C6D 6E00 8008"),
        ("abcdefghijklmno", "4F0F 6162 6364 6566 6768 696A 6B6C 6D6E 6F00 8009"),
        ("abcdefghijklmnop", "4F10 6162 6364 6566 6768 696A 6B6C 6D6E 6F70 8009"),
        ("müßchop", "496D C3BC C39F 6368 6F70 8005"),
    ])
    func strings(value: String, expected: String) throws {
        #expect(try hex(written { $0.write(value) }) == expected)
        #expect(try root(bytes(expected)).string == value)
    }

    @Test func arrays() throws {
        #expect(try hex(converted("[]")) == "6000")
        #expect(try hex(converted("[null]")) == "6001 3000 8002")
        let two = try converted(#"["a", "hello"]"#)
        #expect(hex(two) == "4568 656C 6C6F 6002 4161 8005 8003")
        #expect(try root(two).array?.map(\.string) == ["a", "hello"])
    }

    @Test func dictionaries() throws {
        #expect(try hex(converted("{}")) == "7000")
        #expect(try hex(converted(#"{"f": 42}"#)) == "7001 4166 002A 8003")
        let example = "436F 2D6F 7001 8003 002A 8003"
        #expect(try hex(converted(#"{"o-o": 42}"#)) == example)
        let value = try root(bytes(example))
        #expect(value["o-o"].int == 42)
        #expect(!value["barrr"].exists)
    }

    @Test func repeatedStringsAreWrittenOnce() throws {
        let array = try converted(#"["a", "hello", "a", "hello"]"#)
        #expect(hex(array) == "4568 656C 6C6F 6004 4161 8005 4161 8007 8005")
    }

    @Test func wideDictionaryWithInlineKey() throws {
        let value = try root(bytes("7801 43 666F6F 007B0000 8005"))
        #expect(value["foo"].int == 123)
        #expect(value.json() == #"{"foo":123}"#)
    }

    @Test func integerKeys() throws {
        let keys = try SharedKeys((0..<2048).map { "k\($0)" })
        let body = try converted(#"{"k2047": -1, "k0": 23, "k1": 42}"#, sharedKeys: keys)
        #expect(hex(body) == "7003 0000 0017 0001 002A 07FF 0FFF 8007")
        #expect(try root(body, sharedKeys: keys)["k2047"].int == -1)
    }

    @Test func documentedExample() throws {
        let json = #"""
            {"hello": "world!", "time": 1234567890, "float": 0.01234, "boolean": true, "otherbool": false,
             "null": null, "obj": {"what": "that"}, "arr": [1,2,3]}
            """#
        let expected = bytes(
            """
            45 68 65 6c 6c 6f 46 77  6f 72 6c 64 21 00 44 74
            69 6d 65 00 1b d2 02 96  49 00 45 66 6c 6f 61 74
            28 00 f6 0b 76 c3 b6 45  89 3f 47 62 6f 6f 6c 65
            61 6e 49 6f 74 68 65 72  62 6f 6f 6c 44 6e 75 6c
            6c 00 43 6f 62 6a 44 77  68 61 74 00 44 74 68 61
            74 00 70 01 80 07 80 05  43 61 72 72 60 03 00 01
            00 02 00 03 70 08 80 07  80 06 80 20 38 00 80 2a
            80 28 80 39 80 37 80 1d  30 00 80 1c 80 15 80 26
            34 00 80 3a 80 38 80 11
            """)
        var signed = expected
        // The example's encoder marked the positive integer as unsigned, which newer ones do only beyond 2⁶³ - 1.
        signed[0x14] = 0x13
        #expect(try hex(converted(json)) == hex(signed))
        let value = try root(expected)
        #expect(value["arr"].array?.map(\.int) == [1, 2, 3])
        #expect(value["obj"]["what"].string == "that")
        #expect(value == (try FleeceDocument(json: json)).root)
    }

    @Test func sharedKeys() throws {
        var writer = FleeceWriter(sharedKeys: SharedKeys())
        writer.beginDictionary()
        writer.key("type")
        writer.write("animal")
        writer.key("mass")
        writer.write(123.456)
        writer.key("_attachments")
        writer.beginDictionary()
        writer.key("thumbnail.jpg")
        writer.write(data: Array("xxxxxx".utf8))
        writer.key("type")
        writer.write(true)
        writer.endDictionary()
        writer.endDictionary()
        let body = try writer.finish()
        let expected = """
            46616e696d616c00280077be9f1a2fdd5e404d7468756d626e61696c2e6a70675678787878787800
            700200003800800e800870030000801b000180190002800b8007
            """
        #expect(hex(body) == hex(bytes(expected)))
        let sharedKeys = writer.sharedKeys
        let keys = try #require(sharedKeys)
        #expect(keys.keys == ["type", "mass", "_attachments"])
        let value = try root(body, sharedKeys: keys)
        #expect(value["_attachments"]["thumbnail.jpg"].data == Array("xxxxxx".utf8))
        #expect(value["_attachments"]["type"].bool == true)
        #expect(value["type"].string == "animal")
    }
}
