#if os(Linux)
    import RoostWire

    /// HTTP by libcurl.
    struct CurlClient: HTTPClient {
        private let loop: CurlLoop
        let options: HTTPOptions

        init(_ options: HTTPOptions) {
            self.options = options
            loop = CurlLoop(connections: max(options.connections, 4))
        }

        func send(
            _ request: HTTPRequest, to server: ServerAddress, _ url: String
        ) async throws -> HTTPResponse {
            let body = try await OutgoingBody(of: request)
            let outgoing = CurlExchange.Outgoing(
                method: request.method, url: url, headers: request.headers, body: body)
            let exchange = CurlExchange(outgoing, to: server.origin, options, on: loop)
            exchange.sendBody()
            loop.look(at: exchange)
            let head = try await exchange.waitForHead()
            let announced = head.headers["Content-Length"].flatMap { UInt64($0) }
            return HTTPResponse(
                head.status, headers: head.headers, body: .stream(CurlBody(exchange), length: announced))
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
