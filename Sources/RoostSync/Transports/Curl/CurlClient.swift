#if os(Linux)
    import CRoostCurl
    import Dispatch
    import RoostWire
    import Synchronization

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

    /// One request and its answer, between the calling task and the thread on which curl works.
    ///
    /// Neither side waits for the other with its thread: curl pauses the transfer where there is nothing to send, or no room for
    /// what comes, and the task is resumed when that changes.
    final class CurlExchange: Sendable {
        /// What goes to the server.
        struct Outgoing: Sendable {
            let method: String
            let url: String
            let headers: HTTPHeaders
            let body: OutgoingBody
        }

        /// The head of an answer.
        struct Head: Sendable {
            private(set) var status = 0
            private(set) var headers = HTTPHeaders()
            fileprivate private(set) var isWhole = false
        }

        private enum Ending {
            case whole
            case failed(any Error)
        }

        private struct State {
            // Going out.
            var outgoing: [UInt8] = []
            var sent = 0
            var hasAllToSend = false
            var sendingIsPaused = false
            var producing: Task<Void, Never>?
            var producer: CheckedContinuation<Void, Never>?
            // Coming in.
            var head = Head()
            var headBytes = 0
            var incoming: [UInt8] = []
            var receivingIsPaused = false
            var consumer: CheckedContinuation<Void, Never>?
            var consumerIsReady: (@Sendable (borrowing State) -> Bool)?
            var ending: Ending?
            /// When the last byte went or came, in nanoseconds of `now`.
            var lastActivity = CurlExchange.now

            var unsent: Int { outgoing.count - sent }

            var failure: any Error {
                if case .failed(let error)? = ending {
                    error
                } else {
                    TransportError(.interrupted, "The answer has no head.")
                }
            }

            /// Who waits, where it need not wait any more.
            mutating func consumerIfReady() -> CheckedContinuation<Void, Never>? {
                guard let isReady = consumerIsReady, isReady(self) else { return nil }
                return consumer.take()
            }
        }

        /// How many bytes wait on either side.
        private static let capacity = 256 << 10
        /// The longest head that is taken.
        private static let longestHead = 64 << 10

        let outgoing: Outgoing
        let options: HTTPOptions
        /// The server, as messages name it.
        let host: String
        private let start = CurlExchange.now
        private let loop: CurlLoop
        private let state = Mutex(State())

        init(_ outgoing: Outgoing, to host: String, _ options: HTTPOptions, on loop: CurlLoop) {
            self.host = host
            self.outgoing = outgoing
            self.options = options
            self.loop = loop
        }

        static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

        // MARK: The calling side

        /// Waits for the head of the answer.
        func waitForHead() async throws -> Head {
            try await wait { $0.head.isWhole || $0.ending != nil }
            return try state.withLock { state in
                if state.head.isWhole { return state.head }
                throw state.failure
            }
        }

        /// The next bytes of the answer; `nil` at its end.
        func nextBytes() async throws -> [UInt8]? {
            try await wait { !$0.incoming.isEmpty || $0.ending != nil }
            let (bytes, mustWake) = try state.withLock { state in
                guard state.incoming.isEmpty else {
                    defer { state.incoming = [] }
                    return (state.incoming as [UInt8]?, state.receivingIsPaused)
                }
                guard case .whole? = state.ending else { throw state.failure }
                return (nil, false)
            }
            if mustWake { loop.look(at: self) }
            return bytes
        }

        /// Sends a body that is a stream as fast as the server takes it.
        func sendBody() {
            guard case .stream = outgoing.body else { return }
            let task = Task {
                do {
                    guard try await outgoing.body.deliver(to: { await offer($0) }) else { return }
                    state.withLock { $0.hasAllToSend = true }
                    loop.look(at: self)
                } catch {
                    fail(error)
                }
            }
            state.withLock { $0.producing = task }
        }

        /// Hands over bytes when there is room for them; answers whether more are wanted.
        private func offer(_ bytes: [UInt8]) async -> Bool {
            await withCheckedContinuation { continuation in
                let hasRoom = state.withLock { state in
                    guard state.ending == nil, state.unsent >= Self.capacity else { return true }
                    state.producer = continuation
                    return false
                }
                if hasRoom { continuation.resume() }
            }
            let (goesOn, mustWake) = state.withLock { state in
                guard state.ending == nil else { return (false, false) }
                state.outgoing = state.unsent == 0 ? bytes : state.outgoing[state.sent...] + bytes
                state.sent = 0
                return (true, state.sendingIsPaused)
            }
            if mustWake { loop.look(at: self) }
            return goesOn
        }

        /// Ends the exchange wherever it is. Does nothing once it has ended.
        func fail(_ error: any Error) {
            end(.failed(error))
            loop.look(at: self)
        }

        private func wait(until isReady: @escaping @Sendable (borrowing State) -> Bool) async throws {
            guard !Task.isCancelled else {
                fail(CancellationError())
                throw CancellationError()
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let mustWait = state.withLock { state in
                        guard !isReady(state) else { return false }
                        state.consumer = continuation
                        state.consumerIsReady = isReady
                        return true
                    }
                    if !mustWait { continuation.resume() }
                }
            } onCancel: {
                fail(CancellationError())
            }
        }

        // MARK: Curl's side

        var hasEnded: Bool { state.withLock { $0.ending != nil } }

        /// The transfer has ended: with an error, or well.
        func end(_ error: (any Error)?) { end(error.map { .failed($0) } ?? .whole) }

        private func end(_ ending: Ending) {
            let (consumer, producer, producing) = state.withLock { state in
                if state.ending == nil { state.ending = ending }
                return (state.consumer.take(), state.producer.take(), state.producing.take())
            }
            consumer?.resume()
            producer?.resume()
            producing?.cancel()
        }

        /// Gives curl bytes to send: how many, or curl's word for a pause or for an end.
        func give(_ room: UnsafeMutableRawBufferPointer) -> Int {
            let (count, producer) = state.withLock { state -> (Int, CheckedContinuation<Void, Never>?) in
                guard state.ending == nil else { return (Int(CURL_READFUNC_ABORT), nil) }
                guard state.unsent > 0 else {
                    state.sendingIsPaused = !state.hasAllToSend
                    return (state.hasAllToSend ? 0 : Int(CURL_READFUNC_PAUSE), nil)
                }
                let count = min(room.count, state.unsent)
                unsafe state.outgoing[state.sent..<state.sent + count].withUnsafeBytes {
                    unsafe room.copyMemory(from: $0)
                }
                state.sent += count
                state.lastActivity = Self.now
                return (count, state.unsent < Self.capacity ? state.producer.take() : nil)
            }
            producer?.resume()
            return count
        }

        /// Takes a line of a head; answers whether to go on.
        func takeLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
            let line = unsafe String(decoding: bytes, as: UTF8.self)
            let (goesOn, consumer) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
                state.lastActivity = Self.now
                // What follows a body in chunks is of no interest.
                guard state.ending == nil, !state.head.isWhole else { return (state.ending == nil, nil) }
                state.headBytes += bytes.count
                guard state.headBytes <= Self.longestHead else {
                    state.ending = .failed(TransportError(.malformed, "The head of the answer is too long."))
                    return (false, state.consumer.take())
                }
                state.head.take(line)
                return (true, state.consumerIfReady())
            }
            consumer?.resume()
            return goesOn
        }

        /// Takes bytes of the body: how many, or curl's word for a pause or for an end.
        func take(_ bytes: UnsafeRawBufferPointer) -> Int {
            let (count, consumer) = state.withLock { state -> (Int, CheckedContinuation<Void, Never>?) in
                guard state.ending == nil else { return (-1, nil) }
                guard state.incoming.count < Self.capacity else {
                    state.receivingIsPaused = true
                    return (Int(CURL_WRITEFUNC_PAUSE), nil)
                }
                unsafe state.incoming.append(contentsOf: bytes)
                state.lastActivity = Self.now
                return (bytes.count, state.consumerIfReady())
            }
            consumer?.resume()
            return count
        }

        /// What curl is to hold still from now on; `nil` where nothing changes.
        func newPauses() -> Int32? {
            state.withLock { state in
                let (sending, receiving) = (state.sendingIsPaused, state.receivingIsPaused)
                if state.unsent > 0 || state.hasAllToSend { state.sendingIsPaused = false }
                if state.incoming.count < Self.capacity { state.receivingIsPaused = false }
                guard (state.sendingIsPaused, state.receivingIsPaused) != (sending, receiving) else {
                    return nil
                }
                state.lastActivity = Self.now
                return (state.sendingIsPaused ? CURLPAUSE_SEND : 0)
                    | (state.receivingIsPaused ? CURLPAUSE_RECV : 0)
            }
        }

        /// When it has taken too long, in nanoseconds of ``now``.
        var deadline: UInt64 {
            let whole = options.requestSeconds.map { start.advanced(bySeconds: $0) } ?? .max
            return state.withLock { state in
                // Time that this side takes is not the server's.
                guard !state.sendingIsPaused, !state.receivingIsPaused else { return whole }
                return min(whole, state.lastActivity.advanced(bySeconds: options.idleSeconds))
            }
        }
    }

    extension CurlExchange.Head {
        /// Takes a line with its end. The head is complete after an empty line, unless its status announces another head.
        mutating func take(_ line: String) {
            let text = HTTPHeaders.trimmed(line.filter { $0 != "\r\n" && $0 != "\n" })
            if text.isEmpty {
                isWhole = status >= 200
            } else if text.hasPrefix("HTTP/") {
                status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
                headers = HTTPHeaders()
            } else if let colon = text.firstIndex(of: ":") {
                headers.add(String(text[..<colon]), HTTPHeaders.trimmed(text[text.index(after: colon)...]))
            }
        }
    }

    extension UInt64 {
        /// The time the given number of seconds later, in nanoseconds.
        fileprivate func advanced(bySeconds seconds: Double) -> UInt64 {
            let nanoseconds = UInt64(Swift.min(Swift.max(seconds, 0), 1e9) * 1e9)
            return addingReportingOverflow(nanoseconds).overflow ? .max : self + nanoseconds
        }
    }
#endif
