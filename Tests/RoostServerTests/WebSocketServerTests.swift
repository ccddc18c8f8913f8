import Foundation
import RoostREST
import RoostServer
import RoostWire
import Synchronization
import Testing

/// Upgrades any GET of a WebSocket, and serves it with `serve`.
private struct UpgradingHandler: RequestHandler {
    var limit = 1 << 20
    var serve: @Sendable (any WebSocketConnection) async -> WebSocketClose = UpgradingHandler.echo

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        do throws(WireError) {
            var response = try WebSocketHandshake.accept(request, protocols: ["echo"]).response
            response.upgrade = WebSocketUpgrade(longestMessage: limit, serve: serve)
            return response
        } catch {
            return HTTPResponse(error.status, body: .bytes(Array(error.description.utf8)))
        }
    }

    @Sendable static func echo(_ socket: any WebSocketConnection) async -> WebSocketClose {
        do {
            while let message = try await socket.receive() { try await socket.send(message) }
            return .normal
        } catch is CancellationError {
            return WebSocketClose(1001, "The server stops.")
        } catch {
            return error as? WebSocketClose ?? WebSocketClose(1011)
        }
    }
}

/// A client of a WebSocket, byte for byte.
struct RawWebSocket {
    let client: RawClient
    private var parser = WebSocketParser(readBy: .client, limit: 16 << 20)

    static func request(
        _ target: String = "/", _ subprotocol: String = "echo", _ fields: String = ""
    ) -> String {
        "GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            + "Sec-WebSocket-Protocol: \(subprotocol)\r\n\(fields)\r\n"
    }

    /// Shakes hands.
    ///
    /// - Parameter early: Bytes that are sent with the handshake.
    init(_ port: UInt16, _ request: String = Self.request(), early: [UInt8] = []) async throws {
        client = try RawClient(port)
        await client.send(Array(request.utf8) + early)
        var answer: [UInt8] = []
        while true {
            if let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) {
                let head = String(decoding: answer[..<end.upperBound], as: UTF8.self)
                guard head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"),
                    head.contains("\r\nConnection: Upgrade\r\n"), !head.contains("Connection: close")
                else { throw WireError(400, head) }
                parser.receive(answer[end.upperBound...])
                return
            }
            guard let bytes = await client.receive() else {
                throw WireError(400, String(decoding: answer, as: UTF8.self))
            }
            answer += bytes
        }
    }

    func send(_ event: WebSocketEvent) async { await client.send(Self.frame(event)) }

    static func frame(_ event: WebSocketEvent) -> [UInt8] {
        WebSocketEncoder.encode(event, mask: 0x0102_0304)
    }

    /// The next event of what was received; `nil` when more is needed.
    mutating func parsed() throws -> WebSocketEvent? { try parser.next() }

    mutating func take(_ bytes: [UInt8]) { parser.receive(bytes) }

    /// The next event; `nil` at the end of the connection.
    mutating func next() async throws -> WebSocketEvent? {
        while true {
            if let event = try parser.next() { return event }
            guard let bytes = await client.receive() else { return nil }
            parser.receive(bytes)
        }
    }
}

/// A server with a handler, which listens at a free port.
private func serve(
    _ handler: UpgradingHandler = UpgradingHandler(), _ change: (inout ServerOptions) -> Void = { _ in }
) throws -> HTTPServer {
    var options = ServerOptions()
    options.port = 0
    options.stopSeconds = 1
    options.headSeconds = 300
    options.bodySeconds = 300
    options.idleSeconds = 300
    change(&options)
    return try HTTPServer(handler, options: options)
}

/// What a server answers to a handshake that it refuses.
private func refusal(_ port: UInt16, _ request: String) async throws -> String {
    let client = try RawClient(port)
    await client.send(request)
    client.finishSending()
    return await client.receiveAll()
}

/// Connections become WebSockets, with the limits of every other connection.
@Suite struct WebSocketServerTests {
    @Test func messagesGoBothWays() async throws {
        let server = try serve()
        // A client may not wait for the answer with its first message.
        var socket = try await RawWebSocket(
            server.port, early: RawWebSocket.frame(.text(Array("early".utf8))))
        #expect(try await socket.next() == .text(Array("early".utf8)))
        let large = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        await socket.send(.binary(large))
        #expect(try await socket.next() == .binary(large))
        await socket.send(.ping([1, 2]))
        #expect(try await socket.next() == .pong([1, 2]))
        await socket.send(.close(WebSocketClose(4_000, "enough")))
        #expect(try await socket.next() == .close(WebSocketClose(4_000, "enough")))
        #expect(await socket.client.receive() == nil)
        await server.stop()
    }

    @Test func aCloseWithoutCodeIsAnswered() async throws {
        let server = try serve()
        var socket = try await RawWebSocket(server.port)
        await socket.client.send([0x88, 0x80, 1, 2, 3, 4])
        #expect(try await socket.next() == .close(.normal))
        await server.stop()
    }

    @Test func wrongHandshakesAreRefused() async throws {
        let server = try serve()
        let right = RawWebSocket.request()
        let cases: [(String, String, String)] = [
            ("Version: 13", "Version: 8", "426"), ("dGhlIHNhbXBsZSBub25jZQ==", "dGhl", "400"),
            ("Connection: Upgrade", "Connection: keep-alive", "400"), ("GET", "PUT", "400"),
            ("Protocol: echo", "Protocol: other", "400"), ("HTTP/1.1", "HTTP/1.0", "400"),
            ("Host: localhost", "Host: localhost\r\nContent-Length: 1", "400"),
        ]
        for (old, new, status) in cases {
            let answer = try await refusal(
                server.port, right.replacingOccurrences(of: old, with: new) + "x")
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(new): \(answer)")
        }
        await server.stop()
    }

    /// What breaks the protocol closes the connection with the right code, which arrives although more was on its way.
    @Test(
        arguments: [
            ([0x82, 0x01, 0x00], 1002), ([0xC2, 0x80, 0, 0, 0, 0], 1002), ([0x80, 0x80, 0, 0, 0, 0], 1002),
            ([0x81, 0x81, 0, 0, 0, 0, 0xFF], 1007), ([0x82, 0xFE, 0x08, 0x00, 0, 0, 0, 0], 1009),
        ] as [([UInt8], UInt16)])
    func violationsCloseTheConnection(bytes: [UInt8], code: UInt16) async throws {
        let server = try serve(UpgradingHandler(limit: 1_024))
        var socket = try await RawWebSocket(server.port)
        await socket.client.send(bytes + [UInt8](repeating: 0, count: 100_000))
        guard case .close(let close)? = try await socket.next() else {
            return #expect(Bool(false), "no close")
        }
        #expect(close.code == code)
        await server.stop()
    }

    @Test func stoppingTheServerClosesSockets() async throws {
        let server = try serve()
        var socket = try await RawWebSocket(server.port)
        async let stopped: Void = server.stop()
        #expect(try await socket.next() == .close(WebSocketClose(1001, "The server stops.")))
        await socket.send(.close(WebSocketClose(1001)))
        await stopped
        #expect(await socket.client.receive() == nil)
    }

    @Test func socketsCountAsConnections() async throws {
        let server = try serve { $0.connections = 2 }
        let sockets = [try await RawWebSocket(server.port), try await RawWebSocket(server.port)]
        // Neither makes room: they are in use.
        #expect(try await refusal(server.port, RawWebSocket.request()) == "")
        #expect(server.connectionCount == 2)
        sockets[0].client.close()
        while server.connectionCount == 2 { try await Task.sleep(for: .milliseconds(5)) }
        var socket = try await RawWebSocket(server.port)
        await socket.send(.text([0x61]))
        #expect(try await socket.next() == .text([0x61]))
        await server.stop()
    }

    /// Who does not read makes the server wait, and is cut off in the end.
    @Test func aClientThatDoesNotReadIsCutOff() async throws {
        let sent = Mutex(0)
        let handler = UpgradingHandler { socket in
            do {
                while true {
                    try await socket.send(.binary([UInt8](repeating: 0, count: 1 << 20)))
                    sent.withLock { $0 += 1 }
                }
            } catch { return error as? WebSocketClose ?? WebSocketClose(1011) }
        }
        let server = try serve(handler) {
            $0.bodySeconds = 1
            $0.slowestRate = 1 << 30
        }
        let socket = try await RawWebSocket(server.port)
        while server.connectionCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
        // No more than the system's buffers took.
        #expect(sent.withLock { $0 } < 64)
        socket.client.close()
        await server.stop()
    }

    /// Who says nothing is asked whether it is there, and who does not answer is cut off.
    @Test func aSilentClientIsAsked() async throws {
        let server = try serve { $0.idleSeconds = 1 }
        var socket = try await RawWebSocket(server.port)
        #expect(try await socket.next() == .ping([]))
        while let event = try await socket.next() { #expect(event == .ping([])) }
        while server.connectionCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
        await server.stop()
    }

    /// A message that comes too slowly ends the connection, although there is always something.
    @Test func anEndlessMessageIsCutOff() async throws {
        let server = try serve(UpgradingHandler(limit: 1 << 16)) {
            $0.idleSeconds = 1
            $0.bodySeconds = 1
            $0.slowestRate = 1 << 20
        }
        let socket = try await RawWebSocket(server.port)
        await socket.client.send([0x82, 0xFE, 0xFF, 0xFF, 0, 0, 0, 0])
        let drip = Task {
            while !Task.isCancelled {
                await socket.client.send([0])
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        while server.connectionCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
        drip.cancel()
        await server.stop()
    }
}
