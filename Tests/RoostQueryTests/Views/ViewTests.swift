import Fleece
import Roost
import RoostFile
import RoostIndex
import RoostSimulation
import Testing

@testable import RoostQuery

/// Views as a program uses them.
@Suite struct ViewTests {
    private let byTag = MapReduceView<String, Int>("by-tag", version: "1", reduce: .count) { note, emit in
        for tag in note["tags"].array ?? .empty {
            if let tag = tag.string { emit(tag, note["stars"].int ?? 0) }
        }
    }

    private func open() throws -> (Database, DocumentCollection) {
        let database = try Database.open("db", environment: Simulation(seed: 1).environment)
        let notes = try database.collection("notes")
        _ = try notes.save(json: #"{"stars":3,"tags":["sea","gable"]}"#, id: "a")
        _ = try notes.save(json: #"{"stars":1,"tags":["sky"]}"#, id: "b")
        _ = try notes.save(json: #"{"stars":2,"tags":["sea","sea"]}"#, id: "c")
        return (database, notes)
    }

    @Test("Rows by key, with typed keys and values, ranges, documents and totals") func rows() throws {
        let (database, notes) = try open()
        let view = notes.view(byTag)
        #expect(try view.rows().map(\.key) == ["gable", "sea", "sea", "sea", "sky"])
        #expect(try view.rows().map(\.id) == ["a", "a", "c", "c", "b"])
        let rows = try view.rows(from: "sea", to: "sky", includingEnd: false, includingDocuments: true)
        #expect(rows.map(\.value) == [3, 2, 2] && rows.totalRows == 5 && rows.offset == 1)
        #expect(rows.first?.document?["stars"].int == 3)
        #expect(try view.rows(of: "sky").map(\.id) == ["b"])
        #expect(try view.rows(isDescending: true, skip: 1, limit: 2).map(\.id) == ["c", "c"])
        #expect(try view.reduced(as: Int.self) == 5)
        #expect(try view.reduced(from: "sea", to: "sea", as: Int.self) == 3)
        #expect(try view.count(from: "h") == 4)
        #expect(
            try view.groups().map { "\($0.key ?? .undefined): \($0.value)" } == [
                #""gable": 1"#, #""sea": 3"#, #""sky": 1"#,
            ])
        try database.close()
    }

    /// A key that is encoded as any other.
    private struct EncodedKey: Codable, Sendable {
        let values: [FleeceValue]

        init(_ values: [FleeceValue]) { self.values = values }
        init(from decoder: any Decoder) throws {
            values = try decoder.singleValueContainer().decode([FleeceValue].self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(values)
        }
    }

    @Test("Keys of several values are those that an encoder makes") func keysOfSeveralValues() throws {
        let (database, notes) = try open()
        let plain = MapReduceView<[FleeceValue], Int>("plain", version: "1") { note, emit in
            emit([note["stars"], note["tags"][0], note["none"], note["tags"]], 1)
        }
        let encoded = MapReduceView<EncodedKey, Int>("encoded", version: "1") { note, emit in
            emit(EncodedKey([note["stars"], note["tags"][0], note["none"], note["tags"]]), 1)
        }
        let rows = try notes.view(plain).rows()
        #expect(rows.map(\.id) == ["b", "c", "a"])
        #expect(rows.first?.key.map { "\($0)" }.first == "1")
        #expect(try rows.map(\.key) == notes.view(encoded).rows().map(\.key.values))
        let key = try #require(rows.first).key
        #expect(try notes.view(encoded).rows(of: EncodedKey(key)).map(\.id) == ["b"])
        #expect(try notes.view(plain).rows(of: key).map(\.id) == ["b"])
        try database.close()
    }

    @Test("A function of another version makes its rows anew; one of the same version is taken at its word")
    func versions() throws {
        let (database, notes) = try open()
        #expect(try notes.view(byTag).rows().count == 5)
        let other = MapReduceView<String, Int>("by-tag", version: "2") { note, emit in emit(note.id, 1) }
        #expect(try notes.view(other).rows().map(\.key) == ["a", "b", "c"])
        let same = MapReduceView<String, Int>("by-tag", version: "2") { _, _ in }
        #expect(try notes.view(same).rows().count == 3)
        try notes.view(same).drop()
        #expect(try notes.view(same).rows().count == 0)
        try database.close()
    }

    @Test("Moments: the present, as it was kept, and a snapshot") func moments() throws {
        let (database, notes) = try open()
        // Nobody brings the view up behind the test's back.
        var settings = IndexSettings()
        settings.quiet = 1e6
        IndexManager.of(database).configure(settings)
        let view = notes.view(byTag)
        var query = ViewQuery()
        query.update = .never
        #expect(try view.rows(query).isEmpty)
        try view.update()
        let snapshot = try notes.snapshot()
        // What was shown once is not taken back, whether it was written to the view or looked at while reading.
        _ = try notes.save(json: #"{"tags":["early"]}"#, id: "e")
        #expect(try view.rows().count == 6)
        #expect(try view.rows(query).count == 6)
        try notes.delete("e")
        for number in 0..<300 { _ = try notes.save(json: #"{"tags":["new"]}"#, id: "n\(number)") }
        #expect(try view.rows(query).count == 5)
        #expect(try view.rows(at: snapshot).count == 5)
        #expect(try view.rows().count == 305)
        #expect(try view.rows(query).count == 305)
        #expect(try view.rows(at: snapshot).count == 5)
        try database.close()
    }

    @Test("A value that names another document brings that one") func linkedDocuments() throws {
        let (database, notes) = try open()
        _ = try notes.save(json: #"{"next":"b"}"#, id: "l1")
        _ = try notes.save(json: #"{"next":"nowhere"}"#, id: "l2")
        let links = MapReduceView<String, DocumentValue>("links", version: "1") { note, emit in
            if let next = note["next"].string { emit(note.id, ["_id": .string(next)]) }
        }
        let rows = try notes.view(links).rows(includingDocuments: true)
        #expect(rows.map(\.id) == ["l1", "l2"])
        #expect(rows.map { $0.document?.id } == ["b", nil])
        try database.close()
    }

    @Test("Deleted and design documents make no rows, and conflicts can be seen") func whatIsMapped() throws {
        let (database, notes) = try open()
        try notes.delete("a")
        _ = try notes.save(json: #"{"tags":["design"]}"#, id: "_design/d")
        #expect(try notes.view(byTag).rows().map(\.key) == ["sea", "sea", "sky"])
        let conflicts = MapReduceView<String, Int>("conflicts", version: "1") { note, emit in
            emit(note.id, note.conflicts.count)
        }
        let history = try ["2-aa", "1-bb"].map { try RevisionID(validating: $0) }
        try database.write { batch in _ = try batch.insert(json: "{}", id: "b", history: history, in: notes) }
        #expect(try notes.view(conflicts).rows(of: "b").first?.value == 1)
        try database.close()
    }

    static let refused: [(String, @Sendable (inout ViewQuery) -> Void)] = [
        (
            "reversed",
            {
                $0.start = json("2"); $0.end = json("1")
            }
        ),
        (
            "reversed descending",
            {
                $0.start = json("1"); $0.end = json("2"); $0.isDescending = true
            }
        ),
        (
            "keys and range",
            {
                $0.keys = [json("1")]; $0.start = json("1")
            }
        ),
        ("negative skip", { $0.skip = -1 }),
        (
            "groups without reducing",
            {
                $0.reduces = false; $0.grouping = .exact
            }
        ),
        (
            "documents and reducing",
            {
                $0.includesDocuments = true; $0.reduces = true
            }
        ),
        (
            "several keys reduced",
            {
                $0.keys = [json("1"), json("2")]; $0.reduces = true
            }
        ),
    ]

    @Test("Parameters that don't go together are refused", arguments: 0..<refused.count) func refusals(
        _ number: Int
    ) throws {
        let (database, notes) = try open()
        var query = ViewQuery()
        Self.refused[number].1(&query)
        let view = notes.view(byTag)
        let error = #expect(throws: ViewError.self) {
            if query.reduces == true { _ = try view.groups(query) } else { _ = try view.rows(query) }
        }
        #expect(error?.code == .invalidParameters, "\(Self.refused[number].0)")
        try database.close()
    }

    @Test("Rows are told again when they change, and only then") func updates() async throws {
        let (database, notes) = try open()
        var query = ViewQuery()
        query.keys = [json(#""sea""#)]
        var updates = notes.view(byTag).updates(query).makeAsyncIterator()
        #expect(try await updates.next()?.map(\.id) == ["a", "c", "c"])
        _ = try await notes.save(json: #"{"tags":["other"]}"#, id: "x")
        _ = try await notes.save(json: #"{"tags":["sea"]}"#, id: "y")
        #expect(try await updates.next()?.map(\.id) == ["a", "c", "c", "y"])
        try await database.write { try $0.purge("y", in: notes) }
        #expect(try await updates.next()?.map(\.id) == ["a", "c", "c"])
        try database.close()
    }
}

// MARK: - Failing upkeep tests

/// Upkeep of a view that is cut off halfway by the medium.
@Suite struct FailingUpkeepTests {
    /// A document is purged, a moment is taken, and the document rebuilt. However far the view was brought then, it shows the
    /// moment without the document.
    @Test(arguments: 1...6)
    func whatCameAfterAPurgeIsNotInTheMomentBefore(call: Int) throws {
        let simulation = Simulation(seed: UInt64(call))
        let database = try Database.open("notes", environment: simulation.environment)
        let notes = try database.collection("notes")
        let view = notes.view(
            MapReduceView<FleeceValue, FleeceValue>("by-v", version: "1") { note, emit in
                emit(note["v"], note["v"])
            })
        try notes.save(json: #"{"v":1}"#, id: "a")
        try notes.save(json: #"{"v":2}"#, id: "b")
        try view.update()
        try database.write { _ = try $0.purge("a", in: notes) }
        let moment = try notes.snapshot()
        try notes.save(json: #"{"v":3}"#, id: "a")
        var all = ViewQuery()
        all.reduces = false
        simulation.disk.faults.fail(.write, at: simulation.disk.counts[.write] + call)
        _ = try? view.update()
        simulation.disk.faults = FaultPlan()
        #expect(try view.rows(all, at: moment).map(\.id) == ["b"])
        #expect(try view.rows(all).map(\.id) == ["b", "a"])
    }
}

// MARK: - Design view tests

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
