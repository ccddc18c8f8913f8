import Fleece
import Foundation
import Roost
import RoostBytes
import RoostREST
import RoostServer
import RoostWire
import Testing

/// What users see and write by Couchbase Lite's protocol, where there are channels.
@Suite struct CouchbaseLiteAccessTests {
    private let one = "1-" + String(repeating: "a1", count: 20)

    /// A server whose sync function puts documents in the channels that they name, lets only owners write, and gives access.
    private static func channelServer(_ users: [String] = ["ann", "bob"]) async throws -> TestServer {
        var hooks = Hooks()
        hooks.sync = SyncFunction { document, _, sync in
            if document["kind"].string == "secret" { throw ValidationFailure.forbidden("No secrets here.") }
            sync.channel(document["channels"].array?.compactMap(\.string) ?? [])
            sync.access(
                document["readers"].array?.compactMap(\.string) ?? [],
                document["gives"].array?.compactMap(\.string) ?? [])
        }
        let server = try await TestServer(hooks: hooks)
        for user in users {
            try await server.ask(
                "PUT", "/_users/org.couchdb.user:\(user)",
                "{\"name\":\"\(user)\",\"password\":\"pw\",\"roles\":[],\"type\":\"user\"}")
        }
        return server
    }

    @Test func usersHaveTheirChannels() async throws {
        let test = try await Self.channelServer()
        try await test.ask("PUT", "/db/a", "{\"channels\":[\"user:ann\"]}")
        try await test.ask("PUT", "/db/b", "{\"channels\":[\"user:bob\"]}")
        try await test.ask("PUT", "/db/shared", "{\"channels\":[\"room\"]}")
        let grant = json(
            try await test.ask("PUT", "/db/grant", "{\"readers\":[\"ann\"],\"gives\":[\"room\"]}").text)
        let client = try await CouchbaseClient.connected(test.server.port, as: "ann:pw")
        try await client.subscribe([("continuous", "true"), ("revocations", "true")])
        try await client.wait { $0.documents.count == 2 }
        #expect(await client.documents.keys.sorted() == ["a", "shared"])
        // The sync function's reason is what the client shows.
        await #expect(throws: CouchbaseClient.Failure(domain: "HTTP", code: 403, reason: "No secrets here."))
        {
            try await client.push("s", one, "{\"kind\":\"secret\"}")
        }
        // A hidden document looks absent, and can't be replaced.
        #expect(try await client.propose("b", one) == "[]")
        await #expect(throws: CouchbaseClient.Failure.self) {
            try await client.push("b", one, "{\"channels\":[\"user:ann\"]}")
        }
        #expect(json(try await test.ask("GET", "/db/b").text)["_rev"] as? String != one)
        // It leaves the channel; then the channel is withdrawn.
        let a = json(try await test.ask("GET", "/db/a").text)["_rev"] as? String ?? ""
        try await test.ask("PUT", "/db/a?rev=\(a)", "{\"channels\":[]}")
        try await client.wait { $0.purged == ["a"] }
        try await test.ask("DELETE", "/db/grant?rev=\(grant["rev"] as? String ?? "")")
        try await client.wait { $0.purged == ["a", "shared"] }
        #expect(await client.documents.isEmpty)
        await client.disconnect()
        await test.server.stop()
    }

    /// Who knows a digest has no content by that: it has to be sent, or to be shown to be there.
    @Test func aDigestIsNoContent() async throws {
        let test = try await Self.channelServer()
        let bob = try await CouchbaseClient.connected(test.server.port, as: "bob:pw")
        let digest = await bob.add(Array("bob's".utf8))
        let body = { (user: String) in
            "{\"channels\":[\"user:\(user)\"],\"x\":{\"@type\":\"blob\",\"digest\":\"\(digest)\",\"length\":5}}"
        }
        try await bob.push("bobs", one, body("bob"))
        let ann = try await CouchbaseClient.connected(test.server.port, as: "ann:pw")
        await #expect(throws: CouchbaseClient.Failure.self) { try await ann.push("anns", one, body("ann")) }
        #expect(await ann.asked == ["proof", "content"])
        await #expect(throws: CouchbaseClient.Failure.self) {
            try await ann.ask("getAttachment", [("digest", digest), ("docID", "bobs")])
        }
        _ = await ann.add(Array("bob's".utf8))
        try await ann.push("anns", one, body("ann"))
        #expect(await ann.asked == ["proof", "content", "proof"])
        let read = try await ann.ask("getAttachment", [("digest", digest), ("docID", "anns")])
        #expect(read.body == Array("bob's".utf8))
        for client in [ann, bob] { await client.disconnect() }
        await test.server.stop()
    }

    @Test func channelsCanBeChosen() async throws {
        let test = try await Self.channelServer()
        for (id, channel) in [("a", "x"), ("b", "y")] {
            try await test.ask("PUT", "/db/\(id)", "{\"channels\":[\"\(channel)\"]}")
        }
        try await test.ask("PUT", "/db/grant", "{\"readers\":[\"ann\"],\"gives\":[\"x\",\"y\"]}")
        let filter = [("filter", "sync_gateway/bychannel"), ("channels", "x,z")]
        let client = try await CouchbaseClient.connected(test.server.port, as: "ann:pw")
        try await client.pull(filter)
        #expect(await client.documents.keys.sorted() == ["a"])
        let a = json(try await test.ask("GET", "/db/a").text)["_rev"] as? String ?? ""
        // Seen still, but not in what the subscription is to.
        try await test.ask("PUT", "/db/a?rev=\(a)", "{\"channels\":[\"y\"]}")
        try await client.pull(filter)
        #expect(await client.purged == ["a"])
        await client.disconnect()
        await test.server.stop()
    }

    @Test func accessIsAskedForAtTheDoor() async throws {
        let test = try await Self.channelServer()
        for (user, fields, status) in [
            (nil, "", "401"), ("ann:wrong", "", "401"), ("ann:pw", "Origin: https://evil.example\r\n", "403"),
        ] as [(String?, String, String)] {
            do {
                _ = try await CouchbaseClient(test.server.port, as: user, fields: fields)
                Issue.record("The client was let in.")
            } catch let error as WireError {
                #expect(error.description.hasPrefix("HTTP/1.1 \(status) "), "\(error)")
            }
        }
        #expect(try await test.ask("GET", "/db/_blipsync").status == 426)
        #expect(try await test.ask("GET", "/_users/_blipsync").status == 403)
        await test.server.stop()
    }

    @Test func withdrawnAccessEndsTheConnection() async throws {
        let test = try await Self.channelServer()
        let client = try await CouchbaseClient.connected(test.server.port, as: "ann:pw")
        try await client.subscribe([("continuous", "true")])
        try await test.ask("PUT", "/db/_security", "{\"members\":{\"names\":[\"bob\"]}}")
        #expect(await client.end()?.code == 1008)
        await test.server.stop()
    }
}
