import RoostBytes
import RoostCrypto

/// A message of a WebSocket connection.
public enum WebSocketMessage: Sendable, Equatable {
    /// Bytes.
    case binary([UInt8])
    /// Text in UTF-8.
    case text([UInt8])
}

/// A WebSocket connection after its handshake, as the code that serves it sees it. Pings, pongs and the closing handshake are the
/// transport's.
///
/// One task receives at a time. Any number may send; each message goes out whole.
public protocol WebSocketConnection: Sendable {
    /// Returns the next message, or `nil` when the other side has closed the connection. While no call waits, nothing more is read
    /// from the network, so the other side has to wait.
    ///
    /// - Throws: ``WebSocketClose`` when the connection broke or the other side violated the protocol; an error of cancellation.
    func receive() async throws -> WebSocketMessage?

    /// Sends a message, and returns when the system has taken it, as fast as the other side reads.
    ///
    /// - Throws: ``WebSocketClose`` when the connection is closed or broken.
    func send(_ message: WebSocketMessage) async throws
}

/// What a response with status 101 continues with: the connection becomes a WebSocket.
///
/// A listener sends the response's head, calls ``serve`` with the connection, and closes it with the code that it returns.
public struct WebSocketUpgrade: Sendable {
    /// The largest message that the client may send, in bytes.
    public let longestMessage: Int
    /// Serves the connection until either side is done with it, and returns why it ends. The task that calls it is cancelled when
    /// the server stops.
    public let serve: @Sendable (any WebSocketConnection) async -> WebSocketClose

    /// An upgrade.
    public init(
        longestMessage: Int = 1 << 20,
        serve: @escaping @Sendable (any WebSocketConnection) async -> WebSocketClose
    ) {
        self.longestMessage = longestMessage
        self.serve = serve
    }
}

/// The opening handshake of a WebSocket connection over HTTP/1.1 (RFC 6455, section 4).
public enum WebSocketHandshake {
    /// What the server appends to the client's key (RFC 6455, section 1.3).
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Whether a request wants an upgrade to WebSocket.
    public static func isRequested(by request: HTTPRequest) -> Bool {
        request.headers.list("Upgrade", contains: "websocket")
    }

    /// Checks the client's part of the handshake and answers it.
    ///
    /// - Parameter protocols: The subprotocols that the server speaks, the best first; none where the route has none.
    /// - Returns: The answer with status 101, and the subprotocol that was chosen.
    /// - Throws: ``WireError`` 400 for a request that is no handshake, or whose subprotocols the server does not speak, and 426
    ///   for another version than 13.
    public static func accept(
        _ request: HTTPRequest, protocols: [String] = []
    ) throws(WireError) -> (response: HTTPResponse, subprotocol: String?) {
        let headers = request.headers
        guard request.method == "GET", request.body == nil, headers.list("Upgrade", contains: "websocket"),
            headers.list("Connection", contains: "upgrade")
        else { throw WireError(400, "The request is no WebSocket handshake.") }
        guard headers.all("Sec-WebSocket-Version").elementsEqual(["13"]) else {
            throw WireError(426, "The version of WebSocket must be 13.")
        }
        let keys = headers.all("Sec-WebSocket-Key")
        guard keys.count == 1, Base64.decode(keys[0].utf8)?.count == 16 else {
            throw WireError(400, "Sec-WebSocket-Key must be the base64 of 16 bytes.")
        }
        let offered = headers.all("Sec-WebSocket-Protocol").flatMap { $0.split(separator: ",") }
            .map { HTTPHeaders.trimmed($0) }
        let chosen = protocols.first { name in offered.contains { $0.utf8.elementsEqual(name.utf8) } }
        guard chosen != nil || protocols.isEmpty else {
            throw WireError(400, "The server speaks none of these subprotocols.")
        }
        var response = HTTPResponse(
            101,
            headers: [
                "Upgrade": "websocket", "Connection": "Upgrade",
                "Sec-WebSocket-Accept": acceptance(of: keys[0]),
            ])
        if let chosen { response.headers["Sec-WebSocket-Protocol"] = chosen }
        return (response, chosen)
    }

    /// The request by which a client begins.
    ///
    /// - Parameters:
    ///   - target: Path and query, percent-encoded.
    ///   - protocols: The subprotocols that the client speaks, the best first.
    ///   - key: The base64 of 16 random bytes, another for each connection.
    public static func request(_ target: String, protocols: [String], key: String) -> HTTPRequest {
        var headers: HTTPHeaders = [
            "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key,
        ]
        if !protocols.isEmpty { headers["Sec-WebSocket-Protocol"] = protocols.joined(separator: ",") }
        return .get(target, headers: headers)
    }

    /// Checks the server's part of the handshake, an answer with status 101.
    ///
    /// - Parameters:
    ///   - headers: The fields of the answer.
    ///   - key: That of the request.
    ///   - protocols: The subprotocols that were offered.
    /// - Throws: ``WireError`` 400 for an answer that does not follow from the request: another key, a subprotocol that was not
    ///   offered or none of those that were, or an extension.
    public static func verify(
        _ headers: HTTPHeaders, key: String, protocols: [String]
    ) throws(WireError) {
        guard headers.list("Upgrade", contains: "websocket"), headers.list("Connection", contains: "upgrade"),
            headers.all("Sec-WebSocket-Accept").elementsEqual([acceptance(of: key)])
        else { throw WireError(400, "The answer is no WebSocket handshake.") }
        guard headers["Sec-WebSocket-Extensions"] == nil else {
            throw WireError(400, "The server uses an extension that was not offered.")
        }
        let chosen = headers.all("Sec-WebSocket-Protocol")
        let isOffered =
            chosen.count == 1 && protocols.contains { $0.utf8.elementsEqual(chosen[0].utf8) }
        guard protocols.isEmpty ? chosen.isEmpty : isOffered else {
            throw WireError(400, "The server speaks none of the subprotocols that were offered.")
        }
    }

    /// The value of `Sec-WebSocket-Accept` that answers a key.
    public static func acceptance(of key: String) -> String {
        Base64.encode(SHA1.hash(Array((key + suffix).utf8)).bytes)
    }
}

/// Encodes the frames of one direction of a WebSocket connection (RFC 6455, section 5.2). Each message is one frame.
public enum WebSocketEncoder {
    /// The bytes of a frame for an event.
    ///
    /// - Parameter mask: Four random bytes where a client sends, a new number for each frame; `nil` where a server does.
    public static func encode(_ event: WebSocketEvent, mask: UInt32? = nil) -> [UInt8] {
        switch event {
        case .text(let bytes): frame(1, bytes, mask)
        case .binary(let bytes): frame(2, bytes, mask)
        case .close(let close): frame(8, payload(of: close), mask)
        case .ping(let bytes): frame(9, Array(bytes.prefix(125)), mask)
        case .pong(let bytes): frame(10, Array(bytes.prefix(125)), mask)
        }
    }

    private static func frame(_ opcode: UInt8, _ payload: [UInt8], _ mask: UInt32?) -> [UInt8] {
        let count = payload.count
        var bytes: [UInt8] = [0x80 | opcode]
        bytes.reserveCapacity(count + 14)
        let flag: UInt8 = mask == nil ? 0 : 0x80
        if count <= 125 {
            bytes.append(flag | UInt8(count))
        } else {
            let width = count <= 0xFFFF ? 2 : 8
            bytes.append(flag | (width == 2 ? 126 : 127))
            for shift in (0..<width).reversed() {
                bytes.append(UInt8(truncatingIfNeeded: UInt64(count) >> (shift * 8)))
            }
        }
        if let mask {
            for shift in (0..<4).reversed() { bytes.append(UInt8(truncatingIfNeeded: mask >> (shift * 8))) }
        }
        let start = bytes.count
        bytes += payload
        if let mask { apply(mask, to: &bytes, from: start) }
        return bytes
    }

    private static func payload(of close: WebSocketClose) -> [UInt8] {
        guard WebSocketClose.isPermitted(close.code) else { return [] }
        var reason = close.reason
        while reason.utf8.count > 123 { reason.removeLast() }
        return [UInt8(close.code >> 8), UInt8(truncatingIfNeeded: close.code)] + reason.utf8
    }

    /// Masks or unmasks the bytes from an offset on.
    static func apply(_ mask: UInt32, to bytes: inout [UInt8], from start: Int) {
        let keys = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: mask >> UInt32($0)) }
        for index in start..<bytes.count { bytes[index] ^= keys[(index - start) & 3] }
    }
}
