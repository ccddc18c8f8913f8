#if canImport(CCurl)
    import RoostWire

    /// HTTP by libcurl.
    struct CurlClient: Sendable {
        private let loop: CurlLoop
        private let options: HTTPOptions

        init(_ options: HTTPOptions) {
            self.options = options
            loop = CurlLoop(connections: max(options.connections, 4))
        }

        func send(
            _ request: HTTPRequest, to server: ServerAddress, _ url: String
        ) async throws -> HTTPResponse {
            let length = request.headers["Content-Length"].flatMap { UInt64($0) }
            let (body, pieces) = try await Self.begin(request, length)
            let outgoing = CurlExchange.Outgoing(
                method: request.method, url: url, headers: request.headers, body: body)
            let exchange = CurlExchange(outgoing, to: server.origin, options, on: loop)
            if case .stream = body, let stream = request.body {
                exchange.send(pieces, then: stream, length: length)
            }
            loop.look(at: exchange)
            let head = try await exchange.waitForHead()
            let announced = head.headers["Content-Length"].flatMap { UInt64($0) }
            return HTTPResponse(
                head.status, headers: head.headers, body: .stream(CurlBody(exchange), length: announced))
        }

        /// How the body goes out: one of a single piece at once, so that curl can send it again.
        private static func begin(
            _ request: HTTPRequest, _ length: UInt64?
        ) async throws -> (CurlExchange.Outgoing.Body, [[UInt8]]) {
            guard let stream = request.body else {
                return (["GET", "HEAD", "DELETE"].contains(request.method) ? .none : .bytes([]), [])
            }
            guard let first = try await stream.next() else { return (.bytes([]), []) }
            guard let second = try await stream.next() else { return (.bytes(first), []) }
            return (.stream(length: length), [first, second])
        }
    }

    /// The body of an answer. Letting go of it ends the exchange.
    private final class CurlBody: BodyStream {
        private let exchange: CurlExchange

        init(_ exchange: CurlExchange) { self.exchange = exchange }

        deinit { if !exchange.hasEnded { exchange.fail(CancellationError()) } }

        func next() async throws -> [UInt8]? { try await exchange.nextBytes() }
    }

    typealias PlatformClient = CurlClient
#endif
