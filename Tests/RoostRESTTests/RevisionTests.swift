import RoostREST
import RoostWire
import Testing

/// Revisions that are no leaves any more, and what is no revision at all.
@Suite struct RevisionTests {
    private func router() async throws -> TestRouter {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        return test
    }

    /// A document with so many revisions, first to last.
    private func edited(_ id: String, _ count: Int, in test: TestRouter) async throws -> [String] {
        var revisions = [try await test.put("/db/\(id)", #"{"n":1}"#)]
        while revisions.count < count {
            revisions.append(
                try await test.put(
                    "/db/\(id)?rev=\(revisions[revisions.count - 1])", #"{"n":\#(revisions.count + 1)}"#))
        }
        return revisions
    }

    @Test func earlierRevisionsAreThereUntilTheCompaction() async throws {
        let test = try await router()
        let revisions = try await edited("a", 3, in: test)
        let first = revisions[0]
        let open = try await test.ask(
            "GET", "/db/a?open_revs=%5B%22\(first)%22,%229-ff%22%5D", headers: ["Accept": "application/json"])
        #expect(
            open.text == #"[{"ok":{"_id":"a","_rev":"\#(first)","n":1}},{"missing":"9-ff"}]"# + "\n")
        let bulk = #"{"docs":[{"id":"a","rev":"\#(revisions[1])"}]}"#
        #expect(try await test.ask("POST", "/db/_bulk_get", bulk).text.contains(#""n":2}}]}]}"#))
        // With `latest`, it is what came of it.
        #expect(try await test.ask("POST", "/db/_bulk_get?latest=true", bulk).text.contains(#""n":3}}]}]}"#))
        #expect(try await test.ask("GET", "/db/a?rev=\(first)&latest=true").text.contains(#""n":3}"#))
        #expect(try await test.ask("GET", "/db/a?rev=7-7&latest=true").status == 404)
        #expect(try await test.ask("GET", "/db/a?rev=\(first)&revs=true").text.contains(#""start":1,"ids""#))
        #expect(try await test.ask("PUT", "/db/a?rev=\(first)", "{}").status == 409)

        #expect(try await test.ask("POST", "/db/_compact", "").status == 202)
        #expect(try await test.ask("GET", "/db/a?rev=\(first)").text.contains(#""reason":"missing""#))
        let information = try await test.ask("GET", "/db/a?revs_info=true")
        #expect(information.text.contains(#"{"rev":"\#(revisions[2])","status":"available"}"#))
        #expect(information.text.contains(#"{"rev":"\#(first)","status":"missing"}"#))
    }

    /// `latest` goes along the branch of the revision that is named, whether that wins, and also to its deletion.
    @Test func theLatestOfABranchThatLoses() async throws {
        let test = try await router()
        let branch = { (id: String, last: String, more: String) in
            #"{"_id":"\#(id)","_rev":"3-\#(last)3","_revisions":{"start":3,"ids":["\#(last)3","\#(last)2","a1"]}\#(more)}"#
        }
        let bodies = [
            branch("a", "b", ""), branch("a", "c", #","n":1"#), branch("d", "b", #","_deleted":true,"n":2"#),
        ]
        let all = #"{"new_edits":false,"docs":[\#(bodies.joined(separator: ","))]}"#
        #expect(try await test.ask("POST", "/db/_bulk_docs", all).status == 201)
        #expect(try await test.ask("GET", "/db/a")["_rev"] as? String == "3-c3")
        #expect(try await test.ask("GET", "/db/a?rev=2-b2&latest=true")["_rev"] as? String == "3-b3")
        let gone = try await test.ask("GET", "/db/d?rev=1-a1&latest=true")
        #expect(gone["_deleted"] as? Bool == true && gone["n"] as? Int == 2, "\(gone.text)")
    }

    @Test func tombstonesOnTheWayAreTold() async throws {
        let test = try await router()
        let first = try await test.put("/db/a", #"{"n":1}"#)
        let gone = try await test.ask("DELETE", "/db/a?rev=\(first)")
        let tombstone = try #require(gone["rev"] as? String)
        _ = try await test.put("/db/a", #"{"n":3}"#)
        let information = try await test.ask("GET", "/db/a?revs_info=true")
        #expect(information.text.contains(#"{"rev":"\#(tombstone)","status":"deleted"}"#))
        #expect(information.text.contains(#"{"rev":"\#(first)","status":"available"}"#))
        #expect(try await test.ask("GET", "/db/a?rev=\(tombstone)").text.contains(#""_deleted":true"#))
    }

    @Test func attachmentsOfEarlierRevisionsAreThere() async throws {
        let test = try await router()
        let first = try await test.put(
            "/db/a", #"{"_attachments":{"t":{"content_type":"text/plain","data":"b2xk"}}}"#)
        _ = try await test.put("/db/a?rev=\(first)", "{}")
        #expect(try await test.ask("GET", "/db/a/t").status == 404)
        #expect(try await test.ask("GET", "/db/a/t?rev=\(first)").text == "old")
    }

    /// A purged document leaves nothing that could be read.
    @Test func purgedRevisionsAreGone() async throws {
        let test = try await router()
        let revisions = try await edited("a", 2, in: test)
        try await test.ask("POST", "/db/_purge", #"{"a":["\#(revisions[1])"]}"#)
        #expect(try await test.ask("GET", "/db/a?rev=\(revisions[0])").status == 404)
        // The same document has the same revisions, and what was purged is not there again.
        #expect(try await edited("a", 1, in: test) == [revisions[0]])
        #expect(
            try await test.ask(
                "PUT", "/db/a?new_edits=false",
                #"{"_rev":"2-bb","_revisions":{"start":2,"ids":["bb","\#(revisions[0].dropFirst(2))"]}}"#
            ).status == 201)
        #expect(try await test.ask("GET", "/db/a?rev=\(revisions[0])").text.contains(#""n":1"#))
        #expect(try await test.ask("GET", "/db/a?rev=\(revisions[1])").status == 404)
    }

    /// A replicator may send a revision whose digest is empty: it is one like any other.
    @Test func aRevisionWithoutDigest() async throws {
        let test = try await router()
        let written = try await test.ask(
            "POST", "/db/_bulk_docs", #"{"new_edits":false,"docs":[{"_id":"a","_rev":"1-","n":1}]}"#)
        #expect(written.status == 201 && written.text == "[]\n")
        #expect(
            try await test.ask("GET", "/db/a?rev=1-&revs=true").text
                == #"{"_id":"a","_rev":"1-","_revisions":{"start":1,"ids":[""]},"n":1}"# + "\n")
        let edited = try await test.ask("PUT", "/db/a?rev=1-", #"{"n":2}"#)
        #expect(edited.status == 201)
        let history = try await test.ask("GET", "/db/a?revs=true")["_revisions"] as? [String: Any]
        #expect((history?["ids"] as? [String])?.last == "")
        let known = try await test.ask("POST", "/db/_revs_diff", #"{"a":["1-"]}"#)
        #expect(known.text == "{}\n")
    }

    /// CouchDB takes what begins with a number and a hyphen for a revision; it is not here, and no edit is based on it.
    @Test(arguments: ["0-aa", "01-aa", "99999999999999999999-aa"])
    func revisionsThatCanBeNoneHere(text: String) async throws {
        let test = try await router()
        let revision = try await test.put("/db/a", "{}")
        #expect(try await test.ask("GET", "/db/a?rev=\(text)").text.contains(#""reason":"missing""#))
        let open = try await test.ask(
            "GET", "/db/a?open_revs=%5B%22\(text)%22%5D", headers: ["Accept": "application/json"])
        #expect(open.text == #"[{"missing":"\#(text)"}]"# + "\n")
        for (method, target, body) in [
            ("PUT", "/db/a", #"{"_rev":"\#(text)"}"#), ("PUT", "/db/a?rev=\(text)", "{}"),
            ("DELETE", "/db/a?rev=\(text)", nil), ("POST", "/db", #"{"_id":"a","_rev":"\#(text)"}"#),
        ] {
            let answer = try await test.ask(method, target, body)
            #expect(answer.status == 409 && answer["error"] as? String == "conflict", "\(method) \(target)")
        }
        // One of many is a conflict of its own.
        let bulk = try await test.ask(
            "POST", "/db/_bulk_docs", #"{"docs":[{"_id":"a","_rev":"\#(text)"},{"_id":"b"}]}"#)
        #expect(
            bulk.text.hasPrefix(#"[{"id":"a","error":"conflict","#) && bulk.text.contains(#""id":"b","rev""#))
        let foreign = try await test.ask("PUT", "/db/c?new_edits=false", #"{"_rev":"\#(text)"}"#)
        #expect(foreign.status == 400 && foreign["reason"] as? String == "Invalid rev format")
        let known = try await test.ask("POST", "/db/_revs_diff", #"{"a":["\#(text)","\#(revision)"]}"#)
        #expect(known.text == #"{"a":{"missing":["\#(text)"]}}"# + "\n")
    }

    @Test(arguments: ["", "x", "-1-a", "a-1", "1"])
    func whatIsNoRevision(text: String) async throws {
        let test = try await router()
        for (method, target, body) in [
            ("GET", "/db/a?rev=\(text)", nil), ("PUT", "/db/a", #"{"_rev":"\#(text)"}"#),
            ("PUT", "/db/a?rev=\(text)", "{}"), ("POST", "/db/_revs_diff", #"{"a":["\#(text)"]}"#),
        ] {
            let answer = try await test.ask(method, target, body)
            #expect(
                answer.status == 400 && answer["reason"] as? String == "Invalid rev format",
                "\(method) \(target): \(answer.text)")
        }
    }

    /// CouchDB's and PouchDB's replicators pass over what is forbidden, and try for ever what is refused in other words.
    @Test func whatReplicatorsBringAndCannotBeStoredIsForbidden() async throws {
        let test = try await router()
        let long = String(repeating: "x", count: 3_000)
        let bulk = try await test.ask(
            "POST", "/db/_bulk_docs",
            #"{"new_edits":false,"docs":[{"_id":"\#(long)","_rev":"1-aa"},{"_id":"b","_rev":"1-aa"}]}"#)
        let rows = try #require(bulk.json as? [[String: Any]])
        #expect(bulk.status == 201 && rows.map { $0["error"] as? String } == ["forbidden"])
        #expect(try await test.ask("GET", "/db/b").status == 200)
        let alone = try await test.ask("PUT", "/db/\(long)?new_edits=false", #"{"_rev":"1-aa"}"#)
        #expect(alone.status == 403 && alone["error"] as? String == "forbidden")
        // Whoever edits is told what is wrong.
        #expect(try await test.ask("PUT", "/db/\(long)", "{}").status == 400)
    }

    /// PouchDB sends documents in the order in which they are said to be missing, and one may need what another one gives.
    @Test func whatIsMissingIsToldInTheOrderOfTheRequest() async throws {
        let test = try await router()
        let asked =
            #"{"room":["1-aa"],"b":["1-aa"],"a":["1-aa"],"e\u0301":["1-aa"],"é":["1-aa"],"b":["1-bb"]}"#
        let missing = { (id: String, revision: String) in "\"\(id)\":{\"missing\":[\"\(revision)\"]}" }
        let rows = [
            missing("room", "1-aa"), missing("b", "1-bb"), missing("a", "1-aa"), missing("e\u{301}", "1-aa"),
            missing("é", "1-aa"),
        ]
        let answer = try await test.ask("POST", "/db/_revs_diff", asked)
        #expect(answer.text.utf8.elementsEqual("{\(rows.joined(separator: ","))}\n".utf8), "\(answer.text)")
    }

    /// As CouchDB has it: parts for those who take them, unless they ask for JSON by name.
    @Test(arguments: [
        (nil, true), ("*/*", true), ("multipart/mixed", true), ("multipart/*", true),
        ("text/html, */*;q=0.8", true),
        ("application/json", false), ("multipart/mixed, application/json", false), ("text/html", false),
        ("multipart/related", false),
    ])
    func openRevisionsComeInPartsWhereTheyAreTaken(accept: String?, inParts: Bool) async throws {
        let test = try await router()
        _ = try await test.put("/db/a", #"{"n":1}"#)
        var headers = HTTPHeaders()
        headers["Accept"] = accept
        let answer = try await test.ask("GET", "/db/a?open_revs=all", headers: headers)
        let type = inParts ? "multipart/mixed" : "application/json"
        #expect(answer.headers["Content-Type"]?.hasPrefix(type) == true, "\(answer.text)")
    }

    @Test func batchesAreAcceptedWithoutARevision() async throws {
        let test = try await router()
        let put = try await test.ask("PUT", "/db/a?batch=ok", "{}")
        #expect(put.status == 202 && put.text == #"{"ok":true,"id":"a"}"# + "\n")
        let posted = try await test.ask("POST", "/db?batch=ok", #"{"_id":"b"}"#)
        #expect(posted.status == 202 && posted.text == #"{"ok":true,"id":"b"}"# + "\n")
        #expect(try await test.ask("GET", "/db/b").status == 200)
        // Only documents are saved in batches.
        let attached = try await test.ask(
            "PUT", "/db/c/t?batch=ok", "text", headers: ["Content-Type": "text/plain"])
        #expect(attached.status == 201 && attached["rev"] != nil)
    }
}
