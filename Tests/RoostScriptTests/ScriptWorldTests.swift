import RoostREST
import RoostScript
import RoostWire
import Testing

/// Each function is in a world of its own.
@Suite struct ScriptWorldTests {
    /// What one design document does to its world is not seen by another.
    @Test func designDocumentsAreApart() async throws {
        let test = try await ScriptRouter(JavaScriptTests.Place.child.language())
        try await test.ask("PUT", "/db/a", "{}")
        try await test.ask(
            "PUT", "/db/_design/one",
            #"{"views":{"v":{"map":"doc => { JSON.stringify = () => '1'; Array.prototype.map = () => []; stolen = 1; emit(1) }"}}}"#
        )
        try await test.ask(
            "PUT", "/db/_design/two",
            #"{"views":{"v":{"map":"doc => emit([typeof stolen, [1].map(x => x)])"}}}"#)
        for _ in 0..<2 { try await test.ask("GET", "/db/_design/one/_view/v") }
        let answer = try await test.ask("GET", "/db/_design/two/_view/v")
        #expect(answer.text.contains(#""key":["undefined",[1]]"#), "\(answer.text)")
    }

    /// Not even the functions of one design document: each is as if it were alone.
    @Test(arguments: JavaScriptTests.Place.allCases)
    func aMapThatBreaksTheLanguageBreaksNoOtherFunction(place: JavaScriptTests.Place) async throws {
        let test = try await ScriptRouter(place.language())
        for id in ["a", "b"] { try await test.ask("PUT", "/db/\(id)", "{}") }
        let breaking =
            "Array.prototype.push = Array.prototype.map = Map.prototype.get = JSON.stringify = null; sum = emit; Object.hasOwn = null;"
        try await test.ask(
            "PUT", "/db/_design/d",
            #"""
            {"views":{"breaks":{"map":"doc => { \#(breaking) doc.x = 1; emit(doc._id) }"},
                      "other":{"map":"doc => emit([].concat(doc._id).map(x => x)[0], Object.keys(doc).length)",
                               "reduce":"(keys, values) => { const all = []; values.forEach(v => all.push(v)); return sum(all); }"}},
             "filters":{"f":"(doc, req) => { req.query.n = (req.query.n || 0) + 1; return req.query.n === 1; }"}}
            """#)
        for _ in 0..<2 {
            #expect(try await test.ask("GET", "/db/_design/d/_view/breaks").ids == ["a", "b"])
            let other = try await test.ask("GET", "/db/_design/d/_view/other?reduce=false")
            #expect(other.ids == ["a", "b"] && other.text.contains(#""value":2"#), "\(other.text)")
            let reduced = try await test.ask("GET", "/db/_design/d/_view/other")
            #expect(reduced.text.contains(#""value":4"#), "\(reduced.text)")
            #expect(try await test.ask("GET", "/db/_changes?filter=d/f").ids.count == 3)
        }
    }

    /// A design document of one database has no part in the same one of another.
    @Test(arguments: JavaScriptTests.Place.allCases)
    func designDocumentsOfTwoDatabasesAreApart(place: JavaScriptTests.Place) async throws {
        let test = try await ScriptRouter(place.language())
        let remembers = "globalThis.all = (globalThis.all || []).concat([doc._id]);"
        let design = #"""
            {"views":{"v":{"map":"doc => { \#(remembers) emit(all) }"}},
             "filters":{"f":"doc => { \#(remembers) return all.indexOf('SECRET') < 0 }"},
             "validate_doc_update":"doc => { \#(remembers) if (all.length > 1) throw {forbidden: all.join()} }"}
            """#
        for name in ["one", "two"] {
            try await test.ask("PUT", "/\(name)")
            try await test.ask("PUT", "/\(name)/_design/d", design)
        }
        #expect(try await test.ask("PUT", "/one/SECRET", "{}").status == 201)
        for question in ["_design/d/_view/v", "_changes?filter=d/f"] {
            try await test.ask("GET", "/one/\(question)")
        }
        #expect(try await test.ask("PUT", "/two/mine", "{}").status == 201)
        #expect(try await test.ask("GET", "/two/_design/d/_view/v").text.contains(#""key":["mine"]"#))
        #expect(try await test.ask("GET", "/two/_changes?filter=d/f").ids.contains("mine"))
        // One that is made in the place of another is not that one.
        try await test.ask("DELETE", "/two")
        try await test.ask("PUT", "/two")
        try await test.ask("PUT", "/two/_design/d", design)
        #expect(try await test.ask("PUT", "/two/new", "{}").status == 201)
    }
}
