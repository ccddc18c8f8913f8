import Foundation
import Roost
import RoostREST
import RoostServer
import RoostWire
import Synchronization
import TestCertificates
import Testing

@testable import RoostSync

/// Replication over Couchbase Lite's protocol with a server of this package, over sockets.
///
/// By libcurl alone: Foundation's URLSession on Linux opens WebSockets only with a libcurl that has them, which most have not.
@Suite struct CouchbaseTests {
    private let peers: Peers
    private let notes: DocumentCollection
    private let router: Router
    private let server: HTTPServer
    private let url: URL
    private let anna = RemoteDatabase.Credentials.basic(name: "anna", password: "pass word")

    init() async throws {
        peers = try Peers()
        notes = try peers.open("here").defaultCollection
        var options = RouterOptions()
        options.admins = ["anna": "pass word"]
        options.passwordRounds = 2
        router = Router(try DatabaseDirectory(peers.directory + "/served"), options: options)
        var serverOptions = ServerOptions()
        serverOptions.port = 0
        serverOptions.stopSeconds = 1
        server = try HTTPServer(router, options: serverOptions)
        url = try #require(URL(string: server.url.replacing("http://", with: "ws://") + "/notes"))
        let created = await router.respond(to: .json("PUT", "/notes", "{}"), as: .admin)
        try #require(created.status == 201)
    }

    private func remote(_ credentials: RemoteDatabase.Credentials? = nil) throws -> RemoteDatabase {
        try .couchbase(url, credentials: credentials ?? anna)
    }

    private func served(_ name: String = "copy") async throws -> DocumentCollection {
        let copy = try peers.open(name).defaultCollection
        let status = try await copy.replicate(with: remote(), ReplicationOptions(.pull)).finished
        #expect(status.problems.isEmpty)
        return copy
    }

    @Test func everythingGoesThereAndComesBack() async throws {
        try notes.put("edited", #"{"n":1}"#)
        try notes.put("edited", #"{"n":2,"text":"ä\u0000ö"}"#)
        try notes.put("deleted")
        try notes.remove("deleted")
        try notes.insert("named", ["2-abc", "1-x"], json: #"{"by":"CouchDB"}"#)
        try notes.put("_design/x", #"{"language":"other"}"#)
        for name in ["strange/name ?&+%ü", "..", "a/../b"] { try notes.put(name) }
        for n in 0..<500 { try notes.put("many \(n)", #"{"n":\#(n)}"#) }
        let status = try await notes.replicate(with: remote(), ReplicationOptions(.push)).finished
        #expect(status.problems.isEmpty)
        #expect(status.pushed.written == 506)
        let copy = try await served()
        // Couchbase Lite's names of revisions have hexadecimal digits, and design documents are none of its documents.
        let expected = try notes.replicated().filter { !$0.hasPrefix("_design") && !$0.hasPrefix("named") }
        #expect(try copy.replicated().filter { !$0.hasPrefix("named") } == expected)
        #expect(try copy.find("named")?["by"].string == "CouchDB")
        // Nothing goes twice, either way.
        let again = try await notes.replicate(with: remote(), ReplicationOptions(.both)).finished
        #expect(again.problems.isEmpty && again.pushed.written == 0 && again.pulled.written == 0)
        let known = try await copy.replicate(with: remote(), ReplicationOptions(.pull)).finished
        #expect(known.pulled.checked == 0)
        await server.stop()
    }

    /// More than any buffer on the way holds, both ways.
    @Test func blobsAndAttachmentsGoAsStreams() async throws {
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
        let blob = try notes.database.blob(bytes, type: "image/png")
        var draft = MutableDocument(id: "a")
        draft.properties["photo"] = blob.value
        draft.attachments["notes.txt"] = Attachment(
            try notes.database.blob(Array("text".utf8), type: "text/plain"))
        draft.attachments["empty"] = Attachment(try notes.database.blob([], type: nil))
        try notes.put(draft)
        let status = try await notes.replicate(with: remote(), ReplicationOptions(.push)).finished
        #expect(status.problems.isEmpty && status.pushed.written == 1)
        let copy = try peers.open("copy").defaultCollection
        let pulled = try await copy.replicate(with: remote(), ReplicationOptions(.pull)).finished
        #expect(pulled.problems.isEmpty && pulled.pulled.written == 1)
        #expect(try copy.replicated() == notes.replicated())
        let copied = try #require(try copy.find("a"))
        let found = try #require(Blob(copied["photo"]))
        #expect(try copy.database.blobReader(found)?.readAll() == bytes)
        let text = try #require(try copy.find("a")?.attachments["notes.txt"])
        #expect(try copy.database.blobReader(text)?.readAll() == Array("text".utf8))
        await server.stop()
    }

    @Test func collectionsGoToTheirNamesakes() async throws {
        let here = try peers.open("here2")
        let tasks = try here.collection("tasks", scope: "work")
        try tasks.put("t")
        let options = ReplicationOptions(.push) { $0.retry.attempts = 1 }
        await #expect(throws: RemoteError.self) {
            try await tasks.replicate(with: remote(), options).finished
        }
        _ = await router.respond(to: .json("PUT", "/notes.work.tasks", "{}"), as: .admin)
        _ = try await tasks.replicate(with: remote(), options).finished
        #expect(await router.respond(to: .get("/notes.work.tasks/t"), as: .admin).status == 200)
        #expect(await router.respond(to: .get("/notes/t"), as: .admin).status == 404)
        await server.stop()
    }

    @Test func whatIsInConflictIsToldUntilItIsResolved() async throws {
        let other = try peers.open("other").defaultCollection
        try notes.put("a", #"{"n":1}"#)
        _ = try await notes.replicate(with: remote(), ReplicationOptions(.push)).finished
        _ = try await other.replicate(with: remote(), ReplicationOptions(.pull)).finished
        try notes.put("a", #"{"n":2}"#)
        try other.put("a", #"{"n":3}"#)
        try other.put("a", #"{"n":4}"#)
        _ = try await notes.replicate(with: remote(), ReplicationOptions(.push)).finished
        // Its own edit wins by the longer history, and the server has another.
        let status = try await other.replicate(with: remote(), ReplicationOptions(.both)).finished
        #expect(status.problems.map(\.document) == ["a"])
        #expect((status.problems.first?.cause as? RemoteError)?.status == 409)
        #expect(try other.find("a")?["n"].int == 4)
        #expect(try other.snapshot().conflicts(of: "a").count == 1)
        // It is not forgotten.
        let again = try await other.replicate(with: remote(), ReplicationOptions(.both)).finished
        #expect(again.problems.count == 1)
        try await other.database.write { batch in _ = try batch.resolve("a", in: other) }
        let resolved = try await other.replicate(with: remote(), ReplicationOptions(.both)).finished
        #expect(resolved.problems.isEmpty)
        _ = try await notes.replicate(with: remote(), ReplicationOptions(.pull)).finished
        #expect(try notes.find("a")?["n"].int == 4)
        #expect(try notes.snapshot().conflicts(of: "a").isEmpty)
        #expect(try notes.find("a")?.revision == other.find("a")?.revision)
        await server.stop()
    }

    @Test func resolversSettleConflicts() async throws {
        let other = try peers.open("other").defaultCollection
        for id in ["a", "b", "c"] { try notes.put(id, #"{"n":1}"#) }
        _ = try await notes.replicate(with: remote(), ReplicationOptions(.push)).finished
        _ = try await other.replicate(with: remote(), ReplicationOptions(.pull)).finished
        for id in ["a", "b", "c"] {
            try notes.put(id, #"{"n":2}"#)
            try other.put(id, #"{"n":3}"#)
        }
        try other.remove("c")
        _ = try await notes.replicate(with: remote(), ReplicationOptions(.push)).finished
        let resolver = ConflictResolver { leaves in
            let sum = leaves.compactMap { $0["n"].int }.reduce(0, +)
            return .merge(into: leaves[0].revision, json: #"{"sum":\#(sum)}"#)
        }
        let status = try await other.replicate(
            with: remote(), ReplicationOptions(.both) { $0.resolver = resolver }
        ).finished
        #expect(status.problems.isEmpty)
        _ = try await notes.replicate(with: remote(), ReplicationOptions(.pull)).finished
        for id in ["a", "b", "c"] {
            // An edit wins over a deletion, as everywhere.
            #expect(try notes.find(id)?[id == "c" ? "n" : "sum"].int == (id == "c" ? 2 : 5))
            #expect(try notes.find(id)?.revision == other.find(id)?.revision)
            #expect(try notes.snapshot().conflicts(of: id).isEmpty)
        }
        await server.stop()
    }

    @Test func continuousReplicationGoesOn() async throws {
        let other = try peers.open("other").defaultCollection
        let both = ReplicationOptions(.both, continuous: true)
        let first = notes.replicate(with: try remote(), both)
        let second = other.replicate(with: try remote(), both)
        try notes.put("a")
        try await other.waitFor("a")
        try other.put("b")
        try await notes.waitFor("b")
        try notes.put("c")
        try await other.waitFor("c")
        await first.stop()
        await second.stop()
        #expect(try notes.replicated() == other.replicated())
        await server.stop()
    }

    @Test func whoCannotProveWhoTheyAreAreRefused() async throws {
        try notes.put("a")
        for credentials in [RemoteDatabase.Credentials.none, .basic(name: "anna", password: "wrong")] {
            do {
                _ = try await notes.replicate(with: remote(credentials), ReplicationOptions(.push))
                    .finished
                Issue.record("A stranger was let in.")
            } catch let error as RemoteError {
                #expect([401, 403].contains(error.status))
            }
        }
        let status = try await notes.replicate(
            with: remote(.session(name: "anna", password: "pass word")), ReplicationOptions(.push)
        ).finished
        #expect(status.pushed.written == 1)
        await server.stop()
    }

    @Test func onlyWhatIsSelectedGoes() async throws {
        for id in ["a", "b", "c"] { try notes.put(id, #"{"kind":"\#(id)"}"#) }
        let options = ReplicationOptions(.push) { $0.selection.documentIDs = ["a", "b"] }
        let pushed = try await notes.replicate(with: remote(), options).finished
        #expect(pushed.pushed.written == 2)
        let copy = try peers.open("copy").defaultCollection
        var filtered = ReplicationOptions(.pull)
        filtered.selection.filter = ReplicationFilter("kind", version: "1") { $0["kind"].string == "b" }
        let pulled = try await copy.replicate(with: remote(), filtered).finished
        #expect(pulled.problems.isEmpty && pulled.pulled.written == 1)
        #expect(try copy.find("a") == nil && copy.find("b") != nil)
        let one = try peers.open("one").defaultCollection
        _ = try await one.replicate(
            with: remote(), ReplicationOptions(.pull) { $0.selection.documentIDs = ["a"] }
        ).finished
        #expect(try one.find("a") != nil && one.find("b") == nil)
        var strange = ReplicationOptions(.pull)
        strange.selection.serverFilter = .selector("{}")
        await #expect(throws: DatabaseError.self) {
            try await one.replicate(with: remote(), strange).finished
        }
        await server.stop()
    }

    /// A user of channels gets what that user may see, and the sync function's reason for what it refuses.
    @Test func usersHaveTheirChannels() async throws {
        var hooks = Hooks()
        hooks.sync = SyncFunction { document, _, sync in
            if document["kind"].string == "secret" { throw ValidationFailure.forbidden("No secrets here.") }
            sync.channel(document["channels"].array?.compactMap(\.string) ?? [])
        }
        var options = RouterOptions()
        options.passwordRounds = 2
        let router = Router(
            try DatabaseDirectory(peers.directory + "/limited"), options: options, hooks: hooks)
        var serverOptions = ServerOptions()
        serverOptions.port = 0
        serverOptions.stopSeconds = 1
        let limited = try HTTPServer(router, options: serverOptions)
        for (path, body) in [
            ("/notes", "{}"), ("/notes/_security", "{}"),
            ("/_users/org.couchdb.user:ann", #"{"name":"ann","password":"pw","roles":[],"type":"user"}"#),
            ("/notes/a", #"{"channels":["user:ann","news"]}"#), ("/notes/b", #"{"channels":["user:bob"]}"#),
            ("/notes/c", #"{"channels":["user:ann"]}"#),
        ] {
            let answer = await router.respond(to: .json("PUT", path, body), as: .admin)
            try #require((200..<300).contains(answer.status))
        }
        let url = try #require(URL(string: limited.url.replacing("http://", with: "ws://") + "/notes"))
        let remote = try RemoteDatabase.couchbase(url, credentials: .session(name: "ann", password: "pw"))
        let some = try peers.open("some").defaultCollection
        var channels = ReplicationOptions(.pull)
        channels.selection.serverFilter = .named(
            "sync_gateway/bychannel", parameters: ["channels": "news"])
        #expect(try await some.replicate(with: remote, channels).finished.pulled.written == 1)
        #expect(try some.find("a") != nil && some.find("c") == nil)
        let pulled = try await notes.replicate(with: remote, ReplicationOptions(.pull)).finished
        #expect(pulled.problems.isEmpty && pulled.pulled.written == 2)
        #expect(try notes.find("a") != nil && notes.find("b") == nil && notes.find("c") != nil)
        try notes.put("secret", #"{"kind":"secret"}"#)
        try notes.put("mine", #"{"channels":["user:ann"]}"#)
        // The name of a document that is hidden is taken.
        try notes.put("b", #"{"channels":["user:ann"]}"#)
        let pushed = try await notes.replicate(with: remote, ReplicationOptions(.both)).finished
        #expect(pushed.pushed.written == 1)
        #expect(Set(pushed.problems.map(\.document)) == ["b", "secret"])
        #expect(pushed.problems.contains { $0.description.contains("No secrets here.") })
        #expect(await router.respond(to: .get("/notes/mine"), as: .admin).status == 200)
        await limited.stop()
        await server.stop()
    }

    @Test(.enabled(if: TLSIdentity.isAvailable)) func itGoesOverTLS() async throws {
        let certificates = try TestCertificates()
        let pair = try certificates.issue()
        var serverOptions = ServerOptions()
        serverOptions.port = 0
        serverOptions.stopSeconds = 1
        serverOptions.identity = try TLSIdentity(certificateFile: pair.certificate, keyFile: pair.key)
        let secure = try HTTPServer(router, options: serverOptions)
        let url = try #require(URL(string: secure.url.replacing("https://", with: "wss://") + "/notes"))
        var draft = MutableDocument(id: "a")
        draft.properties["photo"] = try notes.database.blob([UInt8](repeating: 7, count: 900_000)).value
        try notes.put(draft)
        let options = ReplicationOptions(.push) { $0.retry.attempts = 1 }
        await #expect(throws: TransportError.self) {
            try await notes.replicate(with: .couchbase(url, credentials: anna), options).finished
        }
        var http = HTTPOptions()
        http.certificates = try String(contentsOfFile: certificates.authority.certificate, encoding: .utf8)
        let status = try await notes.replicate(
            with: .couchbase(url, credentials: anna, options: http), options
        ).finished
        #expect(status.problems.isEmpty && status.pushed.written == 1)
        #expect(try await served().replicated() == notes.replicated())
        await secure.stop()
        await server.stop()
    }

    @Test func otherServersAreToldFromIt() async throws {
        let web = try ScriptedServer { _ in .json(404, #"{"error":"not_found","reason":"missing"}"#) }
        let port = web.port
        let options = ReplicationOptions(.push) { $0.retry.attempts = 1 }
        let url = try #require(URL(string: "ws://127.0.0.1:\(port)/db"))
        await #expect(throws: RemoteError.self) {
            try await notes.replicate(with: .couchbase(url), options).finished
        }
        let file = try #require(URL(string: "ftp://x/db"))
        let mute = try ScriptedServer { _ in
            .text("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        }
        let other = try #require(URL(string: "ws://127.0.0.1:\(mute.port)/db"))
        do {
            _ = try await notes.replicate(with: .couchbase(other), options).finished
        } catch let error as TransportError { #expect(error.code == .malformed) }
        #expect(throws: TransportError.self) {
            try RemoteDatabase.couchbase(file)
        }
        await #expect(throws: TransportError.self) { try await RemoteDatabase.couchbase(url).create() }
        #expect(throws: TransportError.self) {
            try RemoteDatabase.couchbase(url).replicate(with: .couchbase(url))
        }
        await server.stop()
    }
}
