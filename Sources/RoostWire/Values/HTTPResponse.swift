/// What a server answers: a value, whatever carries it to the client.
public struct HTTPResponse: Sendable {
    /// What follows the head.
    public enum Body: Sendable {
        /// Nothing.
        case none
        /// Bytes that are there already.
        case bytes([UInt8])
        /// Bytes that are made as they are asked for; `length` says how many where that is known.
        case stream(any BodyStream, length: UInt64?)
    }

    /// The status code, such as 200.
    public var status: Int
    /// The fields, without those that frame the body: who sends it adds `Content-Length` or `Transfer-Encoding`.
    public var headers: HTTPHeaders
    /// What follows the head.
    public var body: Body
    /// Whether the body goes on until the client hangs up, so that a client that closes its side has ended it.
    public var isEndless = false
    /// Who asked, for the log; `nil` for a client that has not logged in. It is not sent.
    public var user: String?
    /// What the connection becomes after this answer, whose status is 101 then. A listener that can't do that must answer 501 instead.
    public var upgrade: WebSocketUpgrade?

    /// A response.
    public init(_ status: Int, headers: HTTPHeaders = HTTPHeaders(), body: Body = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The whole body in memory.
    ///
    /// - Parameter limit: How long it may be, in bytes.
    /// - Throws: ``WireError`` 413 when it is longer; what the stream throws.
    public func bytes(limit: Int = .max) async throws -> [UInt8] {
        switch body {
        case .none: []
        case .bytes(let bytes): bytes
        case .stream(let stream, _): try await stream.collect(limit: limit)
        }
    }

    /// The standard's phrase for a status code (RFC 9110, section 15); `Unknown` for one that it has not.
    public static func phrase(_ status: Int) -> String { phrases[status] ?? "Unknown" }

    private static let phrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 200: "OK", 201: "Created", 202: "Accepted",
        204: "No Content",
        206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict",
        410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 421: "Misdirected Request", 426: "Upgrade Required",
        429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
        503: "Service Unavailable", 505: "HTTP Version Not Supported", 507: "Insufficient Storage",
    ]
}
