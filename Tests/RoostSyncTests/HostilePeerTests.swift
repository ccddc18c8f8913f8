import Foundation
import Roost
import RoostWire
import Testing

@testable import RoostSync

/// Servers that lie, are broken or mean harm: each costs a bounded amount of memory and time, ends in an error that says what
/// is wrong, and harms nothing that is here.
@Suite struct HostilePeerTests {
    private let peers: Peers
    private let notes: DocumentCollection

    init() throws {
        peers = try Peers()
        notes = try peers.open("here").defaultCollection
        try notes.put("kept", #"{"n":1}"#)
    }

    /// What a sound server answers, but for what a test does in its place.
    private static func sound(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        switch (request.method, request.path) {
        case ("GET", "/"): .json(200, #"{"couchdb":"Welcome","uuid":"u"}"#)
        case ("GET", "/db"): .json(200, #"{"db_name":"db","instance_start_time":"1"}"#)
        case ("GET", "/db/_changes"):
            .json(
                200,
                #"{"results":[{"seq":1,"id":"bad","changes":[{"rev":"1-aa"}]},"#
                    + #"{"seq":2,"id":"good","changes":[{"rev":"1-bb"}]}],"last_seq":2,"pending":0}"#)
        case ("POST", "/db/_bulk_get"): .json(200, bulk(#"{"_id":"bad","_rev":"1-aa"}"#))
        case ("PUT", _): .json(201, #"{"ok":true,"id":"x","rev":"0-1"}"#)
        default: .json(404, #"{"error":"not_found","reason":"missing"}"#)
        }
    }

    private static func bulk(_ bad: String) -> String {
        #"{"results":[{"id":"bad","docs":[{"ok":\#(bad)}]},{"id":"good","docs":[{"ok":{"_id":"good","_rev":"1-bb"}}]}]}"#
    }

    private func server(
        _ path: String, _ answer: ScriptedServer.Answer
    ) throws -> ScriptedServer {
        try ScriptedServer { $0.path == path ? answer : Self.sound($0) }
    }

    private func pull(
        _ server: ScriptedServer, by client: TestedClient = .platform,
        _ change: (inout HTTPOptions) -> Void = { _ in }
    ) async throws -> ReplicationStatus {
        var http = HTTPOptions()
        change(&http)
        let remote = try client.remote(
            server.url(), credentials: .basic(name: "anna", password: "secret"), options: http)
        return try await notes.replicate(with: remote, ReplicationOptions(.pull) { $0.retry.attempts = 2 })
            .finished
    }

    private func failure(
        _ server: ScriptedServer, by client: TestedClient = .platform,
        _ change: (inout HTTPOptions) -> Void = { _ in }
    ) async throws -> any Error {
        do {
            _ = try await pull(server, by: client, change)
        } catch {
            #expect(!"\(error)".contains("secret"))
            #expect(try notes.snapshot().changes().map(\.id) == ["kept"])
            return error
        }
        throw CancellationError()
    }

    @Test(arguments: TestedClient.allCases)
    func theSoundOneIsSound(client: TestedClient) async throws {
        let status = try await pull(try ScriptedServer(Self.sound), by: client)
        #expect(status.problems.isEmpty && status.pulled.written == 2)
    }

    /// Each of these instead of its changes.
    @Test(arguments: [
        "<html><body>Please log in</body></html>", "", "[]", "{}", "null", #"{"results":1,"last_seq":1}"#,
        #"{"results":[{"id":1,"changes":[]}],"last_seq":1}"#, #"{"results":[{"id":"a"}],"last_seq":1}"#,
        #"{"results":[{"id":"a","changes":[{"rev":1}]}],"last_seq":1}"#,
        #"{"results":["#,
        "\u{0}", #"{"results":[],"results":[],"last_seq":}"#,
    ])
    func changesThatAreNone(text: String) async throws {
        let error = try await failure(try server("/db/_changes", .json(200, text)))
        #expect(error is RemoteError || error is DatabaseError, "\(error)")
    }

    @Test func depthWithoutEnd() async throws {
        let text = String(repeating: "[", count: 1_000_000)
        for path in ["/", "/db", "/db/_changes", "/db/_bulk_get"] {
            let error = try await failure(try server(path, .json(200, text)))
            #expect((error as? RemoteError)?.kind == "malformed_answer", "\(path): \(error)")
        }
    }

    /// By the platform's client alone, as Foundation on Linux takes what comes without end into memory.
    @Test func aBodyWithoutEnd() async throws {
        let piece = [UInt8](repeating: 0x20, count: 1 << 16)
        let endless = try server(
            "/db/_changes",
            .endless(head: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", piece: piece))
        let error = try await failure(endless)
        #expect((error as? RemoteError)?.status == 413, "\(error)")
        // What was taken, what was under way, twice.
        #expect(endless.endlessBytes < 3 * (64 << 20))
    }

    @Test func aHeadWithoutEnd() async throws {
        let endless = try server(
            "/db/_changes",
            .endless(head: "HTTP/1.1 200 OK\r\n", piece: Array("X-Field: something or other\r\n".utf8)))
        let error = try await failure(endless)
        #expect((error as? TransportError)?.code == .malformed, "\(error)")
    }

    /// By the platform's client alone: Foundation on Linux traps where an answer has no head.
    @Test(arguments: [
        "SSH-2.0-OpenSSH_9\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\n",
        "",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nzip!",
    ])
    func answersThatAreNone(text: String) async throws {
        let error = try await failure(try server("/db/_changes", .text(text)))
        #expect(error is TransportError || error is RemoteError, "\(error)")
    }

    @Test(arguments: TestedClient.allCases)
    func aServerThatSaysNothing(client: TestedClient) async throws {
        let silent = try server("/db/_changes", .endless(head: "", piece: []))
        let error = try await failure(silent, by: client) { $0.idleSeconds = 0.2 }
        #expect((error as? TransportError)?.code == .timedOut, "\(error)")
    }

    @Test(arguments: TestedClient.allCases)
    func aServerThatTakesForEver(client: TestedClient) async throws {
        let slow = try server(
            "/db/_changes", .endless(head: "HTTP/1.1 200 OK\r\n\r\n", piece: []))
        let error = try await failure(slow, by: client) { $0.requestSeconds = 0.2 }
        #expect((error as? TransportError)?.code == .timedOut, "\(error)")
    }

    /// Each of these instead of the document `bad`: told, and the other one comes.
    @Test(arguments: [
        #"{"_id":"bad","_rev":"1-cc"}"#, #"{"_id":"bad"}"#, "1", "null", "[]",
        #"{"_id":"bad","_rev":"1-aa","_revisions":{"start":7,"ids":["aa"]}}"#,
        #"{"_id":"bad","_rev":"1-aa","_revisions":{"start":1,"ids":["aa","bb","cc"]}}"#,
        #"{"_id":"bad","_rev":"1-aa","_revisions":{"start":"x","ids":[1]}}"#,
        #"{"_id":"bad","_rev":"1-aa","_attachments":{"x":{"stub":true,"length":5,"digest":"md5-AAAAAAAAAAAAAAAAAAAAAA==","revpos":1}}}"#,
        #"{"_id":"bad","_rev":"1-aa","_attachments":{"x":7}}"#,
        #"{"_id":"bad","_rev":"1-aa","_attachments":{"x":{"data":"%%%"}}}"#,
    ])
    func aWrongDocumentFailsAlone(document: String) async throws {
        let status = try await pull(try server("/db/_bulk_get", .json(200, Self.bulk(document))))
        #expect(status.problems.map(\.document) == ["bad"], "\(status.problems)")
        #expect(try notes.snapshot().changes().map(\.id) == ["kept", "good"])
    }

    @Test func anAttachmentThatIsNotWhatItsDigestSays() async throws {
        // MD5 of "hello".
        let stub = #"{"x":{"stub":true,"length":5,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","revpos":1}}"#
        let document = #"{"_id":"bad","_rev":"1-aa","_attachments":\#(stub)}"#
        for (body, isRight) in [("jello", false), ("hello!", false), ("hell", false), ("hello", true)] {
            let server = try ScriptedServer { request in
                switch request.path {
                case "/db/_bulk_get": .json(200, Self.bulk(document))
                case "/db/bad/x":
                    .text("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                default: Self.sound(request)
                }
            }
            let copy = try peers.open("copy-\(body.utf8.count)-\(isRight)").defaultCollection
            let status = try await copy.replicate(
                with: RemoteDatabase(server.url()), ReplicationOptions(.pull)
            ).finished
            #expect(status.problems.map(\.document) == (isRight ? [] : ["bad"]), "\(body)")
            #expect(try (copy.find("bad") != nil) == isRight)
        }
    }

    /// A length that the server states is no permission to fill the disk.
    @Test(arguments: [(1_000_000_000_000_000, true), (5, true), (5, false)])
    func anAttachmentWithoutEnd(length: Int, statesLength: Bool) async throws {
        let said = statesLength ? #""length":\#(length),"# : ""
        let stub = #"{"x":{"stub":true,\#(said)"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","revpos":1}}"#
        let document = #"{"_id":"bad","_rev":"1-aa","_attachments":\#(stub)}"#
        let content = String(repeating: "x", count: 400_000)
        let server = try ScriptedServer { request in
            switch request.path {
            case "/db/_bulk_get": .json(200, Self.bulk(document))
            case "/db/bad/x":
                .text("HTTP/1.1 200 OK\r\nContent-Length: \(content.utf8.count)\r\n\r\n\(content)")
            default: Self.sound(request)
            }
        }
        let status = try await notes.replicate(
            with: RemoteDatabase(server.url()), ReplicationOptions(.pull) { $0.longestAttachment = 100_000 }
        ).finished
        #expect(status.problems.map(\.document) == ["bad"], "\(status.problems)")
        #expect(try notes.find("good") != nil && notes.find("bad") == nil)
        #expect(try notes.database.blobs().isEmpty)
        // What is longer than any is not even begun.
        #expect(server.seen.contains { $0.path == "/db/bad/x" } == (length < 100_000))
    }

    /// So CouchDB has those of a revision that was stored with a history and no `revpos`: no ancestor has them.
    @Test(arguments: [1, 2]) func anAttachmentThatSaysItCameBeforeAnyRevision(generation: Int) async throws {
        let stub = #"{"x":{"stub":true,"length":5,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","revpos":0}}"#
        let document =
            generation == 1
            ? #"{"_id":"bad","_rev":"1-aa","_attachments":\#(stub)}"#
            : #"{"_id":"bad","_rev":"2-aa","_revisions":{"start":2,"ids":["aa","bb"]},"_attachments":\#(stub)}"#
        let changes = #"{"results":[{"id":"bad","changes":[{"rev":"\#(generation)-aa"}]}],"last_seq":9}"#
        let result = #"{"results":[{"id":"bad","docs":[{"ok":\#(document)}]}]}"#
        let server = try ScriptedServer { request in
            switch request.path {
            case "/db/_changes": .json(200, changes)
            case "/db/_bulk_get": .json(200, result)
            case "/db/bad/x": .text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            default: Self.sound(request)
            }
        }
        if generation == 2 {
            try await notes.database.write { [notes] batch in
                let first = try IncomingDocument(json: #"{"_id":"bad","_rev":"1-bb"}"#)
                _ = try batch.insert(first, id: "bad", in: notes)
            }
        }
        let status = try await pull(server)
        #expect(status.problems.isEmpty, "\(status.problems)")
        #expect(try notes.document("bad")?.attachments["x"]?.length == 5)
    }

    @Test func anAttachmentWithoutEnd() async throws {
        let stub = #"{"x":{"stub":true,"length":5,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","revpos":1}}"#
        let document = #"{"_id":"bad","_rev":"1-aa","_attachments":\#(stub)}"#
        let server = try ScriptedServer { request in
            switch request.path {
            case "/db/_bulk_get": .json(200, Self.bulk(document))
            case "/db/bad/x":
                .endless(head: "HTTP/1.1 200 OK\r\n\r\n", piece: [UInt8](repeating: 7, count: 1 << 16))
            default: Self.sound(request)
            }
        }
        let status = try await pull(server)
        #expect(status.problems.map(\.document) == ["bad"])
        #expect(server.endlessBytes < 32 << 20)
    }

    /// Credentials go to the server that they are for, and to no other.
    @Test(arguments: TestedClient.allCases)
    func aRedirectGetsNoCredentials(client: TestedClient) async throws {
        let other = try ScriptedServer(Self.sound)
        let target = "http://127.0.0.1:\(other.port)"
        let server = try ScriptedServer { request in
            request.method == "GET"
                ? .text(
                    "HTTP/1.1 302 Found\r\nLocation: \(target)\(request.path)\r\nContent-Length: 0\r\n\r\n")
                : Self.sound(request)
        }
        _ = try? await pull(server, by: client)
        #expect(server.seen.allSatisfy { $0.head.contains("Authorization: Basic") })
        #expect(!other.seen.isEmpty)
        #expect(other.seen.allSatisfy { !$0.head.contains("Authorization") })
    }

    @Test(
        arguments: ["http://127.0.0.1:1/elsewhere", "file:///etc/passwd", "//", "", "http://"],
        TestedClient.allCases)
    func redirectsThatAreNotFollowed(location: String, client: TestedClient) async throws {
        let server = try server(
            "/db/_bulk_get", .text("HTTP/1.1 307 X\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"))
        let error = try await failure(server, by: client)
        #expect(error is TransportError, "\(error)")
    }

    @Test(arguments: TestedClient.allCases)
    func redirectsWithoutEnd(client: TestedClient) async throws {
        let server = try ScriptedServer { request in
            .text("HTTP/1.1 301 X\r\nLocation: \(request.path)x\r\nContent-Length: 0\r\n\r\n")
        }
        #expect((try await failure(server, by: client) as? TransportError)?.code == .redirected)
        #expect(server.seen.count <= 7)
    }

    @Test func changesThatNeverEnd() async throws {
        let revision = try #require(try notes.find("kept")).revision
        let row = #"{"seq":1,"id":"kept","changes":[{"rev":"\#(revision)"}]}"#
        let rows = Array(repeating: row, count: 1000).joined(separator: ",")
        let server = try server(
            "/db/_changes", .json(200, #"{"results":[\#(rows)],"last_seq":1,"pending":5}"#))
        let error = try await failure(server)
        #expect("\(error)".contains("gives the same ones again"), "\(error)")
        #expect(server.seen.filter { $0.path == "/db/_changes" }.count < 6)
    }
}
