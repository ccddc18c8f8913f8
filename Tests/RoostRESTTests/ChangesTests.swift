import Foundation
import RoostREST
import RoostWire
import Testing

/// `_changes` in its four feeds.
@Suite struct ChangesTests {
    private func filled(_ change: (inout RouterOptions, inout Hooks) -> Void = { _, _ in }) async throws
        -> TestRouter
    {
        let test = try TestRouter(change)
        try await test.ask("PUT", "/db")
        for id in ["a", "b", "_design/d"] { _ = try await test.put("/db/\(id)", #"{"n":1}"#) }
        return test
    }

    private func ids(_ test: TestRouter, _ target: String, _ body: String? = nil) async throws -> [String] {
        let answer = try await test.ask(body == nil ? "GET" : "POST", "/db/_changes" + target, body)
        return (answer["results"] as? [[String: Any]])?.compactMap { $0["id"] as? String } ?? [answer.text]
    }

    @Test func normalFeeds() async throws {
        let test = try await filled()
        #expect(try await ids(test, "") == ["a", "b", "_design/d"])
        let first = try await test.ask("GET", "/db/_changes?limit=1")
        #expect(first["pending"] as? Int == 2)
        let token = try #require(first["last_seq"] as? String)
        #expect(token.hasPrefix("1-"))
        #expect(try await ids(test, "?since=\(token)") == ["b", "_design/d"])
        #expect(try await ids(test, "?since=%22\(token)%22") == ["b", "_design/d"])
        #expect(try await ids(test, "?last-event-id=\(token)") == ["b", "_design/d"])
        #expect(try await ids(test, "?since=now") == [])
        #expect(try await ids(test, "?descending=true&limit=2") == ["_design/d", "b"])
        let none = try await test.ask("GET", "/db/_changes?limit=0&since=1")
        #expect((none["results"] as? [Any])?.isEmpty == true && none["pending"] as? Int == 2)
        #expect((none["last_seq"] as? String)?.hasPrefix("1-") == true)
        #expect(try await ids(test, "?filter=_doc_ids&doc_ids=%5B%22b%22%5D") == ["b"])
        #expect(try await ids(test, "?filter=_doc_ids", #"{"doc_ids":["a","z"]}"#) == ["a"])
        #expect(try await ids(test, "?filter=_design") == ["_design/d"])
        #expect(
            try await test.ask("GET", "/db/_changes?include_docs=true").text.contains(#""doc":{"_id":"a""#))
        #expect(
            try await test.ask("GET", "/db/_changes?seq_interval=2").text.contains(#"{"seq":null,"id":"b""#))
        let tag = try #require(try await test.ask("GET", "/db/_changes").headers["ETag"])
        #expect(try await test.ask("GET", "/db/_changes", headers: ["If-None-Match": tag]).status == 304)
    }

    @Test func tokensOfAnotherHistoryAndBeyondTheEndBeginAnew() async throws {
        let test = try await filled()
        for token in ["1-ffffffff", "99", "99-x", "%22%22", "odd", "-2", "-"] {
            #expect(try await ids(test, "?since=\(token)").count == 3, "\(token)")
        }
    }

    @Test func everyLeafIsToldWhereAsked() async throws {
        let test = try await filled()
        for revision in ["1-ee", "1-ff"] {
            try await test.ask(
                "POST", "/db/_bulk_docs", #"{"new_edits":false,"docs":[{"_id":"c","_rev":"\#(revision)"}]}"#)
        }
        let all = try await test.ask("GET", "/db/_changes?style=all_docs&filter=_doc_ids&doc_ids=%22c%22")
        #expect(all.text.contains(#""changes":[{"rev":"1-ff"},{"rev":"1-ee"}]"#), "\(all.text)")
        let main = try await test.ask("GET", "/db/_changes?filter=_doc_ids&doc_ids=%22c%22")
        #expect(main.text.contains(#""changes":[{"rev":"1-ff"}]"#))
        let tree = try await test.ask("DELETE", "/db/c?rev=1-ff")
        #expect(tree.status == 200)
        #expect(try await test.ask("GET", "/db/_changes?active_only=true").text.contains(#""rev":"1-ee""#))
    }

    /// As CouchDB does: a leaf that the filter doesn't let through is not told, whether it wins or not.
    @Test func filtersLookAtEachLeaf() async throws {
        let test = try await filled { _, hooks in
            hooks.filters["app/kept"] = { document, _, _ in document.properties["keep"].bool == true }
        }
        let leaves =
            #"{"_id":"x","_rev":"1-aa","keep":true},{"_id":"x","_rev":"1-bb"},{"_id":"x","_rev":"1-cc","keep":true}"#
            + #",{"_id":"y","_rev":"1-aa","keep":true},{"_id":"y","_rev":"1-bb"}"#
        try await test.ask("POST", "/db/_bulk_docs", #"{"new_edits":false,"docs":[\#(leaves)]}"#)
        for (target, body) in [
            ("filter=app/kept", nil), ("filter=_selector", #"{"selector":{"keep":true}}"#),
        ] {
            let method = body == nil ? "GET" : "POST"
            let all = try await test.ask(method, "/db/_changes?style=all_docs&" + target, body)
            #expect(all.text.contains(#""changes":[{"rev":"1-cc"},{"rev":"1-aa"}]"#), "\(all.text)")
            #expect(all.text.contains(#""id":"y","changes":[{"rev":"1-aa"}]"#), "\(all.text)")
            // Of the winners alone only one is let through.
            let main = try await test.ask(method, "/db/_changes?" + target, body)
            #expect(main.text.contains(#""id":"x","changes":[{"rev":"1-cc"}]"#), "\(main.text)")
            #expect(!main.text.contains(#""id":"y""#), "\(main.text)")
        }
    }

    @Test(arguments: [
        "?feed=odd", "?heartbeat=0", "?heartbeat=x", "?filter=_odd", "?filter=odd", "?filter=_doc_ids",
        "?limit=-1", "?filter=_doc_ids&doc_ids=%5B%22a%22,1%5D",
    ])
    func refusesWhatCanNotBe(target: String) async throws {
        let test = try await filled()
        #expect(try await test.ask("GET", "/db/_changes" + target).status == 400)
    }

    @Test func filtersOfTheAppAreFoundByName() async throws {
        let test = try await filled { _, hooks in
            hooks.filters["app/of"] = { document, parameter, _ in document.id == parameter("name") }
        }
        #expect(try await ids(test, "?filter=app/of&name=b") == ["b"])
        #expect(try await test.ask("GET", "/db/_changes?filter=app/other").status == 404)
        try await test.put("/db/_design/app", #"{"filters":{}}"#)
        let none = try await test.ask("GET", "/db/_changes?filter=app/other")
        #expect(none.status == 404 && none.text.contains("missing json key: other"))
    }

    /// Feeds that wait: what they say at once, and when a document is saved.
    private func pieces(_ test: TestRouter, _ target: String) async throws -> any BodyStream {
        let response = await test.router.respond(to: .get("/db/_changes" + target), as: .admin)
        #expect(response.isEndless && response.headers["X-Accel-Buffering"] == "no")
        guard case .stream(let stream, nil) = response.body else {
            throw WireError(500, "no stream")
        }
        return stream
    }

    private func text(_ piece: [UInt8]?) -> String { String(decoding: piece ?? [], as: UTF8.self) }

    @Test func longpollWaitsForTheFirstChange() async throws {
        let test = try await filled()
        let stream = try await pieces(test, "?feed=longpoll&since=now&heartbeat=60000")
        #expect(text(try await stream.next()) == "{\"results\":[\n")
        async let next = stream.next()
        _ = try await test.put("/db/new", "{}")
        let row = text(try await next)
        #expect(row.contains(#""id":"new""#) && row.hasSuffix("\"pending\":0}\n"))
        #expect(try await stream.next() == nil)
    }

    @Test func longpollWaitsOnWhileItsFilterLetsNothingThrough() async throws {
        let test = try await filled()
        let stream = try await pieces(test, "?feed=longpoll&since=now&filter=_design")
        _ = try await stream.next()
        async let next = stream.next()
        _ = try await test.put("/db/x", "{}")
        _ = try await test.put("/db/_design/new", "{}")
        let row = text(try await next)
        #expect(row.contains("_design/new") && !row.contains(#""id":"x""#))
    }

    @Test func continuousFeedsTellEachChangeInALine() async throws {
        let test = try await filled()
        let stream = try await pieces(test, "?feed=continuous")
        let old = text(try await stream.next())
        #expect(old.split(separator: "\n").count == 3)
        for id in ["x", "y"] {
            _ = try await test.put("/db/\(id)", "{}")
            #expect(text(try await stream.next()).contains("\"id\":\"\(id)\""))
        }
    }

    @Test func feedsEndAfterTheirTimeoutOrSendHeartbeats() async throws {
        let test = try await filled()
        let ending = try await pieces(test, "?feed=continuous&since=now&timeout=10")
        _ = try await ending.next()
        #expect(text(try await ending.next()).hasPrefix("{\"last_seq\":\"3-"))
        #expect(try await ending.next() == nil)
        let beating = try await pieces(test, "?feed=continuous&since=now&heartbeat=10")
        for _ in 0..<3 { #expect(text(try await beating.next()) == "\n") }
        let events = try await pieces(test, "?feed=eventsource&since=now&heartbeat=10")
        for _ in 0..<3 { #expect(text(try await events.next()) == "event: heartbeat\ndata: \n\n") }
    }

    @Test func eventsCarryTheTokenFromWhichAClientGoesOn() async throws {
        let test = try await filled()
        let response = await test.router.respond(
            to: .get("/db/_changes?feed=eventsource&limit=2&since=0", headers: ["Last-Event-ID": "1"]),
            as: .admin)
        #expect(response.headers["Content-Type"] == "text/event-stream")
        let answer = try await TestRouter.read(response)
        #expect(answer.text.hasPrefix("data: {\"seq\":\"2-") && answer.text.contains("\nid: 3-"))
    }

    /// Each event is a change: what a feed in another form ends with would be taken for one.
    @Test(arguments: [
        ("limit=2", 2), ("since=now&timeout=10", 0), ("limit=0", 0), ("descending=true", 3),
        ("descending=true&filter=_doc_ids&doc_ids=%5B%22none%22%5D", 0),
    ])
    func eventsAreChanges(query: String, count: Int) async throws {
        let test = try await filled()
        let answer = try await test.ask("GET", "/db/_changes?feed=eventsource&\(query)")
        let events = answer.text.split(separator: "\n").filter { $0.hasPrefix("data: {") }
        #expect(events.count == count, "\(answer.text)")
        #expect(events.allSatisfy { $0.contains("\"changes\":") }, "\(answer.text)")
    }

    @Test func aCancelledFeedEnds() async throws {
        let test = try await filled()
        let stream = try await pieces(test, "?feed=continuous&since=now&heartbeat=600000")
        _ = try await stream.next()
        let task = Task { try await stream.next() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aFeedOfADeletedDatabaseEnds() async throws {
        let test = try await filled()
        let stream = try await pieces(test, "?feed=continuous&since=now&heartbeat=600000")
        _ = try await stream.next()
        let next = Task { try await stream.next() }
        #expect(try await test.ask("DELETE", "/db").status == 200)
        await #expect(throws: (any Error).self) { try await next.value }
    }

    @Test func manyPagesCountEveryChangeOnce() async throws {
        let test = try await filled()
        let docs = (0..<3000).map { #"{"_id":"d\#($0)"}"# }.joined(separator: ",")
        try await test.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(docs)]}")
        #expect(try await ids(test, "").count == 3003)
        #expect(try await ids(test, "?filter=_doc_ids&doc_ids=%22d2999%22") == ["d2999"])
        let response = await test.router.respond(
            to: .get("/db/_changes?feed=continuous&limit=3003"), as: .admin)
        #expect(try await TestRouter.read(response).text.split(separator: "\n").count == 3004)
    }

    /// Deleted documents have the field `_deleted`, and others do not, as in CouchDB: so tombstones are left out of a replication.
    @Test(arguments: [
        (#"{"_deleted":{"$exists":false}}"#, ["a", "b"]), (#"{"_deleted":{"$exists":true}}"#, ["gone"]),
        (#"{"_deleted":true}"#, ["gone"]), (#"{"_deleted":false}"#, []), (#"{"_deleted":{"$ne":true}}"#, []),
        (#"{"$nor":[{"_deleted":{"$exists":true}}]}"#, ["a", "b"]), (#"{"$or":[]}"#, ["a", "b", "gone"]),
        (#"{"_deleted.x":{"$exists":false}}"#, ["a", "b"]),
    ])
    func selectorsSeeWhatIsDeleted(selector: String, expected: [String]) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        for id in ["a", "b"] { try await test.put("/db/\(id)", "{}") }
        let revision = try await test.put("/db/gone", "{}")
        try await test.ask("DELETE", "/db/gone?rev=\(revision)")
        let answer = try await test.ask(
            "POST", "/db/_changes?filter=_selector", #"{"selector":\#(selector)}"#)
        let results = try #require(answer["results"] as? [[String: Any]], "\(answer.text)")
        #expect(results.compactMap { $0["id"] as? String } == expected)
    }
}
