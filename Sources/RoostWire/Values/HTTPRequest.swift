/// What a client asks: a value, whether it came over a socket or from a caller in the same process.
public struct HTTPRequest: Sendable {
    /// The method as it was sent, such as `GET`.
    public var method: String
    /// Path and query as they were sent, percent-encoded: `/db/doc%2F1?rev=1-a`.
    public var target: String
    /// The fields.
    public var headers: HTTPHeaders
    /// What follows the head; `nil` where nothing does.
    public var body: (any BodyStream)?
    /// The address of who asks, as text; empty for a caller in the same process.
    public var peer: String
    /// Whether it came over an encrypted connection; cookies are then for such ones only. Default: `false`.
    public var isSecure = false
    /// Who waits for the answer, so that work for one who has gone can be ended; `nil` for a caller in the same process, whose task is
    /// cancelled instead.
    public var client: (any RequestClient)?

    /// A request.
    public init(
        _ method: String, _ target: String, headers: HTTPHeaders = HTTPHeaders(),
        body: (any BodyStream)? = nil, peer: String = ""
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.peer = peer
    }

    /// A GET.
    public static func get(_ target: String, headers: HTTPHeaders = HTTPHeaders()) -> Self {
        Self("GET", target, headers: headers)
    }

    /// A request with a JSON body.
    public static func json(
        _ method: String, _ target: String, _ text: String, headers: HTTPHeaders = HTTPHeaders()
    ) -> Self {
        var headers = headers
        headers["Content-Type"] = "application/json"
        return Self(method, target, headers: headers, body: BytesBody(Array(text.utf8)))
    }
}
