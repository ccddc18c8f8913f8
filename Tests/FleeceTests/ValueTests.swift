import Fleece
import Testing

@Suite struct ValueTests {
    private let document = try! FleeceDocument(
        json: """
            {"name": "Apus apus", "grams": 42, "half": 0.5, "whole": 3.0, "big": 18446744073709551615, "alive": true,
             "nothing": null, "phones": [{"kind": "home", "n.o": "1"}, {"kind": "work"}], "address": {"street": "Gable"},
             "": "empty", "a\\\\b": 1}
            """)

    @Test func subscriptsChainThroughWhatIsMissing() {
        #expect(document["address"]["street"].string == "Gable")
        #expect(document["address"]["city"].string == nil)
        #expect(document["nowhere"]["at"][7]["all"].kind == .undefined)
        #expect(document["phones"][1]["kind"].string == "work")
        #expect(document["phones"]["kind"].string == nil)
        #expect(document["name"][0].string == nil)
        #expect(document["phones"][2].exists == false)
        #expect(document[""].string == "empty")
    }

    @Test func nullIsNotMissing() {
        #expect(document["nothing"].isNull)
        #expect(document["nothing"].exists)
        #expect(!document["missing"].isNull)
        #expect(!document["missing"].exists)
        #expect(document["nothing"]["below"].kind == .undefined)
        #expect(FleeceValue.undefined.description == "undefined")
    }

    @Test func accessorsDoNotConvertBetweenKinds() {
        let grams = document["grams"]
        #expect(grams.int == 42 && grams.double == 42 && grams.uint64 == 42)
        #expect(grams.string == nil && grams.bool == nil && grams.array == nil && grams.dictionary == nil)
        #expect(document["alive"].bool == true && document["alive"].int == nil)
        #expect(document["nothing"].bool == nil)
        #expect(document["name"].int == nil && document["name"].data == nil)
        #expect(document["half"].int == nil && document["half"].double == 0.5)
        #expect(document["whole"].int == 3)
        #expect(document["big"].int == nil && document["big"].uint64 == .max)
        #expect(document["big"].double == 0x1p64)
    }

    @Test func collectionsIterate() throws {
        let address = try #require(document["address"].dictionary)
        #expect(address.map(\.key) == ["street"] && address["street"].string == "Gable")
        let keys = try #require(document.root.dictionary).keys
        #expect(keys == keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } && keys.count == 11)
        let phones = try #require(document["phones"].array)
        #expect(phones.count == 2 && phones.last?["kind"].string == "work")
        #expect(phones[5].kind == .undefined && phones[-1].kind == .undefined)
        #expect(address[1].key == "" && address[1].value.kind == .undefined)
        #expect(phones.description == #"[{"kind":"home","n.o":"1"},{"kind":"work"}]"#)
    }

    @Test func valuesOutliveTheirDocument() throws {
        func name() throws -> FleeceValue {
            try FleeceDocument(json: #"{"name": "a long enough name"}"#)["name"]
        }
        #expect(try name().string == "a long enough name")
    }

    @Test func paths() throws {
        #expect(document[path: "phones[0].kind"].string == "home")
        #expect(document[path: "phones[-1].kind"].string == "work")
        #expect(document[path: "phones[-3].kind"].kind == .undefined)
        #expect(document[path: #"phones[0].n\.o"#].string == "1")
        #expect(document[path: #"a\\b"#].int == 1)
        #expect(document[path: ""] == document.root)
        #expect(document[path: "name[0]"].kind == .undefined)
        #expect(document["phones"][path: "[1].kind"].string == "work")
        #expect(try FleecePath(parsing: #"[0].n\.o"#).description == #"[0].n\.o"#)
    }

    @Test(arguments: [
        ".", "a.", "a..b", ".a", "a[", "a[]", "a[x]", "a]", "a[0]b", "a[1", "\\", "a.[0]",
        "a[99999999999999999999]",
    ])
    func malformedPaths(text: String) {
        #expect(failure { _ = try FleecePath(parsing: text) }?.code == .malformedPath)
    }

    @Test func equality() throws {
        func value(_ json: String) throws -> FleeceValue { try FleeceDocument(json: json).root }
        #expect(try value(#"{"a": [1, null, "x"], "b": {}}"#) == value(#"{"b": {}, "a": [1, null, "x"]}"#))
        for (left, right) in [
            ("1", "2"), ("1", "1.0"), ("1", "\"1\""), ("null", "false"), ("true", "false"), ("[1]", "[2]"),
            ("[1]", "[1, 1]"),
            ("[]", "{}"), (#"{"a": 1}"#, #"{"a": 2}"#), (#"{"a": 1}"#, #"{"b": 1}"#), (#"{"a": null}"#, "{}"),
            (#""ab""#, #""abc""#),
        ] {
            #expect(try value(left) != value(right), "\(left) \(right)")
        }
        #expect(FleeceValue.undefined == document["missing"])
        #expect(document["nothing"] != .undefined)
    }

    @Test func dump() throws {
        let body = try FleeceDocument(json: #"{"foo": 123, "list": [-1.5, "foo"]}"#)
        let expected = """
            0000: 43 66 6f 6f : "foo"
            0004: 44 6c 69 73…: "list"
            000a: 20 00 00 00…: -1.5
            0010: 60 02       : array of 2:
            0012: 80 04       :   → 000a -1.5
            0014: 80 0a       :   → 0000 "foo"
            0016: 70 02       : dictionary of 2:
            0018: 80 0c       :   → 0000 "foo"
            001a: 00 7b       :     123
            001c: 80 0c       :   → 0004 "list"
            001e: 80 07       :     → 0010 array of 2
            0020: 80 05       : → 0016 dictionary of 2

            """
        #expect(body.dump() == expected)
    }
}
