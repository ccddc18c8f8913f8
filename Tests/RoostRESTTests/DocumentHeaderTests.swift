import RoostREST
import RoostWire
import Testing

/// Tags, conditional requests, HEAD, COPY, and what stands in the fields of answers.
@Suite struct DocumentHeaderTests {
    @Test func tagsAndConditionalRequests() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let revision = try await test.put("/db/a", #"{"n":1}"#)
        let answer = try await test.ask("GET", "/db/a")
        #expect(
            answer.headers["ETag"] == "\"\(revision)\""
                && answer.headers["Cache-Control"] == "must-revalidate")
        #expect(answer.headers["Server"]?.hasPrefix("Couchbase") == false)
        let same = try await test.ask("GET", "/db/a", headers: ["If-None-Match": "\"\(revision)\""])
        #expect(same.status == 304 && same.text.isEmpty)
        #expect(try await test.ask("GET", "/db/a?revs=true").headers["ETag"] == nil)
        let edited = try await test.ask("PUT", "/db/a", #"{"n":2}"#, headers: ["If-Match": "\"\(revision)\""])
        let second = try #require(edited["rev"] as? String)
        #expect(edited.status == 201 && edited.headers["ETag"] == "\"\(second)\"")
        #expect(edited.headers["Location"]?.hasSuffix("/db/a") == true)
        let deleted = try await test.ask(
            "DELETE", "/db/a", headers: ["If-Match": second])
        #expect(deleted.status == 200)
        let list = try await test.ask("GET", "/_all_dbs")
        let tag = try #require(list.headers["ETag"])
        #expect(try await test.ask("GET", "/_all_dbs", headers: ["If-None-Match": tag]).status == 304)
        try await test.ask("PUT", "/other")
        #expect(try await test.ask("GET", "/_all_dbs", headers: ["If-None-Match": tag]).status == 200)
    }

    @Test func headsTellTheLengthOfWhatTheyLeaveOut() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        _ = try await test.put("/db/a", #"{"n":1}"#)
        let whole = try await test.ask("GET", "/db/a")
        let head = await test.router.respond(to: HTTPRequest("HEAD", "/db/a"), as: .admin)
        guard case .stream(_, let length?) = head.body else {
            Issue.record("no length")
            return
        }
        #expect(length == UInt64(whole.text.utf8.count))
        #expect(try await head.bytes().isEmpty && head.status == 200)
        let overridden = try await test.ask("POST", "/db/a", headers: ["X-HTTP-Method-Override": "GET"])
        #expect(overridden.text == whole.text)
    }

    @Test func copies() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let revision = try await test.put(
            "/db/a", #"{"n":1,"_attachments":{"f":{"data":"aGVsbG8=","content_type":"text/plain"}}}"#)
        let copied = try await test.ask("COPY", "/db/a", headers: ["Destination": "b%2Fc"])
        #expect(copied.status == 201 && copied["id"] as? String == "b/c")
        #expect(try await test.ask("GET", "/db/b%2Fc/f").text == "hello")
        #expect(try await test.ask("COPY", "/db/a", headers: ["Destination": "b%2Fc"]).status == 409)
        let rev = try #require(copied["rev"] as? String)
        #expect(
            try await test.ask("COPY", "/db/a", headers: ["Destination": "b%2Fc?rev=\(rev)"]).status == 201)
        #expect(
            try await test.ask("COPY", "/db/a?rev=\(revision)", headers: ["Destination": "d"]).status == 201)
        #expect(try await test.ask("COPY", "/db/a").status == 400)
        #expect(try await test.ask("COPY", "/db/none", headers: ["Destination": "e"]).status == 404)
    }

    @Test func requestIdentifiersAreEchoedWhenTheyAreHarmless() async throws {
        let test = try TestRouter()
        #expect(
            try await test.ask("GET", "/", headers: ["X-Couch-Request-ID": "a_B-9"]).headers[
                "X-Couch-Request-ID"]
                == "a_B-9")
        for odd in ["a b", String(repeating: "a", count: 37), "é"] {
            let answer = try await test.ask("GET", "/", headers: ["X-Couch-Request-ID": odd])
            #expect(answer.headers["X-Couch-Request-ID"]?.utf8.count == 10)
        }
    }
}
