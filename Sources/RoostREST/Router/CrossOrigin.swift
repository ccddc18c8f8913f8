import RoostWire

/// What a page of another origin may do (the Fetch standard's CORS protocol).
struct CrossOrigin {
    private let request: HTTPRequest
    private let options: RouterOptions
    /// The page's origin, where the request names one.
    private let origin: String?

    init(_ request: HTTPRequest, _ options: RouterOptions) {
        self.request = request
        self.options = options
        origin = request.headers["Origin"]
    }

    /// Whether the origin is listed by its name.
    private var isNamed: Bool {
        guard let origin else { return false }
        return options.origins.contains { $0.isIdentical(to: origin) } && origin != "*"
    }

    private var isListed: Bool { isNamed || origin != nil && options.origins.contains("*") }

    /// Whether the cookie of the request counts. A browser sends it by itself, and a page that `*` alone admits has no use of it.
    var trustsCookies: Bool { origin == nil || isOwn || isNamed && options.allowsCredentials }

    /// Whether the page came from this server itself.
    private var isOwn: Bool {
        guard let origin, let host = request.headers["Host"] else { return false }
        return ["http", "https"].contains { origin.isIdentical(to: "\($0)://\(host)") }
    }

    /// The answer to a preflight request; `nil` for other requests.
    var preflight: HTTPResponse? {
        guard request.method == "OPTIONS", origin != nil,
            request.headers["Access-Control-Request-Method"] != nil
        else { return nil }
        var response = HTTPResponse(isListed ? 204 : 403)
        guard isListed else { return response }
        mark(&response)
        response.headers["Access-Control-Allow-Methods"] = "GET, PUT, POST, HEAD, DELETE, COPY"
        response.headers["Access-Control-Allow-Headers"] =
            "accept, authorization, content-type, origin, referer, if-match, destination, x-requested-with"
        response.headers["Access-Control-Max-Age"] = "600"
        return response
    }

    /// - Throws: 403 for a page that is not listed and wants to change something, or to open a WebSocket: browsers let every page read
    ///   from those.
    func check() throws {
        guard origin != nil, !isListed, !isOwn,
            !["GET", "HEAD", "OPTIONS"].contains(request.method)
                || WebSocketHandshake.isRequested(by: request)
        else { return }
        throw HTTPFailure.forbidden(
            "Pages of this origin may not write here. List it among the server's origins.")
    }

    /// Lets the page read the answer.
    func mark(_ response: inout HTTPResponse) {
        guard isListed, let origin else { return }
        response.headers["Access-Control-Allow-Origin"] = isNamed ? origin : "*"
        response.headers.add("Vary", "Origin")
        if isNamed, options.allowsCredentials {
            response.headers["Access-Control-Allow-Credentials"] = "true"
        }
        response.headers["Access-Control-Expose-Headers"] =
            "content-type, cache-control, accept-ranges, etag, server, x-couch-request-id"
    }
}
