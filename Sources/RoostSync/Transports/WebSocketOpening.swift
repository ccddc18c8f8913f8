import RoostBytes
import RoostCrypto
import RoostWire

/// A WebSocket connection that this side has opened.
protocol OpenedWebSocket: WebSocketConnection {
    /// Ends the connection: the other side gets the reason, where one may be sent, and a moment to answer.
    func close(_ reason: WebSocketClose) async
}

/// What a server says to the opening handshake.
enum WebSocketAnswer: Sendable {
    case opened(any OpenedWebSocket)
    /// The server answered with another status than 101. The body has what it says, as far as the client gives it.
    case refused(HTTPResponse)
}

/// What is asked of a server to open a WebSocket.
struct WebSocketOpening: Sendable {
    /// Path and query, percent-encoded.
    let target: String
    /// The subprotocols, the best first.
    let protocols: [String]
    /// Fields of the request beside those of the handshake.
    let headers: HTTPHeaders
    /// The largest message that the server may send, in bytes.
    let longestMessage: Int

    /// A key for one handshake.
    static func makeKey() -> String { Base64.encode(SystemRandom.bytes(count: 16)) }
}
