import Foundation
import RoostREST
import RoostWire
import Synchronization
import Testing

@testable import RoostServer

/// The listener, asked byte by byte.
@Suite struct ServerTests {
    private let host = "Host: localhost\r\n"

    @Test func answersOneRequestAfterAnother() async throws {
        let test = try await TestServer()
        let client = try test.connect()
        await client.send(
            "PUT /db/a HTTP/1.1\r\n\(host)Content-Length: 7\r\n\r\n{\"n\":1}GET /db/a HTTP/1.1\r\n\(host)\r\n"
        )
        let answer = await client.receive(until: "\"n\":1}\n")
        #expect(answer.hasPrefix("HTTP/1.1 201 Created\r\n") && answer.contains("HTTP/1.1 200 OK\r\n"))
        #expect(answer.contains("\r\nDate: "))
        await client.send("GET /db/none HTTP/1.1\r\n\(host)\r\n")
        #expect(await client.receive(until: "}\n").hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        await client.send("HEAD /db/a HTTP/1.1\r\n\(host)Connection: close\r\n\r\n")
        let head = await client.receiveAll()
        #expect(
            head.contains("Content-Length: ") && head.contains("Connection: close")
                && head.hasSuffix("\r\n\r\n"))
        let old = try await test.exchange("GET /db/_all_docs HTTP/1.0\r\n\r\n")
        #expect(!old.contains("chunked") && old.hasSuffix("]}\n"))
        await test.server.stop()
    }

    /// Answers with a body that fails after its first piece, or ends there.
    private struct HalfAnswers: RequestHandler {
        struct Body: BodyStream {
            let fails: Bool
            let isBegun = Counter()

            func next() async throws -> [UInt8]? {
                if isBegun.next() == 0 { return Array("half".utf8) }
                if fails { throw CocoaError(.fileReadUnknown) }
                return nil
            }
        }

        final class Counter: Sendable {
            private let count = Mutex(0)

            func next() -> Int {
                count.withLock { count in
                    defer { count += 1 }
                    return count
                }
            }
        }

        func respond(to request: HTTPRequest) async -> HTTPResponse {
            HTTPResponse(
                200, headers: [:], body: .stream(Body(fails: request.target == "/broken"), length: nil))
        }
    }

    /// An answer without a length ends with the connection; one that breaks off must not end like one that is whole.
    @Test func halfAnAnswerBreaksTheConnection() async throws {
        var options = ServerOptions()
        options.port = 0
        let server = try HTTPServer(HalfAnswers(), options: options)
        for (target, isBroken) in [("/whole", false), ("/broken", true)] {
            let client = try RawClient(server.port)
            await client.send("GET \(target) HTTP/1.0\r\n\r\n")
            let answer = await client.receiveAll()
            #expect(answer.hasSuffix("\r\n\r\nhalf"))
            #expect(client.isReset == isBroken, "\(target)")
        }
        let client = try RawClient(server.port)
        await client.send("GET /broken HTTP/1.1\r\n\(host)\r\n")
        #expect(await client.receiveAll().hasSuffix("4\r\nhalf\r\n"))
        await server.stop()
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: a\n\n", 400),
        ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", 400),
        ("GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", 505), ("SSH-2.0-x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nX : y\r\n\r\n", 400),
        ("PUT /db/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x", 400),
        (
            "PUT /db/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
            400
        ),
        (
            "PUT /db/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n0\r\n\r\n",
            400
        ),
        ("PUT /db/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
        ("GET / HTTP/1.1\r\nHost: evil.example.org\r\n\r\n", 421),
        ("GET / HTTP/1.1\r\nHost: localhost.evil\r\nConnection: close\r\n\r\n", 421),
        ("GET / HTTP/1.1\r\nHost: localhost:80@evil.example.org\r\nConnection: close\r\n\r\n", 421),
        ("GET / HTTP/1.1\r\nHost: [::1]evil.example.org\r\nConnection: close\r\n\r\n", 421),
        (
            "PUT /db/x HTTP/1.1\r\nHost: localhost\r\nExpect: a miracle\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            417
        ),
    ])
    func refusesWhatIsAmbiguousAndCloses(text: String, status: Int) async throws {
        let test = try await TestServer()
        let client = try test.connect()
        // What is smuggled behind must not be taken for a request.
        await client.send(
            text + "PUT /db/smuggled HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
        client.finishSending()
        let answer = await client.receiveAll()
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(text.debugDescription): \(answer)")
        if status != 421 && status != 417 {
            #expect(await test.router.respond(to: .get("/db/smuggled"), as: .admin).status == 404)
        }
        #expect(await test.router.respond(to: .get("/db/x"), as: .admin).status == 404)
        await test.server.stop()
    }

    @Test func whatGoesOverTheWireIsCounted() async throws {
        let test = try await TestServer()
        func figure(_ name: String) async throws -> Int {
            let answer = await test.router.respond(to: .get("/_node/_local/_prometheus"), as: .admin)
            let lines = String(decoding: try await answer.bytes(), as: UTF8.self).split(separator: "\n")
            let line = try #require(lines.first { $0.hasPrefix(name + " ") })
            return try #require(Int(line.dropFirst(name.count + 1)))
        }
        let request = "GET /db HTTP/1.1\r\n\(host)Connection: close\r\n\r\n"
        let answer = try await test.exchange(request)
        let refused = try await test.exchange("GET / HTTP/3.0\r\n\r\n")
        #expect(refused.hasPrefix("HTTP/1.1 505 "))
        #expect(try await figure("roost_received_bytes_total") == request.utf8.count + 18)
        #expect(try await figure("roost_sent_bytes_total") == answer.utf8.count + refused.utf8.count)
        #expect(try await figure("roost_connections_total") == 2)
        #expect(try await figure("couchdb_httpd_status_codes{code=\"505\"}") == 1)
        try await test.waitForConnections(0)
        let waiting = try test.connect()
        try await test.waitForConnections(1)
        #expect(try await figure("roost_open_connections") == 1)
        waiting.close()
        await test.server.stop()
    }

    @Test func halfARequestSavesNothing() async throws {
        let test = try await TestServer()
        for text in [
            "PUT /db/half HTTP/1.1\r\n\(host)Content-Length: 20\r\n\r\n{\"n\":1}",
            "PUT /db/half HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n7\r\n{\"n\":1}\r\n",
            "PUT /db/half HT",
            "PUT /db/half/file HTTP/1.1\r\n\(host)Content-Length: 20\r\n\r\nhalf",
        ] {
            let client = try test.connect()
            await client.send(text)
            client.finishSending()
            _ = await client.receiveAll()
        }
        try await test.waitForConnections(0)
        #expect(await test.router.respond(to: .get("/db/half"), as: .admin).status == 404)
        await test.server.stop()
    }

    @Test func tellsAClientThatWaitsToGoOn() async throws {
        let test = try await TestServer()
        let client = try test.connect()
        await client.send("PUT /db/a HTTP/1.1\r\n\(host)Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        #expect(await client.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        await client.send("{}")
        #expect(await client.receive(until: "}\n").hasPrefix("HTTP/1.1 201 "))
        // Refused without asking for the body: the connection can't be used again.
        await client.send("PUT /none/a HTTP/1.1\r\n\(host)Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        let answer = await client.receiveAll()
        #expect(answer.hasPrefix("HTTP/1.1 404 ") && answer.contains("Connection: close"))
        await test.server.stop()
    }

    /// A body that nobody reads is passed over, so that the next request is found.
    @Test func passesOverABodyThatNobodyWanted() async throws {
        let test = try await TestServer()
        let client = try test.connect()
        await client.send(
            "PUT /none/a HTTP/1.1\r\n\(host)Content-Length: 100000\r\n\r\n"
                + String(repeating: "x", count: 100_000))
        #expect(await client.receive(until: "}\n").hasPrefix("HTTP/1.1 404 "))
        await client.send("GET /db HTTP/1.1\r\n\(host)Connection: close\r\n\r\n")
        #expect(await client.receiveAll().hasPrefix("HTTP/1.1 200 "))
        await test.server.stop()
    }

    @Test func cutsWhoTakesTooLong() async throws {
        let test = try await TestServer {
            $0.headSeconds = 0
            $0.bodySeconds = 0
        }
        for text in ["GET / HT", "PUT /db/a HTTP/1.1\r\n\(host)Content-Length: 20\r\n\r\n{"] {
            let client = try test.connect()
            await client.send(text)
            _ = await client.receiveAll()
        }
        try await test.waitForConnections(0)
        #expect(await test.router.respond(to: .get("/db/a"), as: .admin).status == 404)
        await test.server.stop()
    }

    @Test func feedsEndWhenTheirClientHangsUp() async throws {
        let test = try await TestServer()
        let clients = try (0..<20).map { _ in try test.connect() }
        for client in clients {
            await client.send(
                "GET /db/_changes?feed=continuous&since=now&heartbeat=600000 HTTP/1.1\r\n\(host)\r\n")
            #expect(await client.receive(until: "\r\n\r\n").contains("chunked"))
        }
        try await test.waitForConnections(20)
        for client in clients { client.close() }
        try await test.waitForConnections(0)
        await test.server.stop()
    }

    @Test func aFeedTellsWhatIsSaved() async throws {
        let test = try await TestServer()
        let client = try test.connect()
        await client.send("GET /db/_changes?feed=continuous&since=now HTTP/1.1\r\n\(host)\r\n")
        _ = await client.receive(until: "1\r\n\n\r\n")
        _ = await test.router.respond(to: .json("PUT", "/db/new", "{}"), as: .admin)
        #expect(await client.receive(until: "}\n").contains(#""id":"new""#))
        await test.server.stop()
    }

    /// A client that does not read stops the server from making more, not from serving others.
    @Test func aSlowReaderHoldsUpOnlyItself() async throws {
        let test = try await TestServer()
        let size = 20 << 20
        let put = HTTPRequest(
            "PUT", "/db/a/large", headers: ["Content-Type": "application/octet-stream"],
            body: BytesBody([UInt8](repeating: 7, count: size)))
        #expect(await test.router.respond(to: put, as: .admin).status == 201)
        let slow = try test.connect()
        await slow.send("GET /db/a/large HTTP/1.1\r\n\(host)Connection: close\r\n\r\n")
        for _ in 0..<10 {
            #expect(
                try await test.exchange("GET /db HTTP/1.1\r\n\(host)Connection: close\r\n\r\n").hasPrefix(
                    "HTTP/1.1 200 "))
        }
        var count = 0
        while let bytes = await slow.receive() { count += bytes.count }
        #expect(count > size && count < size + 1000)
        await test.server.stop()
    }

    @Test func largeBodiesGoInPieceByPiece() async throws {
        let test = try await TestServer()
        let client = try test.connect()
        await client.send(
            "PUT /db/a/large HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        for _ in 0..<200 {
            await client.send("10000\r\n")
            await client.send([UInt8](repeating: 65, count: 0x10000))
            await client.send("\r\n")
        }
        await client.send("0\r\n\r\n")
        #expect(await client.receiveAll().hasPrefix("HTTP/1.1 201 "))
        let document = try await test.router.respond(to: .get("/db/a"), as: .admin).bytes()
        #expect(String(decoding: document, as: UTF8.self).contains("\"length\":\(200 * 0x10000)"))
        await test.server.stop()
    }

    @Test func stoppingEndsFeedsAndIdleConnections() async throws {
        let test = try await TestServer()
        let feed = try test.connect()
        await feed.send("GET /db/_changes?feed=continuous&since=now&heartbeat=600000 HTTP/1.1\r\n\(host)\r\n")
        _ = await feed.receive(until: "1\r\n\n\r\n")
        let idle = try test.connect()
        try await test.waitForConnections(2)
        async let running: Void = test.server.run()
        await test.server.stop()
        await running
        // What is cut off must not look whole.
        #expect(await !feed.receiveAll().hasSuffix("0\r\n\r\n"))
        #expect(await idle.receiveAll() == "")
        #expect(throws: (any Error).self) { try test.connect() }
    }

    @Test(arguments: LogFormat.allCases)
    func linesOfTheLogHaveNoCredentials(format: LogFormat) async throws {
        let lines = Lines()
        let test = try await TestServer {
            $0.log = { lines.add($0) }
            $0.logFormat = format
        }
        for text in [
            "GET /db HTTP/1.1\r\n\(host)Authorization: Basic c2VzYW1l\r\nCookie: AuthSession=c2VzYW1l\r\n",
            "POST /_session HTTP/1.1\r\n\(host)Content-Type: application/json\r\nContent-Length: 34\r\n",
            "GET http://u:c2VzYW1l@localhost/db HTTP/1.1\r\n\(host)", "c2VzYW1l\r\n",
        ] {
            _ = try await test.exchange(
                text + "Connection: close\r\n\r\n{\"name\":\"u\",\"password\":\"c2VzYW1l\"}")
        }
        await test.server.stop()
        #expect(lines.all.count == 4 && !lines.all.joined().contains("c2VzYW1l"), "\(lines.all)")
    }

    @Test func linesAreInTheCommonLogFormat() async throws {
        let lines = Lines()
        let test = try await TestServer { $0.log = { lines.add($0) } }
        _ = try await test.exchange("GET /db?\"\\ HTTP/1.1\r\n\(host)Connection: close\r\n\r\n")
        _ = try await test.exchange("nonsense\r\n\r\n")
        await test.server.stop()
        try #require(lines.all.count == 2)
        #expect(
            lines.all[0].wholeMatch(
                of:
                    #/127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\] "GET /db\?\\x22\\x5C HTTP/1\.1" 200 \d+/#
            )
                != nil, "\(lines.all[0])")
        #expect(lines.all[1].hasSuffix(" \"-\" 400 0"))
    }

    /// A target may hold what is no control character of ASCII and yet begins a sequence that terminals obey.
    @Test(arguments: [LogFormat.common, .json]) func linesCommandNoTerminal(format: LogFormat) async throws {
        let lines = Lines()
        let test = try await TestServer {
            $0.log = { lines.add($0) }
            $0.logFormat = format
        }
        _ = try await test.exchange("GET /db?\u{9B}31m\u{2028}ö HTTP/1.1\r\n\(host)Connection: close\r\n\r\n")
        await test.server.stop()
        let line = try #require(lines.all.first)
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) })
        #expect(!line.contains("\u{2028}") && line.contains("31m"), "\(line)")
    }

    @Test func linesSayWhoAsked() throws {
        let head = try RequestHead(
            line: Array("GET /db HTTP/1.1".utf8)[...], fields: ["Host": "localhost"], limits: MessageLimits())
        func line(_ user: String?, _ format: LogFormat) -> String {
            LogEntry(
                peer: "127.0.0.1", user: user, head: head, status: 200, request: "c0ffee", count: 1,
                microseconds: 2
            ).line(format)
        }
        #expect(line("anna", .common).hasPrefix("127.0.0.1 - anna ["))
        #expect(line("an na\"\n", .common).hasPrefix("127.0.0.1 - an\\x20na\\x22\\x0A ["))
        #expect(line(nil, .common).hasPrefix("127.0.0.1 - - ["))
        #expect(line("anna", .json).contains(#""user":"anna","request":"c0ffee""#))
        #expect(!line(nil, .json).contains("user"))
    }

    @Test func linesAreJSON() async throws {
        let lines = Lines()
        let test = try await TestServer {
            $0.log = { lines.add($0) }
            $0.logFormat = .json
        }
        _ = try await test.exchange("GET /db?\"\\ HTTP/1.1\r\n\(host)Connection: close\r\n\r\n")
        _ = try await test.exchange("nonsense\r\n\r\n")
        await test.server.stop()
        let objects = try lines.all.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        try #require(objects.count == 2)
        #expect(objects[0]["method"] as? String == "GET" && objects[0]["target"] as? String == "/db?\"\\")
        #expect(objects[0]["peer"] as? String == "127.0.0.1" && objects[0]["status"] as? Int == 200)
        #expect(objects[0]["bytes"] as? Int ?? 0 > 0 && objects[0]["microseconds"] as? Int ?? 0 > 0)
        #expect((objects[0]["time"] as? String)?.hasSuffix("Z") == true)
        #expect(objects[1]["status"] as? Int == 400 && objects[1]["target"] == nil)
    }
}

/// Collects lines from any thread.
private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
