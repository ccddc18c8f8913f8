import Dispatch
import Fleece
import Foundation
import Roost
import RoostREST
import RoostWire
import Testing

/// A router whose sync function does what documents say: `channels`, `access` and `roles` by user, `owner`, and `refused`.
func channelRouter(
    _ change: (inout RouterOptions, inout Hooks) -> Void = { _, _ in }
) async throws -> TestRouter {
    let router = try TestRouter { options, hooks in
        change(&options, &hooks)
        hooks.sync = SyncFunction { document, old, sync in
            if let owner = old?["owner"].string { try sync.requireUser(owner) }
            if let reason = document["refused"].string { throw ValidationFailure.forbidden(reason) }
            if let role = document["needsRole"].string { try sync.requireRole(role) }
            if let channel = document["needsAccess"].string { try sync.requireAccess(channel) }
            sync.channel(texts(document["channels"]))
            for (user, channels) in document["access"].dictionary ?? .empty {
                sync.access([user], texts(channels))
            }
            for (user, roles) in document["roles"].dictionary ?? .empty { sync.role([user], texts(roles)) }
        }
    }
    try await router.ask("PUT", "/db")
    try await router.ask("PUT", "/db/_security", #"{"admins":{"roles":["keeper"]},"members":{}}"#)
    return router
}

private func texts(_ value: FleeceValue) -> [String] { value.array?.compactMap(\.string) ?? [] }

let ann = UserContext(name: "ann")
let bob = UserContext(name: "bob")

/// Sync functions and channels: who may write and who sees what, by the router.
@Suite struct ChannelTests {
    // MARK: What can't be seen

    @Test func routesThatAreNotFilteredAreClosed() async throws {
        let router = try await channelRouter()
        try await router.ask("PUT", "/db/doc", #"{"channels":["!"]}"#)
        let closed = [
            "GET /_all_dbs", "GET /_dbs_info", "GET /_active_tasks", "GET /_node/_local/_stats",
            "GET /_replicator/x", "GET /_scheduler/jobs", "GET /db/_local_docs",
            "GET /db/_design_docs", "COPY /db/_local/x", "GET /db/_design/d",
            "PUT /db/_design/d", "PUT /db/_design/d/_view/v", "GET /db/_design/d/_info",
            "GET /db/_design/d/file",
            "POST /db/_all_docs/queries", "POST /db/_query", "POST /db/_explain", "GET /db/_index",
            "POST /db/_index", "GET /db/_security", "PUT /db/_security", "GET /db/_revs_limit",
            "POST /db/_purge", "GET /db/_purged_infos", "POST /db/_compact", "POST /db/_view_cleanup",
            "GET /db/_user", "GET /db/_user/ann", "PUT /db/_user/ann", "POST /db/_role",
            "DELETE /db/_user/ann",
            "GET /db/_shards", "GET /db/_changes?descending=true", "GET /db/_all_docs?update_seq=true",
            "GET /db/doc?conflicts=true", "GET /db/doc?meta=true",
            "GET /db/doc?revs_info=true", "GET /db/doc?local_seq=true", "GET /db/doc?deleted_conflicts=true",
        ]
        for route in closed {
            let parts = route.split(separator: " ").map(String.init)
            let answer = try await router.ask(parts[0], parts[1], "{}", as: ann)
            #expect([401, 403].contains(answer.status), "\(route): \(answer.status) \(answer.text)")
        }
        let inBody = try await router.ask("POST", "/db/_all_docs", #"{"update_seq":true}"#, as: ann)
        #expect(inBody.status == 403)
        // Administrators of the server and of the database are let in as ever.
        #expect(try await router.ask("GET", "/db").status == 200)
        let keeper = UserContext(name: "kim", roles: ["keeper"])
        #expect(try await router.ask("GET", "/db/_local_docs", as: keeper).status == 200)
    }

    @Test func whatIsNotSeenIsAnsweredAsWhatIsNotThere() async throws {
        let router = try await channelRouter()
        // The same names but for a letter; one is there.
        let revision = try await router.put("/db/hidden", #"{"channels":["secret"],"a":1}"#)
        let file = try await router.ask("PUT", "/db/hidden/file?rev=\(revision)", "text")
        let last = try #require(file["rev"] as? String)
        let gone = try await router.put("/db/gone00", #"{"channels":["secret"]}"#)
        try await router.ask("DELETE", "/db/gone00?rev=\(gone)")
        let reads = [
            ("GET", "/db/ID", nil), ("HEAD", "/db/ID", nil), ("GET", "/db/ID?rev=\(last)", nil),
            ("GET", "/db/ID?rev=\(revision)", nil), ("GET", "/db/ID?open_revs=all", nil),
            ("GET", "/db/ID?open_revs=[%22\(last)%22]&revs=true&latest=true", nil),
            ("GET", "/db/ID/file", nil), ("GET", "/db/ID/file?rev=\(last)", nil),
            ("DELETE", "/db/ID?rev=\(last)", nil), ("DELETE", "/db/ID", nil),
            ("PUT", "/db/ID/file?rev=\(last)", "text"), ("DELETE", "/db/ID/file?rev=\(last)", nil),
            ("PUT", "/db/ID?rev=\(last)", #"{"a":2}"#),
            ("POST", "/db/_all_docs", #"{"keys":["ID"],"include_docs":true}"#),
            ("GET", "/db/_all_docs?key=%22ID%22", nil), ("GET", "/db/_all_docs?include_docs=true", nil),
            ("POST", "/db/_bulk_get", #"{"docs":[{"id":"ID"},{"id":"ID","rev":"\#(last)"}]}"#),
            ("POST", "/db/_bulk_get?latest=true", #"{"docs":[{"id":"ID","rev":"\#(revision)"}]}"#),
            ("POST", "/db/_revs_diff", #"{"ID":["\#(last)","9-ab"]}"#),
            ("POST", "/db/_missing_revs", #"{"ID":["\#(last)","9-ab"]}"#),
            ("POST", "/db/_changes?filter=_doc_ids&include_docs=true", #"{"doc_ids":["ID"]}"#),
        ]
        for (method, target, body) in reads {
            let answers = try await ["hidden", "gone00", "absent"].asyncMap { id in
                let answer = try await router.ask(
                    method, target.replacingOccurrences(of: "ID", with: id),
                    body?.replacingOccurrences(of: "ID", with: id),
                    headers: ["Accept": "application/json"], as: ann)
                let fields = answer.headers.fields.filter { $0.name != "X-Couch-Request-ID" }
                    .map { "\($0.name): \($0.value)" }
                return "\(answer.status) \(fields) \(answer.text)".replacingOccurrences(of: id, with: "ID")
            }
            #expect(answers[0] == answers[2], "\(method) \(target)")
            #expect(answers[1] == answers[2], "\(method) \(target)")
            #expect(!answers[0].contains("secret"))
        }
    }

    /// Whoever knows, or guesses, a content learns nothing of whether a document has it.
    @Test func aStubLeadsToNoContentOfOthers() async throws {
        let router = try await channelRouter()
        let hidden = try await router.put("/db/hidden", #"{"channels":["secret"]}"#)
        try await router.ask("PUT", "/db/hidden/file?rev=\(hidden)", "xyzzy")
        let own = try await router.put("/db/own", #"{"channels":["!"]}"#)
        try await router.ask(
            "PUT", "/db/own/file?rev=\(own)", "plugh", headers: ["Content-Type": "text/plain"], as: ann)
        let documents = try #require(try router.router.databases.database("db")).defaultCollection
        func digest(_ id: String) throws -> (String, String) {
            let attachment = try #require(try documents.document(id)?.attachments["file"])
            return (attachment.digest, attachment.md5 ?? "")
        }
        func put(_ id: String, _ digest: String, _ edits: Bool) async throws -> TestRouter.Answer {
            let file = #""file":{"stub":true,"digest":"\#(digest)","revpos":2,"content_type":"text/plain"}"#
            let base = edits ? try documents.document(id)?.revision.description : "3-ab"
            let revision = base.map { #""_rev":"\#($0)","# } ?? ""
            let body = #"{\#(revision)"channels":["!"],"_attachments":{\#(file)}}"#
            return try await router.ask("PUT", "/db/\(id)?new_edits=\(edits)", body, as: ann)
        }
        let (stored, md5) = try digest("hidden")
        let absent = String(stored.dropLast(6)) + "AAAAA="
        for edits in [true, false] {
            let answers = [try await put("new", stored, edits), try await put("new", absent, edits)]
            #expect(
                answers.allSatisfy { $0.status == 412 } && answers[0].text == answers[1].text, "\(answers)")
            #expect(try await put("new", md5, edits).status == 412)
            #expect(try await put("own", stored, edits).status == 412)
        }
        // A client sends back what it got.
        #expect(try await put("own", digest("own").0, true).status == 201)
        #expect(try await put("own", digest("own").1, true).status == 201)
        #expect(try await router.ask("GET", "/db/own/file", as: ann).text == "plugh")
    }

    @Test func namesThatAreTakenConflict() async throws {
        let router = try await channelRouter()
        try await router.put("/db/hidden", #"{"channels":["secret"],"owner":"bob"}"#)
        // The sync function is not asked, so that its words tell nothing.
        #expect(try await router.ask("PUT", "/db/hidden", "{}", as: ann).text.contains("update conflict"))
        let branch = #"{"new_edits":false,"docs":[{"_id":"hidden","_rev":"9-ab","channels":["!"]}]}"#
        // What replicators bring is refused in the word that has them go on with the rest.
        let told = try await router.ask("POST", "/db/_bulk_docs", branch, as: ann)
        #expect(told.text.contains(#""error":"forbidden","reason":"Document update conflict.""#))
        let alone = try await router.ask(
            "PUT", "/db/hidden?new_edits=false", #"{"_rev":"9-ab","channels":["!"]}"#, as: ann)
        #expect(alone.status == 403)
        #expect(try await router.ask("GET", "/db/hidden", as: ann).status == 404)
        #expect(try await router.ask("GET", "/db/hidden?conflicts=true")["_conflicts"] == nil)
    }

    @Test func earlierRevisionsAreNotSeen() async throws {
        let router = try await channelRouter()
        let first = try await router.put("/db/doc", #"{"channels":["secret"],"word":"xyzzy"}"#)
        let second = try await router.put("/db/doc", #"{"_rev":"\#(first)","channels":["!"]}"#)
        #expect(try await router.ask("GET", "/db/doc", as: ann)["_rev"] as? String == second)
        #expect(try await router.ask("GET", "/db/doc?rev=\(first)").text.contains("xyzzy"))
        #expect(try await router.ask("GET", "/db/doc?rev=\(first)", as: ann).status == 404)
        let list = try await router.ask("GET", "/db/doc?open_revs=[%22\(first)%22]", as: ann)
        #expect(!list.text.contains("xyzzy"))
    }

    @Test func branchesOfAConflictAreSeenByTheirOwnChannels() async throws {
        let router = try await channelRouter()
        try await router.ask(
            "POST", "/db/_bulk_docs",
            #"""
            {"new_edits":false,"docs":[{"_id":"doc","_rev":"1-aa","channels":["!"],"n":1},
            {"_id":"doc","_rev":"1-bb","channels":["secret"],"word":"xyzzy"}]}
            """#)
        // The winner is the hidden one; it decides where the document stands.
        #expect(try await router.ask("GET", "/db/doc", as: ann).status == 404)
        #expect(try await router.ask("GET", "/db/doc?rev=1-bb", as: ann).status == 404)
        let all = try await router.ask("GET", "/db/doc?open_revs=all", as: ann)
        #expect(!all.text.contains("xyzzy") && !all.text.contains("1-bb") && all.text.contains("1-aa"))
        // With the winner deleted, the other branch holds again.
        try await router.ask("DELETE", "/db/doc?rev=1-bb")
        #expect(try await router.ask("GET", "/db/doc", as: ann)["n"] as? Int == 1)
        #expect(try await changes(router, ann).map(\.id) == ["doc"])
    }

    @Test func documentsOfTheProgramItselfAreForAdministratorsUntilTheyAreRouted() async throws {
        let gate = DispatchSemaphore(value: 0)
        let router = try TestRouter { _, hooks in
            hooks.sync = SyncFunction { document, _, sync in
                // The first decision waits for the test, and lets the next ones go.
                gate.wait()
                gate.signal()
                sync.channel(texts(document["channels"]))
            }
        }
        defer { gate.signal() }
        try await router.ask("PUT", "/db")
        try await router.ask("PUT", "/db/_security", #"{"members":{}}"#)
        let database = try #require(try router.router.databases.database("db"))
        try await database.defaultCollection.save(json: #"{"channels":["!"]}"#, id: "own")
        #expect(try await router.ask("GET", "/db/own").status == 200)
        #expect(try await router.ask("GET", "/db/own", as: ann).status == 404)
        #expect(try await router.ask("GET", "/db/_all_docs", as: ann).text.contains("own") == false)
        #expect(try await changes(router, ann).isEmpty)
        gate.signal()
        try await router.router.routeChannels(of: "db")
        #expect(try await router.ask("GET", "/db/own", as: ann).status == 200)
        #expect(try await changes(router, ann).map(\.id) == ["own"])
    }

    @Test func localDocumentsAreTheirUsersOwn() async throws {
        let router = try await channelRouter()
        let slashes = UserContext(name: "ann/x")
        for (user, name, value) in [(ann, "x/y", 1), (slashes, "y", 2), (UserContext.admin, "x/y", 3)] {
            let path = "/db/_local/" + name.replacingOccurrences(of: "/", with: "%2F")
            let saved = try await router.ask("PUT", path, #"{"n":\#(value)}"#, as: user)
            #expect(saved["id"] as? String == "_local/\(name)")
        }
        let own = try await router.ask("GET", "/db/_local/x%2Fy", as: ann)
        #expect(own["n"] as? Int == 1 && own["_id"] as? String == "_local/x/y")
        #expect(try await router.ask("GET", "/db/_local/y", as: slashes)["n"] as? Int == 2)
        #expect(try await router.ask("GET", "/db/_local/y", as: ann).status == 404)
        #expect(try await router.ask("GET", "/db/_local/x%2Fy")["n"] as? Int == 3)
        #expect(try await router.ask("DELETE", "/db/_local/x%2Fy?rev=0-1", as: ann).status == 200)
        #expect(try await router.ask("GET", "/db/_local/x%2Fy").status == 200)
        #expect(try await router.ask("PUT", "/db/_local/x", "{}", as: .anonymous).status == 401)
        // By the other ways, too.
        try await router.ask("POST", "/db", #"{"_id":"_local/p"}"#, as: ann)
        try await router.ask("POST", "/db/_bulk_docs", #"{"docs":[{"_id":"_local/b"}]}"#, as: ann)
        for name in ["p", "b"] {
            #expect(try await router.ask("GET", "/db/_local/\(name)", as: ann).status == 200)
            #expect(try await router.ask("GET", "/db/_local/\(name)").status == 404)
        }
    }

    @Test func theDatabaseTellsNothingOfItsDocuments() async throws {
        let router = try await channelRouter()
        let before = try await router.ask("GET", "/db", as: ann)
        try await router.put("/db/hidden", #"{"channels":["secret"]}"#)
        let after = try await router.ask("GET", "/db", as: ann)
        #expect(before.text == after.text)
        let names = try #require(after.json as? [String: Any]).keys.sorted()
        #expect(names == ["db_name", "instance_start_time", "update_seq"])
    }

    /// CouchDB's replicator talks to no database without one, and PouchDB begins there when it is asked for what comes from now on.
    @Test func theDatabaseTellsThePlaceAfterWhatIsSeen() async throws {
        let router = try await channelRouter()
        func end() async throws -> String {
            try #require(try await router.ask("GET", "/db", as: ann)["update_seq"] as? String)
        }
        func changes(_ since: String) async throws -> TestRouter.Answer {
            try await router.ask("GET", "/db/_changes?since=\(since)", as: ann)
        }
        try await router.put("/db/one", #"{"channels":["!"],"access":{"ann":["a"]}}"#)
        try await router.put("/db/two", #"{"channels":["a"]}"#)
        let place = try await end()
        #expect(try await changes("0")["last_seq"] as? String == place)
        try await router.put("/db/hidden", #"{"channels":["secret"]}"#)
        #expect(try await end() == place)
        #expect(try await changes("now")["last_seq"] as? String == place)
        #expect(try await changes(place)["last_seq"] as? String == place)
        try await router.put("/db/three", #"{"channels":["!"]}"#)
        #expect(try await end() != place)
        let rows = try #require(try await changes(place)["results"] as? [[String: Any]])
        #expect(rows.compactMap { $0["id"] as? String } == ["three"])
    }

    @Test(arguments: [false, true]) func guestsAreLetInWhereTheyAreAllowed(_ isAllowed: Bool) async throws {
        let router = try await channelRouter { options, _ in options.allowsGuests = isAllowed }
        try await router.put("/db/open", #"{"channels":["!"]}"#)
        try await router.put("/db/hidden", #"{"channels":["a"]}"#)
        for (method, path, status) in [
            ("GET", "/db/open", 200), ("GET", "/db", 200), ("GET", "/db/_all_docs", 200),
            ("GET", "/db/_changes", 200), ("PUT", "/db/new", 201), ("GET", "/db/hidden", 404),
        ] {
            let answer = try await router.ask(method, path, method == "PUT" ? "{}" : nil, as: .anonymous)
            #expect(answer.status == (isAllowed ? status : 401), "\(method) \(path)")
            #expect(!answer.text.contains("hidden"))
        }
        // Without a sync function it is as in CouchDB.
        let plain = try TestRouter()
        try await plain.ask("PUT", "/db")
        try await plain.ask("PUT", "/db/_security", #"{"members":{}}"#)
        #expect(try await plain.ask("GET", "/db/_all_docs", as: .anonymous).status == 200)
    }
}

extension Sequence {
    fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
        var results: [T] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
