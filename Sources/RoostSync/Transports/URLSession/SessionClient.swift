#if !os(Linux) || ROOST_URLSESSION
    import Foundation
    import RoostWire

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// HTTP by URLSession: that of Apple's systems, and in Roost's own builds that of Foundation on Linux, for tests.
    final class SessionClient: HTTPClient {
        private let session: URLSession
        private let delegate: SessionDelegate
        private let options: HTTPOptions

        init(_ options: HTTPOptions) {
            self.options = options
            delegate = SessionDelegate(options)
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            session = URLSession(
                configuration: Self.configuration(options), delegate: delegate, delegateQueue: queue)
        }

        /// Exchanges that are under way go on.
        deinit { session.finishTasksAndInvalidate() }

        /// Nothing is kept, added or followed.
        private static func configuration(_ options: HTTPOptions) -> URLSessionConfiguration {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = nil
            configuration.httpCookieAcceptPolicy = .never
            configuration.httpShouldSetCookies = false
            configuration.urlCredentialStorage = nil
            configuration.urlCache = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.httpMaximumConnectionsPerHost = max(options.connections, 4)
            // Exchanges watch their time themselves.
            configuration.timeoutIntervalForRequest = 7 * 86400
            #if canImport(Darwin)
                configuration.setProxy(options.proxy)
            #endif
            return configuration
        }

        func send(
            _ request: HTTPRequest, to server: ServerAddress, _ url: String
        ) async throws -> HTTPResponse {
            try checkOptions()
            guard let url = URL(string: url, encodingInvalidCharacters: false) else {
                throw TransportError(.invalidAddress, "\(server.origin): the request has no address.")
            }
            let body = try await OutgoingBody(of: request)
            var outgoing = URLRequest(url: url)
            outgoing.httpMethod = request.method
            outgoing.setHeaders(request.headers)
            let exchange = SessionExchange(
                with: server.origin, options, hasBody: request.method != "HEAD")
            let writer = try await outgoing.setBody(body)
            let task = session.dataTask(with: outgoing)
            exchange.begin(task)
            if let writer { exchange.send(body, by: writer) }
            delegate.run(task, for: exchange)
            let head = try await exchange.head()
            return HTTPResponse(
                head.status, headers: head.headers,
                body: .stream(SessionBody(exchange), length: head.length))
        }

        func open(_ opening: WebSocketOpening, at server: ServerAddress) async throws -> WebSocketAnswer {
            try checkOptions()
            let scheme = server.scheme == "https" ? "wss" : "ws"
            let address = scheme + server.base.dropFirst(server.scheme.count) + opening.target
            guard let url = URL(string: address, encodingInvalidCharacters: false) else {
                throw TransportError(.invalidAddress, "\(server.origin): the WebSocket has no address.")
            }
            var request = URLRequest(url: url)
            request.setHeaders(opening.headers)
            request.setValue(
                opening.protocols.joined(separator: ","), forHTTPHeaderField: "Sec-WebSocket-Protocol")
            let task = session.webSocketTask(with: request)
            task.maximumMessageSize = opening.longestMessage
            let socket = SessionWebSocket(task, host: server.origin, idleSeconds: options.idleSeconds)
            do {
                try await socket.open()
            } catch {
                if let error = delegate.takeObjection(to: task) { throw error }
                guard let response = task.response as? HTTPURLResponse, response.statusCode != 101,
                    let head = SessionExchange.Head(response)
                else { throw error is CancellationError ? error : TransportError(error, at: server.origin) }
                return .refused(HTTPResponse(head.status, headers: head.headers))
            }
            let chosen = (task.response as? HTTPURLResponse)?.value(
                forHTTPHeaderField: "Sec-WebSocket-Protocol")
            guard opening.protocols.isEmpty || chosen.map({ opening.protocols.contains($0) }) == true else {
                await socket.close(WebSocketClose(1002))
                throw TransportError(
                    .malformed, "\(server.origin) speaks none of the subprotocols that were offered.")
            }
            return .opened(socket)
        }

        private func checkOptions() throws(TransportError) {
            #if !canImport(Darwin)
                guard options.certificates == nil, options.pinnedKeys.isEmpty, options.proxy == nil else {
                    throw TransportError(
                        .untrusted, "Foundation on Linux takes no certificates, pins and proxies.")
                }
            #endif
        }
    }

    #if !os(Linux)
        typealias PlatformClient = SessionClient
    #endif

    extension URLRequest {
        /// Sets the fields but those that are the session's own: it knows best which content codings it undoes.
        fileprivate mutating func setHeaders(_ headers: HTTPHeaders) {
            for field in headers.fields
            where !["accept-encoding", "content-length"].contains(field.name.lowercased()) {
                addValue(field.value, forHTTPHeaderField: field.name)
            }
        }

        /// Sets the body, or has it come from a stream; answers what writes that.
        fileprivate mutating func setBody(_ body: OutgoingBody) async throws -> UploadWriter? {
            switch body {
            case .none:
                return nil
            case .bytes(let bytes):
                httpBody = Data(bytes)
                return nil
            case .stream:
                #if canImport(Darwin)
                    // Without a length it goes in chunks.
                    if case .stream(_, _, let length?) = body {
                        setValue("\(length)", forHTTPHeaderField: "Content-Length")
                    }
                    let (input, writer) = UploadWriter.pair()
                    httpBodyStream = input
                    return writer
                #else
                    // Here Foundation has no streams that are bound to one another. One of a program's own it reads on the thread
                    // on which all tasks of a session go on.
                    var all = Data()
                    _ = try await body.deliver { piece in
                        all += piece
                        return true
                    }
                    httpBody = all
                    return nil
                #endif
            }
        }
    }

    extension URLSessionTask: SessionFlow {
        // On Linux `suspend()` drops the connection: there all that comes waits in memory.

        func hold() {
            #if canImport(Darwin)
                suspend()
            #endif
        }

        func goOn() {
            #if canImport(Darwin)
                resume()
            #endif
        }
    }
#endif
