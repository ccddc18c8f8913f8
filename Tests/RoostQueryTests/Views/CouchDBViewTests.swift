import Fleece
import Roost
import RoostFile
import RoostSimulation
import Testing

@testable import RoostQuery

/// CouchDB's view parameters, one by one, on a few rows whose answers can be told by looking.
@Suite struct CouchDBViewTests {
    /// Documents by ID, with the key and the value that they emit, in the order of the rows.
    private static let sample: [(id: String, key: String, value: Int)] = [
        ("g", "null", 5), ("a", "1", 10), ("b", "1.0", 20), ("c", "2", 30), ("d", #"[2,"x"]"#, 1),
        ("e", #"[2,"y"]"#, 2), ("f", #"[3,"x"]"#, 4),
    ]

    private func open() throws -> (Database, CollectionView<FleeceValue, Int>) {
        let database = try Database.open("db", environment: Simulation(seed: 1).environment)
        let notes = try database.collection("notes")
        for (id, key, value) in Self.sample {
            _ = try notes.save(json: #"{"k":\#(key),"v":\#(value)}"#, id: id)
        }
        let view = MapReduceView<FleeceValue, Int>("view", version: "1", reduce: .sum) { note, emit in
            emit(note["k"], note["v"].int ?? 0)
        }
        return (database, notes.view(view))
    }

    /// The query of CouchDB's parameters.
    private func query(_ parameters: String) throws -> ViewQuery {
        var query = ViewQuery()
        for member in json(parameters).dictionary ?? .empty {
            let value = member.value
            switch member.key {
            case "startkey", "start_key": query.start = value
            case "endkey", "end_key": query.end = value
            case "startkey_docid": query.startID = value.string
            case "endkey_docid": query.endID = value.string
            case "inclusive_end": query.includesEnd = value.bool ?? true
            case "descending": query.isDescending = value.bool ?? false
            case "key": query.keys = [value]
            case "keys": query.keys = Array(value.array ?? .empty)
            case "skip": query.skip = value.int ?? 0
            case "limit": query.limit = value.int ?? 0
            case "sorted": query.isSorted = value.bool ?? true
            case "group": query.grouping = value.bool == true ? .exact : .all
            case "group_level": query.grouping = .level(value.int ?? 0)
            default: Issue.record("no parameter \(member.key)")
            }
        }
        return query
    }

    static let rowCases: [(parameters: String, ids: String, offset: UInt64)] = [
        ("{}", "gabcdef", 0),
        (#"{"descending":true}"#, "fedcbag", 0),
        (#"{"startkey":1}"#, "abcdef", 1),
        (#"{"endkey":1}"#, "gab", 0),
        (#"{"endkey":1,"inclusive_end":false}"#, "g", 0),
        (#"{"startkey":1,"endkey":2}"#, "abc", 1),
        (#"{"startkey":1.0,"endkey":1}"#, "ab", 1),
        (#"{"startkey":2,"endkey":1,"descending":true}"#, "cba", 3),
        (#"{"startkey":2,"endkey":1,"descending":true,"inclusive_end":false}"#, "c", 3),
        (#"{"startkey":1,"startkey_docid":"b"}"#, "bcdef", 2),
        (#"{"startkey":1,"startkey_docid":"aa"}"#, "bcdef", 2),
        (#"{"startkey_docid":"b"}"#, "gabcdef", 0),
        (#"{"endkey":1,"endkey_docid":"a"}"#, "ga", 0),
        (#"{"endkey":1,"endkey_docid":"a","inclusive_end":false}"#, "g", 0),
        (#"{"endkey":1,"endkey_docid":"b","inclusive_end":false}"#, "ga", 0),
        (#"{"endkey_docid":"a"}"#, "gabcdef", 0),
        (#"{"startkey":1,"startkey_docid":"a","descending":true}"#, "ag", 5),
        (#"{"endkey":1,"endkey_docid":"b","descending":true}"#, "fedcb", 0),
        (#"{"startkey":1,"startkey_docid":"b","endkey":1,"endkey_docid":"a"}"#, "", 2),
        (#"{"key":1}"#, "ab", 1),
        (#"{"key":1,"descending":true}"#, "ba", 4),
        (#"{"key":1,"skip":1}"#, "b", 2),
        (#"{"key":1,"limit":0}"#, "", 1),
        (#"{"key":null}"#, "g", 0),
        (#"{"key":"x"}"#, "", 4),
        (#"{"keys":[2,1,9,2]}"#, "cabc", 3),
        (#"{"keys":[9,1]}"#, "ab", 1),
        (#"{"keys":[9]}"#, "", 4),
        (#"{"keys":[2,1],"descending":true}"#, "bac", 4),
        (#"{"key":1,"inclusive_end":false}"#, "", 1),
        (#"{"key":1,"descending":true,"inclusive_end":false}"#, "", 4),
        (#"{"keys":[2,1],"inclusive_end":false}"#, "", 3),
        (#"{"keys":[1],"endkey_docid":"b","inclusive_end":false}"#, "a", 1),
        (#"{"keys":[]}"#, "", 0),
        (#"{"keys":[2,1],"skip":1,"limit":1}"#, "a", 4),
        (#"{"keys":[2,1],"skip":2}"#, "b", 5),
        (#"{"limit":2}"#, "ga", 0),
        (#"{"skip":2,"limit":2}"#, "bc", 2),
        (#"{"skip":1,"descending":true,"limit":1}"#, "e", 1),
        (#"{"skip":100}"#, "", 7),
        (#"{"limit":0}"#, "", 0),
        (#"{"startkey":[2],"endkey":[2,{}]}"#, "de", 4),
        (#"{"startkey":[2,{}],"endkey":[2],"descending":true}"#, "ed", 1),
        (#"{"startkey":9,"endkey":10}"#, "", 4),
        (#"{"startkey":"a"}"#, "def", 4),
        (#"{"startkey":{}}"#, "", 7),
        (#"{"startkey":1,"sorted":false}"#, "abcdef", 0),
    ]

    @Test("Rows", arguments: 0..<rowCases.count) func rows(_ number: Int) throws {
        let (parameters, ids, offset) = Self.rowCases[number]
        let (database, view) = try open()
        let query = try query(parameters)
        let rows = try view.rows(query)
        #expect(rows.map(\.id).joined() == ids, "\(parameters)")
        #expect(rows.offset == offset, "\(parameters)")
        #expect(rows.totalRows == (query.isSorted ? 7 : 0), "\(parameters)")
        #expect(rows.updateSequence == 7)
        try database.close()
    }

    static let groupCases: [(parameters: String, result: String)] = [
        ("{}", "null=72"),
        (#"{"group":true}"#, #"null=5 1=30 2=30 [2,"x"]=1 [2,"y"]=2 [3,"x"]=4"#),
        (#"{"group":true,"descending":true,"limit":2}"#, #"[3,"x"]=4 [2,"y"]=2"#),
        (#"{"group_level":0}"#, "null=72"),
        (#"{"group_level":1}"#, "null=5 1=30 2=30 [2]=3 [3]=4"),
        (#"{"group_level":2}"#, #"null=5 1=30 2=30 [2,"x"]=1 [2,"y"]=2 [3,"x"]=4"#),
        (#"{"group_level":1,"skip":1,"limit":2}"#, "1=30 2=30"),
        (#"{"startkey":[2,"y"],"group_level":1}"#, "[2]=2 [3]=4"),
        (#"{"endkey":[2,"x"],"startkey":2,"group_level":1}"#, "2=30 [2]=1"),
        (#"{"startkey":1,"startkey_docid":"b","endkey":2}"#, "null=50"),
        (#"{"keys":[2,1,9],"group":true}"#, "2=30 1=30"),
        (#"{"keys":[2,1,9],"group":true,"descending":true}"#, "2=30 1.0=30"),
        (#"{"keys":[1,2],"group":true,"inclusive_end":false}"#, ""),
        (#"{"key":1}"#, "null=30"),
        (#"{"startkey":9,"endkey":10}"#, ""),
        (#"{"limit":0}"#, ""),
        (#"{"skip":1}"#, ""),
    ]

    @Test("Groups", arguments: 0..<groupCases.count) func groups(_ number: Int) throws {
        let (parameters, result) = Self.groupCases[number]
        let (database, view) = try open()
        let found = try view.groups(query(parameters)).map {
            "\($0.key?.json() ?? "null")=\($0.value.json())"
        }
        #expect(found.joined(separator: " ") == result, "\(parameters)")
        try database.close()
    }

    @Test("Documents: the row's, linked ones, those of a revision, with conflicts") func documents() throws {
        let database = try Database.open("db", environment: Simulation(seed: 1).environment)
        let notes = try database.collection("notes")
        let first = try notes.save(json: #"{"n":1}"#, id: "target").revision
        let history = try ["2-ff", "\(first)"].map { try RevisionID(validating: $0) }
        try database.write { batch in
            _ = try batch.insert(json: #"{"n":2}"#, id: "target", history: history, in: notes)
            _ = try batch.insert(
                json: #"{"n":3}"#, id: "target",
                history: [try RevisionID(validating: "2-aa"), history[1]], in: notes)
        }
        _ = try notes.save(json: "{}", id: "gone")
        try notes.delete("gone")
        let links = [
            ("l1", #"{"_id":"target"}"#), ("l2", #"{"_id":"target","_rev":"2-aa"}"#),
            ("l3", #"{"_id":"target","_rev":"7-77"}"#), ("l4", #"{"_id":"target","_rev":"no revision"}"#),
            ("l5", #"{"_id":"gone"}"#), ("l6", #"{"_id":"nowhere"}"#), ("l7", #"{"other":1}"#),
        ]
        for (id, link) in links { _ = try notes.save(json: #"{"link":\#(link)}"#, id: id) }
        let view = MapReduceView<String, FleeceValue>("links", version: "1") { note, emit in
            if note["link"].exists { emit(note.id, note["link"]) }
        }
        var query = ViewQuery()
        query.includesDocuments = true
        let plain = try notes.view(view).rows(query)
        #expect(plain.map { $0.document?["n"].int } == [2, 3, nil, nil, nil, nil, nil])
        #expect(plain.map { $0.document?.id } == ["target", "target", nil, nil, nil, nil, "l7"])
        #expect(plain.allSatisfy { $0.conflicts.isEmpty })
        query.includesConflicts = true
        let conflicts = try notes.view(view).rows(query).map { $0.conflicts.map { "\($0)" } }
        #expect(conflicts == [["2-aa"], ["2-aa"], [], [], [], [], []])
        query.includesDocuments = false
        #expect(try notes.view(view).rows(query).allSatisfy { $0.conflicts.isEmpty })
        try database.close()
    }

    /// Emits the document as maps get it.
    private struct Echo: ViewCompiler {
        let language = "echo"

        func compile(_ source: ViewSource) throws -> CompiledView {
            CompiledView(reduction: nil) { documents in
                try documents.map { [(json(#""\#($0.id)""#), json(try $0.json()))] }
            }
        }
    }

    @Test("What maps see: IDs, revisions, conflicts, attachments; sequences and design documents on request")
    func input() throws {
        let database = try Database.open("db", environment: Simulation(seed: 1).environment)
        let notes = try database.collection("notes")
        database.register(Echo())
        _ = try notes.save(
            json: #"{"n":1,"_attachments":{"a.txt":{"content_type":"text/plain","data":"aGk="}}}"#, id: "one")
        _ = try notes.save(json: "{}", id: "deleted")
        try notes.delete("deleted")
        let revision = try RevisionID(validating: "1-00")
        try database.write { batch in
            _ = try batch.insert(json: #"{"n":2}"#, id: "one", history: [revision], in: notes)
        }
        let options = [
            "plain": "{}", "sequences": #"{"local_seq":true}"#, "design": #"{"include_design":true}"#,
        ]
        let views = options.map { #""\#($0.key)":{"map":"","options":\#($0.value)}"# }.joined(separator: ",")
        _ = try notes.save(json: #"{"language":"echo","views":{\#(views)}}"#, id: "_design/echo")
        func rows(_ name: String) throws -> [FleeceValue] {
            try notes.view(name, of: "echo").rows().map(\.value)
        }
        let plain = try rows("plain")
        #expect(plain.count == 1)
        let document = try #require(plain.first)
        #expect(document["_id"].string == "one" && document["_rev"].string?.hasPrefix("1-") == true)
        #expect(document["_conflicts"].array?.count == 1)
        #expect(document["_attachments"]["a.txt"]["stub"].bool == true)
        #expect(document["_attachments"]["a.txt"]["digest"].string?.hasPrefix("md5-") == true)
        #expect(!document["_local_seq"].exists)
        #expect(try rows("sequences").first?["_local_seq"].int == 4)
        #expect(try rows("design").map { $0["_id"].string } == ["_design/echo", "one"])
        try database.close()
    }
}
