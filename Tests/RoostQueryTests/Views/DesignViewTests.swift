import Fleece
import Roost
import RoostFile
import RoostSimulation
import Testing

@testable import RoostQuery

/// Views of design documents.
@Suite struct DesignViewTests {
    private func open() throws -> (Database, DocumentCollection) {
        let database = try Database.open("db", environment: Simulation(seed: 1).environment)
        let notes = try database.collection("notes")
        for (id, json) in [
            ("a", #"{"n":2,"o":{"p.q":1}}"#), ("b", #"{"n":1,"o":{"p.q":null}}"#), ("c", #"{"n":3}"#),
        ] {
            _ = try notes.save(json: json, id: id)
        }
        return (database, notes)
    }

    @Test("A Mango index is a view of its fields' values") func mango() throws {
        let (database, notes) = try open()
        _ = try notes.save(
            json: #"""
                {"language":"query","views":{"by-n":{"map":{"fields":{"n":"asc","o.p\\.q":"asc"},"partial_filter_selector":{}},
                "reduce":"_count","options":{"def":{"fields":["n","o.p\\.q"]}}}}}
                """#, id: "_design/idx")
        let view = try notes.view("by-n", of: "idx")
        #expect(try view.rows().map { "\($0.key) \($0.id)" } == ["[1,null] b", "[2,1] a"])
        #expect(try view.reduced(as: Int.self) == 2)
        #expect(try notes.viewNames(of: "_design/idx") == ["by-n"])
        try database.close()
    }

    @Test("A partial Mango index has rows of the documents that fulfil its selector") func partialMango()
        throws
    {
        let (database, notes) = try open()
        _ = try notes.save(
            json: #"""
                {"language":"query","views":{"by-n":{"map":{"fields":{"n":"asc"},
                "partial_filter_selector":{"n":{"$gt":1}}},"reduce":"_count"}}}
                """#, id: "_design/idx")
        #expect(try notes.view("by-n", of: "idx").rows().map(\.id) == ["a", "c"])
        try database.close()
    }

    @Test("A view in expressions filters, unnests and emits") func expressions() throws {
        let (database, notes) = try open()
        _ = try notes.save(json: #"{"n":5,"tags":["sea","sky"]}"#, id: "d")
        _ = try notes.save(json: #"{"n":0,"tags":["sea"]}"#, id: "e")
        func save(_ map: String, _ reduce: String = #""_sum""#) throws {
            _ = try notes.save(
                json: #"{"language":"roost","views":{"v":{"map":\#(map),"reduce":\#(reduce)}}}"#,
                id: "_design/x")
        }
        try save(
            #"{"where":[">",[".n"],1],"unnest":[".tags"],"emit":[{"key":["?item"],"value":[".n"]},{"key":["._id"]}]}"#
        )
        let view = try notes.view("v", of: "x")
        #expect(
            try view.rows().map { "\($0.key) \($0.value) \($0.id)" }
                == [#""d" null d"#, #""d" null d"#, #""sea" 5 d"#, #""sky" 5 d"#])
        #expect(try view.rows(from: json(#""sea""#)).count == 2)
        try save(#"{"emit":[{"key":["+",[".n"],1]}]}"#, #""_count""#)
        #expect(try notes.view("v", of: "x").rows().map { "\($0.key)" } == ["1", "2", "3", "4", "6"])
        let wrong = [
            ("{}", "null"), (#"{"emit":[{"value":1}]}"#, "null"),
            (#"{"emit":[{"key":["none()",1]}]}"#, "null"),
            (#"{"emit":[{"key":1}]}"#, #""_none""#),
        ]
        for (map, reduce) in wrong {
            try save(map, reduce)
            let error = #expect(throws: ViewError.self, "\(map)") { try notes.view("v", of: "x") }
            #expect(error?.code == .invalidView)
        }
        try database.close()
    }

    /// A language of one word: the name of a property to emit.
    private struct PropertyCompiler: ViewCompiler {
        let language = "property"
        func compile(_ source: ViewSource) throws -> CompiledView {
            guard let name = source.map.string, !name.isEmpty else {
                throw ViewError(.invalidView, "A property has a name.")
            }
            return CompiledView(reduction: source.reduce.string.flatMap(ViewReduction.builtIn)) { documents in
                guard name != "fail" else { throw ViewError(.invalidView, "It fails.") }
                return documents.map { $0[name].exists ? [($0[name], json("1"))] : [] }
            }
        }
    }

    private func save(_ map: String, in notes: DocumentCollection) throws {
        _ = try notes.save(
            json: #"{"language":"property","views":{"v":{"map":"\#(map)","reduce":"_sum"}}}"#, id: "_design/d"
        )
    }

    @Test("Other languages are left to compilers, and a changed source makes the rows anew") func compilers()
        throws
    {
        let (database, notes) = try open()
        try save("n", in: notes)
        let error = #expect(throws: ViewError.self) { try notes.view("v", of: "d") }
        #expect(error?.code == .unsupportedLanguage)
        database.register(PropertyCompiler())
        #expect(try notes.view("v", of: "d").rows().map { "\($0.key)" } == ["1", "2", "3"])
        try save("o", in: notes)
        #expect(try notes.view("v", of: "d").rows().map { "\($0.id)" } == ["b", "a"])
        #expect(try notes.view("v", of: "d").reduced(as: Int.self) == 2)
        try save("fail", in: notes)
        #expect(throws: ViewError.self) { try notes.view("v", of: "d").rows() }
        try save("", in: notes)
        #expect(throws: ViewError.self) { try notes.view("v", of: "d") }
        try database.close()
    }

    @Test("What no design document names any more is cleaned up") func cleanUp() throws {
        let (database, notes) = try open()
        database.register(PropertyCompiler())
        try save("n", in: notes)
        #expect(try notes.view("v", of: "d").rows().count == 3)
        #expect(try notes.cleanUpViews() == [])
        try notes.delete("_design/d")
        #expect(try notes.cleanUpViews() == ["d/v"])
        #expect(throws: ViewError.self) { try notes.view("v", of: "d") }
        try database.close()
    }
}
