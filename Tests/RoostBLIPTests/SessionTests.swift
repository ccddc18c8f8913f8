import RoostWire
import Synchronization
import Testing

@testable import RoostBLIP

/// Whole sessions over a WebSocket whose client has sent some bytes and then hung up.
@Suite struct SessionTests {
    private final class CountedMemory: BLIPMemory {
        private let state = Mutex((held: 0, most: 0))

        var held: Int { state.withLock(\.held) }
        var most: Int { state.withLock(\.most) }

        func reserve(_ bytes: Int) async throws {
            state.withLock { state in
                state.held += bytes
                state.most = max(state.most, state.held)
            }
        }

        func release(_ bytes: Int) { state.withLock { $0.held -= bytes } }
    }

    private final class ScriptedSocket: WebSocketConnection {
        private struct State {
            var parser = WebSocketParser(readBy: .server, limit: 4096)
            var sent: [[UInt8]] = []
        }

        private let state: Mutex<State>

        init(_ input: [UInt8]) {
            var initial = State()
            initial.parser.receive(input)
            state = Mutex(initial)
        }

        var sent: [[UInt8]] { state.withLock(\.sent) }

        func receive() async throws -> WebSocketMessage? {
            try state.withLock { state in
                while true {
                    switch try state.parser.next() {
                    case .binary(let bytes): return .binary(bytes)
                    case .text(let bytes): return .text(bytes)
                    case .ping, .pong: continue
                    case .close, nil: return nil
                    }
                }
            }
        }

        func send(_ message: WebSocketMessage) async throws {
            if case .binary(let bytes) = message { state.withLock { $0.sent.append(bytes) } }
        }
    }

    private static func input() -> [UInt8] {
        var writer = BLIPFrameWriter()
        var input: [UInt8] = []
        func add(_ number: UInt64, _ kind: BLIPKind, _ flags: BLIPFrame.Flags, _ piece: [UInt8]) {
            var frame = BLIPFrame(number: number, kind: kind, flags: flags, piece: piece)
            input += WebSocketEncoder.encode(.binary(writer.write(&frame)), mask: 0x0102_0304)
        }
        let message = BLIPMessage(["Profile": "rev", "collection": "0"], body: Array("{\"n\":1}".utf8))
            .encoded
        add(1, .request, .compressed, message)
        add(2, .request, [.compressed, .moreComing], Array(message.prefix(9)))
        add(3, .request, .noReply, message)
        add(2, .request, .compressed, Array(message.dropFirst(9)))
        add(1, .reply, .compressed, BLIPMessage(["blobs": "true"], body: [1, 2, 3]).encoded)
        return input
    }

    private static func serve(_ input: [UInt8], _ memory: CountedMemory) async -> [[UInt8]] {
        var limits = BLIPSession.Limits()
        limits.connection.frame = 4096
        limits.connection.piece = 16 << 10
        limits.openRequests = 16
        let socket = ScriptedSocket(input)
        let session = BLIPSession(socket, limits: limits, memory: memory)
        _ = await session.run { request in
            if request.number == 1 { _ = try? await session.reply(to: BLIPMessage(["Profile": "PING"])) }
            guard let body = try? await request.body.collect(limit: 4096) else {
                return .failure(BLIPMessage(errorIn: "HTTP", code: 413, "too large"))
            }
            return .stream(BLIPMessage(request.properties), BytesBody(body), .compressed)
        }
        return socket.sent
    }

    /// Whatever has come, the session ends, gives back all memory, and has sent frames that can be read.
    @Test func aSessionEndsWithNothingHeld() async throws {
        let whole = Self.input()
        var state: UInt64 = 1
        func random(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        for round in 0..<400 {
            var input = Array(whole.prefix(round == 0 ? whole.count : random(below: whole.count) + 1))
            for _ in 0..<(round % 3) { input[random(below: input.count)] ^= UInt8(1 << random(below: 8)) }
            let memory = CountedMemory()
            let sent = await Self.serve(input, memory)
            #expect(memory.held == 0, "round \(round)")
            #expect(memory.most <= 1 << 20)
            var reader = BLIPFrameReader()
            for bytes in sent { #expect(throws: Never.self) { try reader.read(bytes, limit: 1 << 20) } }
        }
    }
}
