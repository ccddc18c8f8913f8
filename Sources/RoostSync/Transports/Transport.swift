import RoostWire

/// Carries requests to a server and its answers back.
///
/// It must not follow a redirect to another host with credentials, nor store more of a body than was asked for. It may be used
/// from any thread.
public protocol Transport: Sendable {
    /// Sends a request whose target begins at the server's root.
    ///
    /// - Throws: What kept the request from being answered. An answer with a status of failure is no error here.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse
}

/// A server in the same process: a function from requests to answers, such as a router's.
public struct LocalTransport: Transport {
    private let respond: @Sendable (HTTPRequest) async -> HTTPResponse

    /// A transport to whatever answers.
    public init(_ respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) { self.respond = respond }

    /// Asks the function.
    public func send(_ request: HTTPRequest) async -> HTTPResponse { await respond(request) }
}
