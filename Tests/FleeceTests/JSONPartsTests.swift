import Testing

@testable import Fleece

/// JSON texts that are taken apart without being parsed.
@Suite struct JSONPartsTests {
    private func elements(_ text: String) -> [String]? {
        JSONParts.elements(of: Array(text.utf8)[...])?.map { String(decoding: $0, as: UTF8.self) }
    }

    private func members(_ text: String) -> [String]? {
        JSONParts.members(of: Array(text.utf8)[...])?.map { name, value in
            String(decoding: name, as: UTF8.self) + "=" + String(decoding: value, as: UTF8.self)
        }
    }

    @Test func partsAreWhatStandsBetweenCommas() {
        #expect(elements("[]") == [])
        #expect(
            elements(" [ 1 , \"a,]\\\"\" ,[2,[3]],{\"b\":[4,5]} ] \n") == [
                "1", #""a,]\"""#, "[2,[3]]", #"{"b":[4,5]}"#,
            ])
        #expect(members("{}") == [])
        #expect(
            members(#"{"a" : 1,"b:":{"c":"}"} , "d":[ ]}"#) == [#""a"=1"#, #""b:"={"c":"}"}"#, #""d"=[ ]"#])
    }

    /// A part is not looked into: what is no JSON spoils no other.
    @Test func aPartThatIsNoJSONIsAPart() {
        #expect(elements(#"[1,nonsense,"\ud800",2]"#) == ["1", "nonsense", #""\ud800""#, "2"])
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(elements("[1,\(deep)]")?.last == deep)
    }

    @Test func theLastMemberOfANameCounts() {
        let text = Array(#"{"a":1,"b":2,"a":3}"#.utf8)[...]
        #expect(JSONParts.member("a", of: text).map { Array($0) } == Array("3".utf8))
        #expect(JSONParts.member("c", of: text) == nil)
        // Slices have other indices than 0.
        #expect(
            JSONParts.member("b", of: (Array("[".utf8) + text)[1...]).map { Array($0) } == Array("2".utf8))
    }

    @Test(arguments: [
        "", " ", "1", "[", "[1", "[1,", "[1,]", "[,1]", "[1]]", "[1]x", "{", "{\"a\"", "{\"a\":", "{\"a\":1",
        "{\"a\":1,}", "{a:1}",
        "{\"a\":1}}", "[\"", "[\"\\", "[\"\\\"", "[[", "]", "}", "{\"a\",\"b\"}", "{:1}",
    ])
    func whatHasNoEndHasNoParts(text: String) {
        #expect(elements(text) == nil)
        #expect(members(text) == nil)
    }
}
