import RoostWire

/// Carries requests to a server and its answers back.
///
/// It must not follow a redirect to another host with credentials, nor buffer more of a body than is read. It may be used
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

/// The reason that a request has no answer.
public struct TransportError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failures. More may come.
    public struct Code: Sendable, Equatable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The address is none, or of another kind than the program can reach.
        public static let invalidAddress = Self("invalidAddress")
        /// The server, or the proxy before it, can't be found or takes no connection.
        public static let unreachable = Self("unreachable")
        /// The server's certificate is not trusted, or its key is none of those that were named.
        public static let untrusted = Self("untrusted")
        /// Nothing came, or could be sent, for too long.
        public static let timedOut = Self("timedOut")
        /// The connection ended within an answer.
        public static let interrupted = Self("interrupted")
        /// The server does not speak HTTP, or says more than is taken.
        public static let malformed = Self("malformed")
        /// The server has moved to where requests do not follow it.
        public static let redirected = Self("redirected")
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, as a sentence. Never holds credentials.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same might succeed later.
    var isTemporary: Bool { [.unreachable, .timedOut, .interrupted].contains(code) }

    /// The sentence.
    public var description: String { message }
}
