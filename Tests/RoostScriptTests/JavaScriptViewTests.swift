import RoostREST
import RoostScript
import RoostWire
import Testing

/// What views in JavaScript answer with.
@Suite struct JavaScriptViewTests {
    /// As in CouchDB: the row is null. What is made of the parts of a row never leaves one of them out.
    @Test func aReductionThatThrowsMakesItsRowNull() async throws {
        let test = try await ScriptRouter(JavaScriptTests.Place.child.language())
        let documents = (0..<600).map { #"{"_id":"\#(1000 + $0)","n":\#($0)}"# }.joined(separator: ",")
        try await test.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(documents)]}")
        let reduce =
            "function (keys, values, rereduce) { if (!rereduce && values.indexOf(599) >= 0) throw new Error('no'); return rereduce ? sum(values) : values.length; }"
        try await test.ask(
            "PUT", "/db/_design/d",
            #"{"views":{"v":{"map":"doc => emit(doc.n < 300, doc.n)","reduce":"\#(reduce)"}}}"#)
        let groups = try await test.ask("GET", "/db/_design/d/_view/v?group=true")
        #expect(
            groups.text == "{\"rows\":[\n{\"key\":false,\"value\":null},\n{\"key\":true,\"value\":300}\n]}\n")
        let all = try await test.ask("GET", "/db/_design/d/_view/v")
        #expect(all.text.contains(#"{"key":null,"value":null}"#), "\(all.text)")
        #expect(try await test.ask("GET", "/db/_design/d/_view/v?reduce=false").ids.count == 600)
    }

    @Test func reductionsOfOneMapAnswerWithTheirOwnNumbers() async throws {
        let test = try await ScriptRouter(JavaScriptTests.Place.child.language())
        for (id, number) in [("1", 5), ("2", 7), ("3", 1)] {
            try await test.ask("PUT", "/db/\(id)", #"{"v":\#(number)}"#)
        }
        let map = "function (doc) { emit(doc._id, doc.v); }"
        try await test.ask(
            "PUT", "/db/_design/d",
            #"""
            {"views":{"count":{"map":"\#(map)","reduce":"function (k, v, r) { return r ? sum(v) : v.length; }"},
                      "max":{"map":"\#(map)","reduce":"function (k, v) { return Math.max.apply(null, v); }"},
                      "least":{"map":"\#(map)","reduce":"function (k, v) { return Math.min.apply(null, v); }"}}}
            """#)
        for _ in 0..<2 {
            for (name, value) in [("count", 3), ("max", 7), ("least", 1)] {
                let answer = try await test.ask("GET", "/db/_design/d/_view/\(name)")
                #expect(answer.text.contains(#""value":\#(value)}"#), "\(name): \(answer.text)")
            }
        }
    }

    /// Half of a surrogate pair becomes U+FFFD, as in CouchDB, and a backslash stays one.
    @Test func halfACharacterBreaksNoView() async throws {
        let test = try await ScriptRouter(JavaScriptTests.Place.child.language())
        for (id, title) in [("1", "apples"), ("2", "😀 party"), ("3", "pears")] {
            try await test.ask("PUT", "/db/\(id)", #"{"title":"\#(title)"}"#)
        }
        try await test.ask(
            "PUT", "/db/_design/d",
            #"{"views":{"v":{"map":"doc => emit(doc.title[0], {[doc.title[1]]: '\\\\ud83d', whole: doc.title})"}}}"#
        )
        let answer = try await test.ask("GET", "/db/_design/d/_view/v")
        #expect(answer.ids == ["1", "3", "2"], "\(answer.text)")
        #expect(
            answer.text.contains(
                "\"key\":\"\u{FFFD}\",\"value\":{\"whole\":\"😀 party\",\"\u{FFFD}\":\"\\\\ud83d\"}"),
            "\(answer.text)")
    }

    /// A document that is mapped with others does not cost them their rows.
    @Test(arguments: JavaScriptTests.Place.allCases)
    func rowsThatCannotBeKeptCostOtherDocumentsNothing(place: JavaScriptTests.Place) async throws {
        let test = try await ScriptRouter(place.language())
        for id in ["a", "b", "c", "d", "e"] { try await test.ask("PUT", "/db/\(id)", "{}") }
        let map =
            "function (doc) { let key = [doc._id]; if (doc._id === 'c') for (let i = 0; i < 1000; i++) key = [key]; emit(key); }"
        try await test.ask("PUT", "/db/_design/d", #"{"views":{"v":{"map":"\#(map)"}}}"#)
        #expect(try await test.ask("GET", "/db/_design/d/_view/v").ids == ["a", "b", "d", "e"])
    }
}
