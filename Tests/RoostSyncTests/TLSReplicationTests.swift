import Foundation
import Roost
import RoostREST
import RoostServer
import RoostWire
import Synchronization
import TestCertificates
import Testing

@testable import RoostSync

/// A database behind a server of this package that speaks TLS.
@Suite(.enabled(if: TLSIdentity.isAvailable)) struct TLSReplicationTests {
    private let peers: Peers
    private let notes: DocumentCollection
    private let router: Router
    private let certificates: TestCertificates
    private let anna = RemoteDatabase.Credentials.session(name: "anna", password: "pass word")

    init() async throws {
        certificates = try TestCertificates()
        peers = try Peers()
        notes = try peers.open("here").defaultCollection
        var options = RouterOptions()
        options.admins = ["anna": "pass word"]
        router = Router(try DatabaseDirectory(peers.directory + "/served"), options: options)
        let created = await router.respond(to: .json("PUT", "/notes", "{}"), as: .admin)
        try #require(created.status == 201)
    }

    private func serve(_ pair: TestCertificates.Pair?) throws -> HTTPServer {
        var options = ServerOptions()
        options.port = 0
        options.stopSeconds = 1
        options.identity = try pair.map {
            try TLSIdentity(certificateFile: $0.certificate, keyFile: $0.key)
        }
        return try HTTPServer(router, options: options)
    }

    private func trusting() throws -> HTTPOptions {
        var options = HTTPOptions()
        options.certificates = try String(contentsOfFile: certificates.authority.certificate, encoding: .utf8)
        return options
    }

    private func remote(_ server: HTTPServer, _ options: HTTPOptions) throws -> RemoteDatabase {
        let url = try #require(URL(string: server.url + "/notes"))
        return try RemoteDatabase(url, credentials: anna, options: options)
    }

    /// Pushes; answers the error, if there is one.
    private func failure(_ server: HTTPServer, _ options: HTTPOptions) async throws -> TransportError? {
        do {
            _ = try await notes.replicate(
                with: remote(server, options), ReplicationOptions(.push) { $0.retry.attempts = 1 }
            ).finished
            return nil
        } catch let error as TransportError {
            return error
        }
    }

    @Test func everythingGoesThereAndComesBack() async throws {
        let server = try serve(certificates.issue())
        try notes.put("edited", #"{"n":1}"#)
        try notes.insert("conflicted", ["2-aa", "1-aa"], json: #"{"by":"a"}"#)
        try notes.insert("conflicted", ["2-bb", "1-aa"], json: #"{"by":"b"}"#)
        var draft = MutableDocument(id: "attached")
        for (name, size) in [("large", 3_000_000), ("empty", 0)] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
            draft.attachments[name] = Attachment(try notes.database.blob(bytes, type: "image/png"))
        }
        try notes.put(draft)
        let status = try await notes.replicate(
            with: remote(server, trusting()), ReplicationOptions(.push)
        ).finished
        #expect(status.problems.isEmpty && status.pushed.written == 4)
        let copy = try peers.open("copy").defaultCollection
        let watching = copy.replicate(
            with: try remote(server, trusting()), ReplicationOptions(.pull) { $0.isContinuous = true })
        try await copy.waitFor("attached")
        let saved = await router.respond(to: .json("PUT", "/notes/later", "{}"), as: .admin)
        #expect(saved.status == 201)
        try await copy.waitFor("later")
        await watching.stop()
        let attachment = try #require(try copy.find("attached")?.attachments["large"])
        #expect(try copy.database.blobReader(attachment)?.readAll().count == 3_000_000)
        await server.stop()
    }

    @Test func whoCannotProveWhoTheyAreAreRefused() async throws {
        try notes.put("a")
        let good = try serve(certificates.issue())
        let unknown = try await failure(good, HTTPOptions())
        #expect(unknown?.code == .untrusted && unknown?.message.contains("127.0.0.1") == true)
        let strangers = try TestCertificates()
        var stranger = HTTPOptions()
        stranger.certificates = try String(contentsOfFile: strangers.authority.certificate, encoding: .utf8)
        #expect(try await failure(good, stranger)?.code == .untrusted)
        let other = try serve(certificates.issue("other", for: "DNS:other.example.org,IP:127.0.0.2"))
        let wrongName = try await failure(other, trusting())
        #expect(wrongName?.code == .untrusted && wrongName?.message.contains("name") == true)
        let expired = try serve(certificates.issue("expired", hasExpired: true))
        let tooLate = try await failure(expired, trusting())
        #expect(tooLate?.code == .untrusted && tooLate?.message.contains("expired") == true)
        #expect(await router.respond(to: .get("/notes/a"), as: .admin).status == 404)
        #expect(try await failure(good, trusting()) == nil)
        for server in [good, other, expired] { await server.stop() }
    }

    @Test(arguments: TestedClient.allCases)
    func nothingGoesToOneThatIsNotTrusted(client: TestedClient) async throws {
        try notes.put("a")
        let server = try serve(certificates.issue())
        let url = try #require(URL(string: server.url + "/notes"))
        var pinned = HTTPOptions()
        pinned.pinnedKeys = [try certificates.pin(of: certificates.issue("other"))]
        for options in [HTTPOptions(), pinned] {
            let remote = try client.remote(url, credentials: anna, options: options)
            await #expect(throws: TransportError.self) {
                try await notes.replicate(with: remote, ReplicationOptions(.push) { $0.retry.attempts = 1 })
                    .finished
            }
        }
        #expect(await router.respond(to: .get("/notes/a"), as: .admin).status == 404)
        await server.stop()
    }

    @Test func pinnedKeysDecideBesides() async throws {
        try notes.put("a")
        let pair = try certificates.issue()
        let server = try serve(pair)
        let wrong = try certificates.pin(of: certificates.issue("other"))
        let right = try certificates.pin(of: pair)
        var options = try trusting()
        options.pinnedKeys = [wrong]
        #expect(try await failure(server, options)?.code == .untrusted)
        #expect(await router.respond(to: .get("/notes/a"), as: .admin).status == 404)
        options.pinnedKeys = [wrong, right]
        #expect(try await failure(server, options) == nil)
        // The right key does not stand in for an authority.
        options.certificates = nil
        #expect(try await failure(server, options)?.code == .untrusted)
        // A certificate that is trusted by itself.
        let alone = try serve(certificates.signItself("alone"))
        var trusted = HTTPOptions()
        trusted.certificates = try String(contentsOfFile: certificates.path("alone.pem"), encoding: .utf8)
        #expect(try await failure(alone, trusted) == nil)
        for server in [server, alone] { await server.stop() }
    }

    @Test func oneThatSpeaksNoTLSIsToldApart() async throws {
        let plain = try serve(nil)
        let url = try #require(URL(string: plain.url.replacing("http:", with: "https:") + "/notes"))
        await #expect(throws: TransportError.self) {
            try await notes.replicate(
                with: RemoteDatabase(url, credentials: anna),
                ReplicationOptions(.push) { $0.retry.attempts = 1 }
            ).finished
        }
        let secure = try serve(certificates.issue())
        let other = try #require(URL(string: secure.url.replacing("https:", with: "http:") + "/notes"))
        await #expect(throws: TransportError.self) {
            try await notes.replicate(
                with: RemoteDatabase(other, credentials: anna),
                ReplicationOptions(.push) { $0.retry.attempts = 1 }
            ).finished
        }
        for server in [plain, secure] { await server.stop() }
    }

    /// The proxy passes on what it can't read.
    @Test func aProxyIsGoneThrough() async throws {
        let proxy = try ConnectProxy()
        let server = try serve(certificates.issue())
        try notes.put("a")
        var options = try trusting()
        options.proxy = "http://127.0.0.1:\(proxy.port)"
        #expect(try await failure(server, options) == nil)
        #expect(await router.respond(to: .get("/notes/a"), as: .admin).status == 200)
        #expect(proxy.heads.first?.hasPrefix("CONNECT 127.0.0.1:\(server.port) HTTP/1.1\r\n") == true)
        #expect(!proxy.heads.joined().contains("Authorization") && !proxy.heads.joined().contains("Cookie"))
        // Certificates are verified through it, too.
        options.certificates = nil
        #expect(try await failure(server, options)?.code == .untrusted)
        await server.stop()
    }
}
