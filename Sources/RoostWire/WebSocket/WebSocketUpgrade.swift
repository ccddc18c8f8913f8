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
