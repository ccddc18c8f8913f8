import RoostWire

/// Speaks HTTP over sockets: what the platform has for that.
///
/// It verifies certificates, follows no redirect, undoes no wrong and keeps nothing: no cookies, credentials or answers.
protocol HTTPClient: Sendable {
    /// Sends a request and answers as soon as the head of the answer is there.
    ///
    /// - Parameters:
    ///   - server: What errors name.
    ///   - url: The address, of printable ASCII.
    /// - Throws: ``TransportError``; what the request's body throws; `CancellationError`.
    func send(_ request: HTTPRequest, to server: ServerAddress, _ url: String) async throws -> HTTPResponse

    /// Opens a WebSocket (RFC 6455).
    ///
    /// - Throws: ``TransportError``; `CancellationError`.
    func open(_ opening: WebSocketOpening, at server: ServerAddress) async throws -> WebSocketAnswer
}
