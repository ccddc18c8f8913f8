#if os(Linux)
    import RoostCrypto
    import RoostWire

    extension CurlClient {
        /// The most bytes that are taken of an answer that refuses.
        private static let longestRefusal = 64 << 10

        func open(_ opening: WebSocketOpening, at server: ServerAddress) async throws -> WebSocketAnswer {
            let socket = CurlSocket(server.base + opening.target, host: server.origin, options)
            do {
                try await socket.connected()
                return try await shakeHands(opening, server, socket)
            } catch {
                socket.fail(TransportError(.interrupted, "\(server.origin): the handshake failed."))
                throw error
            }
        }

        private func shakeHands(
            _ opening: WebSocketOpening, _ server: ServerAddress, _ socket: CurlSocket
        ) async throws -> WebSocketAnswer {
            let key = WebSocketOpening.makeKey()
            let target = server.prefix + opening.target
            var request = WebSocketHandshake.request(target, protocols: opening.protocols, key: key)
            request.headers["Host"] = String(server.origin.dropFirst(server.scheme.count + 3))
            for field in opening.headers.fields { request.headers.add(field.name, field.value) }
            try await socket.write(MessageEncoder.head(of: request, .none))
            var parser = MessageParser<ResponseHead>()
            var head: ResponseHead?
            var body: [UInt8] = []
            do {
                while true {
                    switch try parser.next() {
                    case .head(let found, _) where found.status == 101:
                        try WebSocketHandshake.verify(found.headers, key: key, protocols: opening.protocols)
                        return .opened(
                            CurlWebSocket(
                                socket, received: parser.takeRest(), opening.longestMessage,
                                idleSeconds: options.idleSeconds))
                    case .head(let found, _): if found.status >= 200 { head = found }
                    case .body(let bytes): body += bytes.prefix(Self.longestRefusal - body.count)
                    case .end where head == nil: break
                    case .end: return refusal(head, body, socket)
                    case nil:
                        if body.count == Self.longestRefusal { return refusal(head, body, socket) }
                        guard let bytes = try await read(socket, server) else {
                            guard head != nil else {
                                throw TransportError(.interrupted, "\(server.origin) closed the connection.")
                            }
                            return refusal(head, body, socket)
                        }
                        parser.receive(bytes)
                    }
                }
            } catch let error as WireError {
                throw TransportError(.malformed, "\(server.origin): \(error)")
            }
        }

        private func refusal(
            _ head: ResponseHead?, _ body: [UInt8], _ socket: CurlSocket
        ) -> WebSocketAnswer {
            socket.fail(TransportError(.interrupted, "The server refused."))
            return .refused(
                HTTPResponse(head?.status ?? 500, headers: head?.headers ?? [:], body: .bytes(body)))
        }

        /// Reads, for as long as an answer may take.
        private func read(_ socket: CurlSocket, _ server: ServerAddress) async throws -> [UInt8]? {
            let limit = options.idleSeconds
            let timer = Task {
                try await Task.sleep(for: .seconds(limit))
                socket.fail(TransportError(.timedOut, "\(server.origin) took too long to answer."))
            }
            defer { timer.cancel() }
            return try await socket.read()
        }
    }

    /// The client's end of a WebSocket connection: frames, pings, the closing handshake, and a server that is gone.
    actor CurlWebSocket: OpenedWebSocket {
        private let socket: CurlSocket
        private var parser: WebSocketParser
        private var ended: WebSocketClose?
        private let watch: Task<Void, Never>

        /// - Parameters:
        ///   - received: What came behind the head of the handshake.
        ///   - idleSeconds: How long the server may be silent. It gets a ping before.
        init(_ socket: CurlSocket, received: [UInt8], _ longestMessage: Int, idleSeconds: Double) {
            self.socket = socket
            parser = WebSocketParser(readBy: .client, limit: longestMessage)
            parser.receive(received)
            watch = Task {
                while (try? await Task.sleep(for: .seconds(idleSeconds / 3))) != nil {
                    if socket.silence > idleSeconds {
                        return socket.fail(
                            TransportError(.timedOut, "The server has been silent for too long."))
                    }
                    guard socket.silence > idleSeconds / 3 else { continue }
                    guard (try? socket.writeIfRoom(Self.frame(.ping([])))) != nil else { return }
                }
            }
        }

        deinit { watch.cancel() }

        private static func frame(_ event: WebSocketEvent) -> [UInt8] {
            let mask = SystemRandom.bytes(count: 4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return WebSocketEncoder.encode(event, mask: mask)
        }

        func receive() async throws -> WebSocketMessage? {
            while ended == nil {
                let event: WebSocketEvent?
                do {
                    event = try parser.next()
                } catch {
                    ended = error
                    throw error
                }
                switch event {
                case .binary(let bytes): return .binary(bytes)
                case .text(let bytes): return .text(bytes)
                // An answer for which there is no room is superseded by that to the next ping.
                case .ping(let bytes): try socket.writeIfRoom(Self.frame(.pong(bytes)))
                case .pong: break
                case .close(let close):
                    ended = close
                    return nil
                case nil:
                    do {
                        guard let bytes = try await socket.read() else {
                            throw broken("The server ended the connection.")
                        }
                        parser.receive(bytes)
                    } catch let error as TransportError { throw broken(error.message) }
                }
            }
            return nil
        }

        private func broken(_ reason: String) -> WebSocketClose {
            let close = WebSocketClose(1006, reason)
            ended = ended ?? close
            return close
        }

        func send(_ message: WebSocketMessage) async throws {
            if let ended { throw ended }
            do {
                switch message {
                case .binary(let bytes): try await socket.write(Self.frame(.binary(bytes)))
                case .text(let bytes): try await socket.write(Self.frame(.text(bytes)))
                }
            } catch let error as TransportError { throw broken(error.message) }
        }

        func close(_ reason: WebSocketClose) async {
            watch.cancel()
            // The one that closes names the reason; the other repeats the code.
            let answer = ended.map { $0.code == 1005 ? .normal : $0 } ?? reason
            ended = ended ?? reason
            if answer.code != 1006 { _ = try? socket.writeIfRoom(Self.frame(.close(answer))) }
            await socket.close()
        }
    }
#endif
