import Foundation
import RoostREST
import RoostScript
import RoostWire
import Testing

/// Functions in JavaScript, through the router, in child processes and in this one.
@Suite struct JavaScriptTests {
    /// Where functions are run.
    enum Place: CaseIterable {
        case child, here

        func language(_ limits: ScriptLimits = ScriptLimits()) -> JavaScript {
            JavaScript(program: self == .child ? [ScriptRouter.host] : [], limits: limits)
        }
    }

    // MARK: Views

    @Test(arguments: Place.allCases)
    func viewsMapAndReduce(place: Place) async throws {
        let test = try await ScriptRouter(place.language())
        for number in 1...600 {
            try await test.ask("PUT", "/db/\(1000 + number)", #"{"n":\#(number),"tags":["t\#(number % 3)"]}"#)
        }
        let design =
            #"""
            {"lib":{"double":"exports.double = function (x) { return require('./two').two * x; };","two":"exports.two = 2;"},
             "views":{
               "lib":{"twice":"module.exports = function (x) { return 2 * x; }"},
               "tags":{"map":"function (doc) { doc.tags.forEach(t => emit([t, doc.n], 1)); };","reduce":"_sum"},
               "most":{"map":"doc => emit(doc.tags[0], doc.n)",
                       "reduce":"function (keys, values, rereduce) { return Math.max.apply(null, values); }"},
               "library":{"map":"function (doc) { emit(doc._id, require('lib/double').double(doc.n)); }"},
               "throwing":{"map":"function (doc) { emit(doc.n); if (doc.n > 2) throw 'no'; }"}}}
            """#
        #expect(try await test.ask("PUT", "/db/_design/d", design).status == 201)
        let tags = try await test.ask("GET", "/db/_design/d/_view/tags?group_level=1")
        #expect(
            tags.text == "{\"rows\":[\n{\"key\":[\"t0\"],\"value\":200},\n{\"key\":[\"t1\"],\"value\":200},\n"
                + "{\"key\":[\"t2\"],\"value\":200}\n]}\n")
        let most = try await test.ask("GET", "/db/_design/d/_view/most?group=true")
        #expect(
            most.text == "{\"rows\":[\n{\"key\":\"t0\",\"value\":600},\n{\"key\":\"t1\",\"value\":598},\n"
                + "{\"key\":\"t2\",\"value\":599}\n]}\n")
        let library = try await test.ask("GET", "/db/_design/d/_view/library?key=%221007%22")
        #expect(library.text.contains(#"{"id":"1007","key":"1007","value":14}"#))
        // A document that the map throws at emits nothing.
        let throwing = try await test.ask("GET", "/db/_design/d/_view/throwing")
        #expect(
            throwing.text.contains(#""total_rows":2,"#) && throwing.text.contains(#""key":2,"value":null"#))
    }

    @Test(arguments: [
        ("function (doc) { emit(", 500, "SyntaxError"), ("7", 500, "is no function"),
    ])
    func sourcesThatAreNone(source: String, status: Int, words: String) async throws {
        let test = try await ScriptRouter(Place.child.language())
        let map = #""views":{"v":{"map":"\#(source)"}}"#
        for (kind, design) in [
            ("map", "{\(map)}"),
            ("reduce", #"{"views":{"lib":{"map":"7"},"v":{"map":"doc => emit(1)","reduce":"\#(source)"}}}"#),
        ] {
            let refused = try await test.ask("PUT", "/db/_design/d", design)
            #expect(refused.status == 400 && refused.json["error"] as? String == "compilation_error")
            let reason = try #require(refused.json["reason"] as? String)
            #expect(reason.hasPrefix("Compilation of the \(kind) function in the 'v' view failed: "))
            #expect(reason.contains(words), "\(reason)")
        }
        // One of several fails alone.
        let bulk = try await test.ask(
            "POST", "/db/_bulk_docs", #"{"docs":[{"_id":"_design/d",\#(map)},{"_id":"a"}]}"#)
        #expect(bulk.text.contains(#"{"id":"_design/d","error":"compilation_error""#), "\(bulk.text)")
        #expect(bulk.text.contains(#"{"ok":true,"id":"a""#), "\(bulk.text)")
        // A replicator brings what others have, and who asks the view is told.
        let brought = try await test.ask("PUT", "/db/_design/d?new_edits=false", #"{"_rev":"1-aa",\#(map)}"#)
        #expect(brought.status == 201, "\(brought.text)")
        // Functions of other kinds are not looked at, as in CouchDB, nor what is deleted.
        let others = #"{"filters":{"f":"\#(source)"},"validate_doc_update":"function () {}"}"#
        #expect(try await test.ask("PUT", "/db/_design/e", others).status == 201)
        let tombstone = try await test.ask("PUT", "/db/_design/d?rev=1-aa", #"{"_deleted":true,\#(map)}"#)
        #expect(tombstone.status < 300, "\(tombstone.text)")
        try await test.ask("PUT", "/db/_design/f?new_edits=false", #"{"_rev":"1-aa",\#(map)}"#)
        let answer = try await test.ask("GET", "/db/_design/f/_view/v")
        #expect(answer.status == status && answer.text.contains(words), "\(answer.text)")
    }

    /// As in CouchDB: rows of one document with equal keys in the order of their values, and a built-in reduction that something
    /// follows.
    @Test func rowsWithEqualKeysAndWhatFollowsABuiltInReduction() async throws {
        let test = try await ScriptRouter(Place.child.language())
        try await test.ask("PUT", "/db/a", "{}")
        try await test.ask(
            "PUT", "/db/_design/d",
            #"""
            {"views":{"v":{"map":"doc => { emit(2, 5); for (const v of ['b', [], 7, 'a', null, {}]) emit(1, v) }"},
             "sum":{"map":"doc => { emit(1, 2); emit(2, 3) }","reduce":"_sum\n // of all"}}}
            """#)
        let rows = try await test.ask("GET", "/db/_design/d/_view/v")
        let values = rows.text.split(separator: "\n").dropFirst().dropLast().compactMap {
            $0.split(separator: "\"value\":").last?.prefix { $0 != "}" }
        }
        #expect(values == ["7", "null", "{", "[]", "\"a\"", "\"b\"", "5"], "\(rows.text)")
        let sum = try await test.ask("GET", "/db/_design/d/_view/sum")
        #expect(sum.text.contains(#""value":5"#), "\(sum.text)")
    }

    // MARK: Validations and filters

    @Test(arguments: Place.allCases)
    func validationsDecideWhatIsSaved(place: Place) async throws {
        let test = try await ScriptRouter(place.language())
        let function =
            "function (doc, old, user, security) { if (doc._deleted) return; "
            + "if (!user.name) throw {unauthorized: 'log in'}; "
            + "if (old && old.author !== user.name) throw {forbidden: 'it is the one of ' + old.author}; "
            + "if (doc.author !== user.name || security.admins === undefined && user.db !== 'db') "
            + "throw({forbidden: 'sign as yourself'}); if (doc.crash) doc.no.such(); }"
        try await test.ask("PUT", "/db/_design/d", #"{"validate_doc_update":"\#(function)"}"#)
        let (ann, bob) = (UserContext(name: "ann"), UserContext(name: "bob"))
        func put(_ id: String, _ body: String, _ user: UserContext) async throws -> ScriptRouter.Answer {
            try await test.ask("PUT", "/db/\(id)", body, as: user)
        }
        #expect(try await put("a", #"{"author":"ann"}"#, ann).status == 201)
        let forged = try await put("b", #"{"author":"ann"}"#, bob)
        #expect(forged.status == 403 && forged.text.contains(#""reason":"sign as yourself""#))
        #expect(try await put("c", "{}", .anonymous).text.contains(#""reason":"log in""#))
        let crashing = try await put("c", #"{"author":"ann","crash":1}"#, ann)
        #expect(crashing.status == 500 && crashing.text.contains("TypeError"))
        let revision = try await test.revision("/db/a")
        let stolen = try await put("a", #"{"author":"bob","_rev":"\#(revision)"}"#, bob)
        #expect(stolen.status == 403 && stolen.text.contains("it is the one of ann"))
        // One of several fails alone, and replicated revisions are asked about, too.
        let bulk = try await test.ask(
            "POST", "/db/_bulk_docs", #"{"docs":[{"_id":"x","author":"bob"},{"_id":"y","author":"ann"}]}"#,
            as: bob)
        #expect(
            bulk.text.contains(#""id":"y","error":"forbidden""#) && bulk.text.contains(#""ok":true,"id":"x""#)
        )
        let inserted = try await test.ask(
            "POST", "/db/_bulk_docs",
            #"{"new_edits":false,"docs":[{"_id":"z","_rev":"1-a","author":"ann"}]}"#,
            as: bob)
        #expect(inserted.text.contains(#""error":"forbidden""#))
        #expect(try await test.ask("GET", "/db/z").status == 404)
    }

    @Test(arguments: Place.allCases)
    func filtersChooseChanges(place: Place) async throws {
        let test = try await ScriptRouter(place.language())
        for number in 1...700 { try await test.ask("PUT", "/db/\(1000 + number)", #"{"n":\#(number)}"#) }
        try await test.ask(
            "PUT", "/db/_design/d",
            #"""
            {"filters":{"over":"function (doc, req) { return doc.n > Number(req.query.least) && req.userCtx.db === 'db'; }"},
             "views":{"few":{"map":"doc => { if (doc.n < 3) emit(doc.n) }"}}}
            """#)
        let over = try await test.ask("GET", "/db/_changes?filter=d/over&least=697")
        #expect(over.ids == ["1698", "1699", "1700"])
        let descending = try await test.ask("GET", "/db/_changes?filter=d/over&least=10&descending=true")
        #expect(descending.ids.count == 690 && descending.ids.first == "1700")
        #expect(try await test.ask("GET", "/db/_changes?filter=_view&view=d/few").ids == ["1001", "1002"])
        // Each leaf is asked about, where each is told.
        try await test.ask(
            "POST", "/db/_bulk_docs", #"{"new_edits":false,"docs":[{"_id":"1001","_rev":"1-f","n":700}]}"#)
        let leaves = try await test.ask("GET", "/db/_changes?filter=d/over&least=699&style=all_docs")
        #expect(leaves.ids == ["1700", "1001"] && leaves.text.contains(#""changes":[{"rev":"1-f"}]"#))
        #expect(try await test.ask("GET", "/db/_changes?filter=d/none").status == 404)
        #expect(try await test.ask("GET", "/db/_changes?filter=none/none").status == 404)
    }

    /// A document with two live leaves and a deleted one, as map functions, filters and validations are shown it in CouchDB.
    @Test(arguments: Place.allCases)
    func functionsSeeWhatCouchDBShowsThem(place: Place) async throws {
        let test = try await ScriptRouter(place.language())
        let leaves = [#""_rev":"2-b","x":1"#, #""_rev":"2-c","x":2"#, #""_rev":"2-d","_deleted":true"#]
        for (leaf, digest) in zip(leaves, "bcd") {
            let written = try await test.ask(
                "POST", "/db/_bulk_docs",
                #"{"new_edits":false,"docs":[{"_id":"a","_revisions":{"start":2,"ids":["\#(digest)","a"]},\#(leaf)}]}"#
            )
            #expect(written.text == "[]\n")
        }
        let saved = try await test.ask(
            "PUT", "/db/_design/d",
            #"""
            {"views":{"all":{"map":"doc => emit(null, doc)"}}, "options":{"local_seq":true},
             "filters":{"shape":"(doc, req) => Object.keys(doc).sort().join() === req.query.keys"}}
            """#)
        #expect(saved.status == 201)
        let row = try await test.ask("GET", "/db/_design/d/_view/all")
        #expect(
            row.text.contains(
                #""value":{"_conflicts":["2-b"],"_deleted_conflicts":["2-d"],"_id":"a","_local_seq":3,"_rev":"2-c","x":2}"#
            ), "\(row.text)")
        // A view as a filter is asked about design documents, too.
        #expect(try await test.ask("GET", "/db/_changes?filter=_view&view=d/all").ids == ["a", "_design/d"])
        for (keys, revisions) in [
            ("_id,_rev,_revisions,x", #"[{"rev":"2-c"},{"rev":"2-b"}]"#),
            ("_deleted,_id,_rev,_revisions", #"[{"rev":"2-d"}]"#),
        ] {
            let changes = try await test.ask("GET", "/db/_changes?filter=d/shape&style=all_docs&keys=\(keys)")
            #expect(changes.text.contains(#""id":"a","changes":\#(revisions)"#), "\(changes.text)")
        }
        try await test.ask(
            "PUT", "/db/_design/v",
            #"{"validate_doc_update":"(...all) => { throw {forbidden: JSON.stringify(all.slice(0, 2))} }"}"#)
        func shown(_ target: String, _ body: String) async throws -> String? {
            let text = try await test.ask("PUT", target, body).text
            return (try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])?["reason"]
                as? String
        }
        let old = #"{"_id":"a","_rev":"2-c","_revisions":{"ids":["c","a"],"start":2},"x":2}"#
        let edit = try await shown("/db/a?rev=2-c", #"{"x":3}"#)
        #expect(
            edit
                == #"[{"_id":"a","_rev":"2-c","_revisions":{"start":2,"ids":["c"]},"x":3},\#(old)]"#)
        let foreign = try await shown(
            "/db/a?new_edits=false", #"{"_revisions":{"start":3,"ids":["e","c","a"]},"x":3}"#)
        #expect(
            foreign
                == #"[{"_id":"a","_rev":"3-e","_revisions":{"start":3,"ids":["e","c","a"]},"x":3},\#(old)]"#)
        let new = try await shown("/db/b", #"{"x":3}"#)
        #expect(new == #"[{"_id":"b","x":3},null]"#)
    }

    /// The request as filters are told it in CouchDB, without what would show who asks to the function's author.
    @Test func filtersAreToldOfTheRequest() async throws {
        let test = try await ScriptRouter(Place.child.language())
        let ann = UserContext(name: "ann", roles: ["editor"])
        let source = "function (doc, req) { throw JSON.stringify(req); }"
        try await test.ask("PUT", "/db/_design/d", #"{"filters":{"f":"\#(source)"}}"#)
        func told(_ method: String, _ parameters: String, _ body: String? = nil) async throws -> [String: Any]
        {
            let answer = try await test.ask(
                method, "/db/_changes?filter=d/f\(parameters)", body, as: ann,
                headers: [
                    "authorization": "Basic YW5uOnNlY3JldA==", "Cookie": "AuthSession=secret",
                    "x-auth-couchdb-token": "secret", "proxy-authorization": "secret", "x-mine": "1",
                    "X-Mine": "2",
                ])
            let reason = try #require(answer.json["reason"] as? String, "\(answer.text)")
            let start = try #require(reason.firstIndex(of: "{"))
            let object = try JSONSerialization.jsonObject(with: Data(reason[start...].utf8))
            return try #require(object as? [String: Any])
        }
        let get = try await told("GET", "&key=%5B1%5D&descending=true&mine=true")
        #expect(
            get.keys.sorted() == [
                "body", "cookie", "form", "headers", "id", "info", "method", "path", "peer", "query",
                "raw_path",
                "requested_path", "secObj", "userCtx", "uuid",
            ])
        #expect(get["method"] as? String == "GET" && get["body"] as? String == "undefined")
        #expect(get["raw_path"] as? String == "/db/_changes?filter=d/f&key=%5B1%5D&descending=true&mine=true")
        #expect(get["path"] as? [String] == ["db", "_changes"])
        #expect(get["id"] is NSNull && (get["uuid"] as? String)?.count == 32)
        let query = try #require(get["query"] as? [String: Any])
        #expect(query["key"] as? [Int] == [1] && query["descending"] as? Bool == true)
        #expect(query["mine"] as? String == "true")
        let headers = try #require(get["headers"] as? [String: String])
        #expect(headers == ["X-Mine": "1, 2", "Content-Type": "application/json"])
        #expect((get["cookie"] as? [String: Any])?.isEmpty == true)
        #expect((get["userCtx"] as? [String: Any])?["name"] as? String == "ann")
        #expect((get["info"] as? [String: Any])?["db_name"] as? String == "db")
        #expect((get["secObj"] as? [String: Any])?.isEmpty == true)
        let post = try await told("POST", "", #"{"ids": [1]}"#)
        #expect(post["method"] as? String == "POST" && post["body"] as? String == #"{"ids": [1]}"#)
    }

    // MARK: Bounds

    @Test(arguments: [
        "while (true) {}", "for (;;) { try { while (true) {} } catch (e) {} }",
        "(function f() { Promise.resolve().then(f); })(); ",
        "/^(a+)+$/.test('a'.repeat(64) + '!')",
        "let all = []; while (true) all.push(new Array(100000).fill(1));",
        "let text = 'xxxxxxxxxxxxxxxx'; while (true) text = (text + text).split('').join('');",
    ])
    func whatTakesTooMuchIsEnded(source: String) async throws {
        var limits = ScriptLimits()
        limits.seconds = 1
        limits.memory = 200 << 20
        let test = try await ScriptRouter(Place.child.language(limits))
        try await test.ask("PUT", "/db/a", "{}")
        let text = try JSONSerialization.data(
            withJSONObject: [
                "views": [
                    "bad": ["map": "function (doc) { \(source) }"], "good": ["map": "doc => emit(doc._id)"],
                ]
            ])
        try await test.ask("PUT", "/db/_design/d", String(decoding: text, as: UTF8.self))
        let answer = try await test.ask("GET", "/db/_design/d/_view/bad")
        // The engine may take it for a document that the map can't bear.
        #expect(answer.status == 500 || answer.text.contains(#""total_rows":0"#), "\(answer.text)")
        #expect(try await test.ask("GET", "/db/_design/d/_view/good").ids == ["a"])
    }

    /// The child has five seconds here, and the process that would end it waits for ten times as long: as if it were gone.
    @Test func aChildThatNobodyEndsEndsByItself() async throws {
        var limits = ScriptLimits()
        limits.seconds = 50
        let test = try await ScriptRouter(Place.child.language(limits))
        try await test.ask("PUT", "/db/a", "{}")
        try await test.ask(
            "PUT", "/db/_design/d",
            #"{"views":{"v":{"map":"function (doc) { (function f() { Promise.resolve().then(f); })(); }"}}}"#)
        let answer = try await test.ask("GET", "/db/_design/d/_view/v")
        #expect(answer.text.contains("The function took longer than"), "\(answer.text)")
    }

    @Test(arguments: [
        "new Date().getTime()", "Date.now()", "new (new Date(5).constructor)().getTime()",
        "new (Object.getPrototypeOf(new Date(5)).constructor)().getTime()", "Date.parse(Date())",
    ])
    func thereIsNoClock(source: String) async throws {
        let test = try await ScriptRouter(Place.child.language())
        try await test.ask("PUT", "/db/a", "{}")
        try await test.ask("PUT", "/db/_design/d", #"{"views":{"v":{"map":"doc => emit(\#(source))"}}}"#)
        let answer = try await test.ask("GET", "/db/_design/d/_view/v")
        #expect(answer.text.contains(#""key":0,"#), "\(answer.text)")
    }

    @Test func thereIsNothingBeyondTheLanguage() async throws {
        let test = try await ScriptRouter(Place.child.language())
        try await test.ask("PUT", "/db/a", "{}")
        let names = [
            "WebAssembly", "SharedArrayBuffer", "Atomics", "console", "Intl", "process", "load", "read",
            "print",
            "fetch", "XMLHttpRequest", "setTimeout", "performance", "importScripts", "readFile", "quit",
        ]
        let list = names.map { "'\($0)'" }.joined(separator: ",")
        try await test.ask(
            "PUT", "/db/_design/d",
            #"{"views":{"v":{"map":"doc => emit([\#(list)].filter(n => n in globalThis))"}}}"#)
        let answer = try await test.ask("GET", "/db/_design/d/_view/v")
        #expect(answer.text.contains(#""key":[],"#), "\(answer.text)")
    }

    /// Linux tells of a process the most memory that the one which started it ever had.
    @Test func theMemoryOfTheProgramIsNotThatOfItsScripts() async throws {
        var limits = ScriptLimits()
        limits.memory = 256 << 20
        let size = 320 << 20
        unsafe withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { memory in
            for place in stride(from: 0, to: size, by: 4096) { unsafe memory[place] = 1 }
        }
        let test = try await ScriptRouter(Place.child.language(limits))
        try await test.ask("PUT", "/db/a", "{}")
        // Longer than until the first look at its memory.
        let map = "doc => { let t = 0; for (let i = 0; i < 6e7; i++) t = (t + i * 7) % 1000003; emit(t > 0) }"
        try await test.ask("PUT", "/db/_design/d", #"{"views":{"v":{"map":"\#(map)"}}}"#)
        let answer = try await test.ask("GET", "/db/_design/d/_view/v")
        #expect(answer.ids == ["a"], "\(answer.text)")
    }

    @Test func anotherSourceIsAnotherView() async throws {
        let test = try await ScriptRouter(Place.child.language())
        try await test.ask("PUT", "/db/a", "{}")
        for number in 1...80 {
            let revision = try? await test.revision("/db/_design/d")
            let base = revision.map { #""_rev":"\#($0)","# } ?? ""
            try await test.ask(
                "PUT", "/db/_design/d", #"{\#(base)"views":{"v":{"map":"doc => emit(\#(number))"}}}"#)
            let answer = try await test.ask("GET", "/db/_design/d/_view/v")
            #expect(answer.text.contains("\"key\":\(number),"), "\(answer.text)")
        }
    }

    /// A program that there is not, and one that is no worker.
    @Test(arguments: ["/none/such", "/bin/cat"])
    func withoutAProgramTheAnswerIsAnError(program: String) async throws {
        let test = try await ScriptRouter(JavaScript(program: [program]))
        // Nobody knows whether it can be compiled.
        let saved = try await test.ask("PUT", "/db/_design/d", #"{"views":{"v":{"map":"doc => emit(1)"}}}"#)
        #expect(saved.status == 201, "\(saved.text)")
        #expect(try await test.ask("GET", "/db/_design/d/_view/v").status == 500)
    }
}
