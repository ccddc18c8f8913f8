import Foundation
import RoostBLIP
import RoostBytes
import RoostCrypto
import RoostREST
import RoostServer
import RoostWire
import Testing

/// Couchbase Lite's protocol, version 3, over a real socket.
@Suite struct CouchbaseLiteTests {
    private let one = "1-" + String(repeating: "a1", count: 20)
    private let two = "2-" + String(repeating: "b2", count: 20)
    private let three = "3-" + String(repeating: "c3", count: 20)

    // MARK: Collections and checkpoints

    @Test func collectionsAreFoundByTheirPaths() async throws {
        let test = try await TestServer()
        try await test.ask("PUT", "/db.work.notes")
        let client = try await CouchbaseClient(test.server.port)
        await client.run()
        // The collection's own security object is for administrators only.
        #expect(try await client.begin(["_default", "work.notes", "work.none", ""]) == "[{},null,null,null]")
        try await test.ask("PUT", "/db.work.notes/_security", "{}")
        let other = try await CouchbaseClient.connected(
            test.server.port, collections: ["_default", "work.notes"])
        try await other.ask(
            "rev", [("id", "n"), ("rev", one), ("sequence", "1")], "{\"a\":1}", collection: "1")
        #expect(try await test.ask("GET", "/db.work.notes/n").text.contains("\"a\":1"))
        #expect(try await test.ask("GET", "/db/n").status == 404)
        await #expect(throws: CouchbaseClient.Failure.self) {
            try await other.ask("getCheckpoint", [("client", "c")], collection: nil)
        }
        await #expect(throws: CouchbaseClient.Failure.self) {
            try await other.ask("getCheckpoint", [("client", "c")], collection: "2")
        }
        for client in [client, other] { await client.disconnect() }
        await test.server.stop()
    }

    @Test func checkpointsAreKeptWithTheirRevisions() async throws {
        let test = try await TestServer()
        let client = try await CouchbaseClient(test.server.port)
        await client.run()
        let name = [("client", "cp-x/y=")]
        await #expect(throws: CouchbaseClient.Failure(domain: "HTTP", code: 404, reason: "missing")) {
            try await client.ask("getCheckpoint", name, collection: nil)
        }
        let first = try await client.ask(
            "setCheckpoint", name + [("rev", "")], "{\"local\":7,\"remote\":\"5-x\"}", collection: nil)
        #expect(first.properties["rev"] == "1-cc")
        do {
            try await client.ask("setCheckpoint", name + [("rev", "")], "{}", collection: nil)
            Issue.record("A checkpoint was overwritten.")
        } catch let failure as CouchbaseClient.Failure { #expect(failure.code == 409) }
        let read = try await client.ask("getCheckpoint", name, collection: nil)
        #expect(read.properties["rev"] == "1-cc")
        #expect(String(decoding: read.body, as: UTF8.self) == "{\"local\":7,\"remote\":\"5-x\"}")
        await client.disconnect()
        // They come with the collections, too.
        let other = try await CouchbaseClient(test.server.port)
        await other.run()
        let reply = try await other.ask(
            "getCollections", [], "{\"checkpoint_ids\":[\"cp-x/y=\"],\"collections\":[\"_default\"]}",
            collection: nil)
        #expect(
            String(decoding: reply.body, as: UTF8.self)
                == "[{\"local\":7,\"remote\":\"5-x\",\"rev\":\"1-cc\"}]")
        await other.disconnect()
        await test.server.stop()
    }

    // MARK: Pushing

    @Test func whatIsPushedIsThere() async throws {
        let test = try await TestServer()
        let client = try await CouchbaseClient.connected(test.server.port)
        #expect(try await client.propose("doc", one) == "[]")
        try await client.push("doc", one, "{\"n\":1,\"_odd\":true}")
        #expect(try await client.propose("doc", one) == "[304]")
        #expect(try await client.propose("doc", two, on: one) == "[]")
        try await client.push("doc", two, "{\"n\":2}", history: [one])
        let found = json(try await test.ask("GET", "/db/doc?revs=true").text)
        #expect(found["_rev"] as? String == two && found["n"] as? Int == 2 && found["_odd"] == nil)
        #expect((found["_revisions"] as? [String: Any])?["start"] as? Int == 2)
        // Something else is there than what it is an edit of.
        let wrong = "2-" + String(repeating: "d4", count: 20)
        #expect(try await client.propose("doc", wrong, on: one) == "[{\"status\":409,\"rev\":\"\(two)\"}]")
        await #expect(
            throws: CouchbaseClient.Failure(domain: "HTTP", code: 409, reason: "Document update conflict.")
        ) { try await client.push("doc", wrong, history: [one]) }
        #expect(json(try await test.ask("GET", "/db/doc").text)["_rev"] as? String == two)
        // A tombstone gives the name free.
        try await client.push("doc", three, history: [two, one], isDeleted: true)
        #expect(try await test.ask("GET", "/db/doc").status == 404)
        #expect(try await client.propose("doc", wrong) == "[]")
        try await client.push("doc", "1-" + String(repeating: "e5", count: 20), "{\"again\":true}")
        #expect(try await test.ask("GET", "/db/doc").text.contains("\"again\":true"))
        await client.disconnect()
        await test.server.stop()
    }

    /// Clients drop the middle of long histories.
    @Test func gapsInHistoriesAreFilled() async throws {
        let test = try await TestServer()
        let client = try await CouchbaseClient.connected(test.server.port)
        try await client.push("doc", one)
        let late = "30-" + String(repeating: "0f", count: 20)
        for _ in 0..<2 { try await client.push("doc", late, "{\"n\":30}", history: [one]) }
        let found = json(try await test.ask("GET", "/db/doc?revs=true&conflicts=true").text)
        let ids = (found["_revisions"] as? [String: Any])?["ids"] as? [String] ?? []
        #expect(ids.count == 30 && "1-\(ids.last ?? "")" == one && found["_conflicts"] == nil)
        await client.disconnect()
        await test.server.stop()
    }

    @Test func whatIsWrongIsRefused() async throws {
        let test = try await TestServer()
        let client = try await CouchbaseClient.connected(test.server.port)
        for (id, revision) in [
            ("_local/x", one), ("_design/x", one), ("", one), ("x", "1-A"), ("x", "1@abc"), ("x", "1-abc"),
        ] {
            await #expect(throws: CouchbaseClient.Failure.self, "\(id) \(revision)") {
                try await client.push(id, revision)
            }
        }
        for body in ["[]", "{", "{\"a\":1"] {
            await #expect(throws: CouchbaseClient.Failure.self) { try await client.push("x", one, body) }
        }
        for (profile, code) in [("changes", 409), ("function", 404)] {
            do {
                try await client.ask(profile, [], "[]")
                Issue.record("\(profile) was answered.")
            } catch let failure as CouchbaseClient.Failure { #expect(failure.code == code) }
        }
        #expect(try await test.ask("GET", "/db/_all_docs").text.contains("\"total_rows\":0"))
        await client.disconnect()
        await test.server.stop()
    }

    // MARK: Pulling

    @Test func whatIsThereIsPulled() async throws {
        let test = try await TestServer()
        for index in 0..<450 { try await test.ask("PUT", "/db/d\(index)", "{\"n\":\(index)}") }
        let gone = json(try await test.ask("PUT", "/db/gone", "{}").text)["rev"] as? String ?? ""
        try await test.ask("DELETE", "/db/gone?rev=\(gone)")
        try await test.ask("PUT", "/db/_design/d", "{}")
        try await test.ask("PUT", "/db/\(String(repeating: "x", count: 241))", "{}")
        let client = try await CouchbaseClient.connected(test.server.port)
        try await client.pull()
        let documents = await client.documents
        #expect(documents.count == 451)
        #expect(documents["d7"]?.body == "{\"n\":7}")
        #expect(documents["gone"]?.isDeleted == true && documents["gone"]?.history == [gone])
        #expect(await client.lists.count == 3)
        // From there on.
        try await test.ask("PUT", "/db/later", "{}")
        try await client.pull()
        #expect(await client.lists.count == 4)
        #expect(await client.documents.count == 452)
        await client.disconnect()
        let active = try await CouchbaseClient.connected(test.server.port)
        try await active.pull([("activeOnly", "true")], "{\"docIDs\":[\"gone\",\"d1\",\"none\"]}")
        #expect(await active.documents.keys.sorted() == ["d1"])
        await active.disconnect()
        await test.server.stop()
    }

    @Test func changesGoOnAsTheyHappen() async throws {
        let test = try await TestServer()
        let client = try await CouchbaseClient.connected(test.server.port)
        try await client.subscribe([("continuous", "true")])
        try await client.wait { $0.timesCaughtUp > 0 }
        for index in 0..<3 {
            try await test.ask("PUT", "/db/d\(index)", "{}")
            try await client.wait { $0.documents["d\(index)"] != nil }
        }
        try await client.push("own", one)
        try await client.wait { $0.lists.last?.contains("\"own\"") == true }
        await #expect(throws: CouchbaseClient.Failure.self) { try await client.subscribe() }
        await client.disconnect()
        await test.server.stop()
    }

    /// Revisions that CouchDB's clients named have names there that Couchbase Lite takes, and are known by them.
    @Test func oddRevisionsHaveNames() async throws {
        let test = try await TestServer()
        try await test.ask(
            "POST", "/db/_bulk_docs", "{\"new_edits\":false,\"docs\":[{\"_id\":\"doc\",\"_rev\":\"1-a\"}]}")
        let client = try await CouchbaseClient.connected(test.server.port)
        try await client.pull()
        let revision = await client.documents["doc"]?.revision ?? ""
        #expect(revision.hasPrefix("1-") && revision.count == 42)
        #expect(try await client.propose("doc", two, on: revision) == "[]")
        try await client.push("doc", two, history: [revision])
        let found = json(try await test.ask("GET", "/db/doc?revs=true&conflicts=true").text)
        #expect(
            (found["_revisions"] as? [String: Any])?["ids"] as? [String] == [String(two.dropFirst(2)), "a"])
        #expect(found["_conflicts"] == nil)
        await client.disconnect()
        await test.server.stop()
    }

    // MARK: Blobs

    @Test func blobsGoBothWays() async throws {
        let test = try await TestServer()
        let client = try await CouchbaseClient.connected(test.server.port)
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        let digest = await client.add(content)
        let blob =
            "{\"@type\":\"blob\",\"content_type\":\"image/png\",\"digest\":\"\(digest)\",\"length\":300000}"
        try await client.push("doc", one, "{\"deep\":[{\"pic\":\(blob)}]}")
        #expect(await client.asked == ["content"])
        // What is there is not asked for again.
        try await client.push("other", one, "{\"pic\":\(blob)}")
        #expect(await client.asked == ["content"])
        // An attachment of CouchDB's beside a blob.
        let attachment = Base64.encode(Array("attached".utf8))
        try await test.ask(
            "PUT", "/db/couch", "{\"pic\":\(blob),\"_attachments\":{\"a.txt\":{\"data\":\"\(attachment)\"}}}")
        let second = try await CouchbaseClient.connected(test.server.port)
        try await second.pull()
        #expect(await second.blobs[digest] == content)
        let small = "sha1-" + Base64.encode(SHA1.hash(Array("attached".utf8)).bytes)
        #expect(await second.blobs[small] == Array("attached".utf8))
        #expect(await second.documents["couch"]?.body.contains("\"a.txt\":{") == true)
        // Back with another property and the same stubs.
        let couch = try #require(await second.documents["couch"])
        let edited = couch.body.replacingOccurrences(
            of: "{\"_attachments\"", with: "{\"n\":1,\"_attachments\"")
        try await second.push("couch", two, edited, history: [couch.revision])
        let found = try await test.ask("GET", "/db/couch").text
        #expect(found.contains("\"n\":1") && found.contains("\"a.txt\":{") && !found.contains("blob_/"))
        #expect(try await test.ask("GET", "/db/couch/a.txt").text == "attached")
        // Nothing is shown by its digest alone.
        await #expect(throws: CouchbaseClient.Failure.self) {
            try await second.ask("getAttachment", [("digest", digest), ("docID", "none")])
        }
        // Content that nobody has, and content that is another.
        let other = await client.add([1, 2, 3])
        await client.replace(other, with: [4])
        for digest in [other, "sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA="] {
            await #expect(throws: CouchbaseClient.Failure.self) {
                try await client.push(
                    "bad", one, "{\"x\":{\"@type\":\"blob\",\"digest\":\"\(digest)\",\"length\":3}}")
            }
        }
        #expect(try await test.ask("GET", "/db/bad").status == 404)
        for client in [client, second] { await client.disconnect() }
        await test.server.stop()
    }
}
