import RoostREST
import RoostWire

/// What a listener asks for answers. Put another listener in front of it, swift-nio's or Network.framework's, or something
/// else behind this one.
public protocol RequestHandler: Sendable {
    /// Answers a request; never fails, since failures are answers, too. The body of the request may be read until the
    /// answer's body has ended. When the client hangs up, the task that asks for the answer's body is cancelled; until there is an answer,
    /// the request's `client` tells of it.
    ///
    /// It is called on one of the threads that wait for sockets, one for each processor: what blocks for long belongs on another.
    func respond(to request: HTTPRequest) async -> HTTPResponse

    /// Where the listener counts what it sees: connections, bytes, and what it refuses without asking. Asked for once. Default:
    /// a place where nobody looks.
    var statistics: ServerStatistics { get }

    /// Whether the peer of a connection asks for many clients, as a proxy does, and so has no share of the connections. Default: none does.
    func isProxy(_ peer: String) -> Bool
}

extension RequestHandler {
    /// A place where nobody looks.
    public var statistics: ServerStatistics { ServerStatistics() }

    /// No peer is a proxy.
    public func isProxy(_ peer: String) -> Bool { false }
}

extension Router: RequestHandler {
    /// Whether it is one of ``RouterOptions/trustedProxies``.
    public func isProxy(_ peer: String) -> Bool { options.trustedProxies.contains(peer: peer) }
}
