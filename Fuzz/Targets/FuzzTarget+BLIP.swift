import Roost
import RoostBLIP
import RoostWire
import Synchronization

/// What a peer of Couchbase Lite's protocol sends: WebSocket frames, BLIP frames in them, and version vectors.
extension FuzzTarget {
    static let blip = [webSocket, blipFrames, blipSession, versionVector]

    private static let webSocket = FuzzTarget("websocket", largestInput: 1024) {
        [
            WebSocketEvent.binary([1, 2, 3]), .text(Array("é".utf8)), .ping([]),
            .close(WebSocketClose(1000, "bye")),
        ].flatMap { [WebSocketEncoder.encode($0), WebSocketEncoder.encode($0, mask: 0x0102_0304)] }
    } run: { input in
        for reader in [WebSocketReader.client, .server] {
            let whole = events(input, by: reader, size: input.count + 1)
            for size in [1, 7] {
                try demand(
                    events(input, by: reader, size: size) == whole,
                    "frames that depend on the pieces they come in")
            }
            for event in whole {
                let mask: UInt32? = reader == .server ? 0xA5A5_5A5A : nil
                try demand(
                    events(WebSocketEncoder.encode(event, mask: mask), by: reader, size: 1 << 20) == [event],
                    "an event that does not come back")
            }
        }
    }

    private static func events(_ input: [UInt8], by reader: WebSocketReader, size: Int) -> [WebSocketEvent] {
        var parser = WebSocketParser(readBy: reader, limit: 512)
        var found: [WebSocketEvent] = []
        var rest = input[...]
        do {
            while !rest.isEmpty {
                parser.receive(rest.prefix(size))
                rest = rest.dropFirst(size)
                while let event = try parser.next() { found.append(event) }
            }
        } catch { return found }
        return found
    }

    /// Frames one after another, a byte with the length before each.
    private static let blipFrames = FuzzTarget("blip", largestInput: 1024) {
        var writer = BLIPFrameWriter()
        var input: [UInt8] = []
        let message = BLIPMessage(["Profile": "changes", "collection": "0"], body: Array("[]".utf8))
        for flags in [[], .compressed, [.compressed, .moreComing]] as [BLIPFrame.Flags] {
            var frame = BLIPFrame(number: 1, kind: .request, flags: flags, piece: message.encoded)
            let bytes = writer.write(&frame)
            input += [UInt8(bytes.count)] + bytes
        }
        return [input]
    } run: { input in
        var reader = BLIPFrameReader()
        var (writer, second) = (BLIPFrameWriter(), BLIPFrameReader())
        var connection: BLIPConnection? = BLIPConnection()
        _ = connection?.send(BLIPMessage())
        var rest = input[...]
        while let length = rest.popFirst() {
            let bytes = Array(rest.prefix(Int(length)))
            rest = rest.dropFirst(Int(length))
            if let message = try? BLIPMessage(decoding: bytes) {
                try demand(
                    (try? BLIPMessage(decoding: message.encoded)) == message,
                    "a message that does not come back")
            }
            if let events = try? connection?.receive(bytes) {
                for case .ended(let id) in events {
                    connection?.reply(to: id, BLIPMessage(), options: .compressed)
                }
                while connection?.nextFrame() != nil {}
            } else {
                // After an error it must not be used again.
                connection = nil
            }
            guard let frame = try? reader.read(bytes, limit: 4096) else { return }
            try demand(frame.piece.count <= 4096, "a piece beyond its limit")
            var written = frame
            let again = try? second.read(writer.write(&written), limit: 4096)
            try demand(again == written, "a frame that does not come back")
        }
    }

    /// What a client sends over the WebSocket of a whole session, whose handler reads the bodies and answers with them.
    private static let blipSession = FuzzTarget("blip-session", largestInput: 2048) {
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
        return [input, input + WebSocketEncoder.encode(.close(WebSocketClose(1000)), mask: 0)]
    } run: { input in
        let memory = CountedMemory()
        let socket = ScriptedSocket(input)
        CallingThread.run(patience: 5, mayBeCancelled: { true }) {
            let session = BLIPSession(socket, limits: limits, memory: memory)
            socket.end(
                await session.run { request in
                    // The first request is answered with a question, whose answer may come or not.
                    if request.number == 1 {
                        _ = try? await session.reply(to: BLIPMessage(["Profile": "PING"]))
                    }
                    guard let body = try? await request.body.collect(limit: 4096) else {
                        return .failure(BLIPMessage(errorIn: "HTTP", code: 413, "too large"))
                    }
                    return .stream(BLIPMessage(request.properties), BytesBody(body), .compressed)
                })
        }
        try demand(memory.held == 0, "memory that is not released: \(memory.held) bytes")
        try demand(memory.most <= 1 << 20, "more memory than the limits permit")
        // What the session sends is valid, whatever came.
        var reader = BLIPFrameReader()
        for bytes in socket.sent {
            try demand((try? reader.read(bytes, limit: 1 << 20)) != nil, "a frame that can't be read")
        }
    }

    private static var limits: BLIPSession.Limits {
        var limits = BLIPSession.Limits()
        limits.connection.frame = 4096
        limits.connection.piece = 16 << 10
        limits.openRequests = 16
        return limits
    }

    private static let versionVector = FuzzTarget("version-vector", largestInput: 256) {
        ["5@*; 4@51L7VlzEQGqO1Xdrlp5YmQ", "7@*, 5@51L7VlzEQGqO1Xdrlp5YmQ, 4@VtbcvMR1TWWdzpljj7YCIg;"].flatMap
        { text in
            [Array(text.utf8), VersionVector(text: text.utf8)!.encoded]
        }
    } run: { input in
        for vector in [VersionVector(text: input), VersionVector(decoding: input)].compactMap({ $0 }) {
            try demand(
                VersionVector(text: vector.description.utf8) == vector, "a text that does not come back")
            if vector.versions.allSatisfy({ $0.time < 1 << 62 }) {
                try demand(VersionVector(decoding: vector.encoded) == vector, "bytes that do not come back")
            }
            try demand(vector.compare(to: vector) == .same, "a vector that is not itself")
        }
    }
}

/// The memory of a session, counted.
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

/// A WebSocket on which a client has sent some bytes and then hung up.
private final class ScriptedSocket: WebSocketConnection {
    private struct State {
        var parser = WebSocketParser(readBy: .server, limit: 4096)
        var sent: [[UInt8]] = []
        var end: WebSocketClose?
    }

    private let state: Mutex<State>

    init(_ input: [UInt8]) {
        var initial = State()
        initial.parser.receive(input)
        state = Mutex(initial)
    }

    /// The binary messages that the session sent.
    var sent: [[UInt8]] { state.withLock(\.sent) }

    func end(_ close: WebSocketClose) { state.withLock { $0.end = close } }

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
        guard case .binary(let bytes) = message else { throw FuzzFinding("A session sent text.") }
        state.withLock { $0.sent.append(bytes) }
    }
}
