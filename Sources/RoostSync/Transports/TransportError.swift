/// What kept a request from being answered.
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
