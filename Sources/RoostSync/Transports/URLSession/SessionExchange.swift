#if !os(Linux) || ROOST_URLSESSION
    import RoostWire
    import Synchronization

    /// One request and its answer, between the calling task and a task of a session.
    ///
    /// What the session delivers waits here until it is taken. When too much waits, the session is held.
    final class SessionExchange: Sendable {
        /// The head of an answer.
        struct Head: Sendable {
            let status: Int
            let headers: HTTPHeaders
            /// How many bytes of the body there are to be, where that is known.
            let length: UInt64?
        }

        private enum Event: Sendable {
            case head(Head)
            case bytes([UInt8])
        }

        private enum Ending {
            case whole
            case failed(any Error)
        }

        private struct State {
            /// The session's task, until it is done.
            var flow: (any SessionFlow)?
            /// What goes to the server, until the session's task is done: a stream that ended earlier would be taken for whole.
            var writer: UploadWriter?
            /// The body that is being sent, and how often it was begun.
            var body: OutgoingBody?
            var sendings = 0
            /// What sends it.
            var sender: Task<Void, Never>?
            /// What is to end with the exchange.
            var helpers: [Task<Void, Never>] = []
            /// Whether the next piece of the request's body is being made, for which the server has to wait.
            var isMaking = false
            var head: Head?
            var received: UInt64 = 0
            /// How many bytes were delivered and not taken.
            var waiting = 0
            var isHeld = false
            var lastActivity = SuspendingClock.now
            var ending: Ending?
        }

        /// How many bytes wait before the session is held.
        static let capacity = 256 << 10

        /// The server, as messages name it.
        let host: String
        let options: HTTPOptions
        private let hasBody: Bool
        private let start = SuspendingClock.now
        private let state = Mutex(State())
        private let events: AsyncStream<Event>
        private let deliver: AsyncStream<Event>.Continuation

        /// - Parameter hasBody: Whether the answer has a body if its head announces one.
        init(with host: String, _ options: HTTPOptions, hasBody: Bool = true) {
            self.host = host
            self.hasBody = hasBody
            self.options = options
            (events, deliver) = AsyncStream.makeStream()
        }

        // MARK: The calling side

        /// Watches over the task of a session that is about to run.
        func begin(_ flow: any SessionFlow) {
            let watching = Task { await watch() }
            state.withLock { state in
                state.flow = flow
                state.helpers.append(watching)
            }
        }

        /// Sends a body that is a stream as fast as the server takes it. One that is being sent already is given up: the session begins
        /// again.
        func send(_ body: OutgoingBody, by writer: UploadWriter) {
            let (number, former) = state.withLock { state in
                let former = (state.writer, state.sender)
                state.writer = writer
                state.body = body
                state.isMaking = true
                state.sendings += 1
                return (state.sendings, former)
            }
            former.0?.stop()
            former.1?.cancel()
            let task = Task {
                do {
                    let isWhole = try await body.deliver { piece in
                        setMaking(false, in: number)
                        let wantsMore = await writer.write(piece)
                        setMaking(true, in: number)
                        return wantsMore
                    }
                    setMaking(false, in: number)
                    if isWhole { writer.close() }
                } catch {
                    if state.withLock({ $0.sendings }) == number { fail(error) }
                }
            }
            state.withLock { if $0.sendings == number { $0.sender = task } }
        }

        /// The body from its beginning, for a session that wants to send it once more. The exchange fails where it can't be made again.
        func bodyAgain() -> OutgoingBody? {
            if let body = state.withLock({ $0.body?.again }) { return body }
            fail(TransportError(.interrupted, "\(host): the connection was closed while a body was sent."))
            return nil
        }

        /// Waits for the head of the answer.
        func head() async throws -> Head {
            guard case .head(let head)? = try await next() else {
                throw TransportError(.interrupted, "\(host): the answer has no head.")
            }
            return head
        }

        /// The next bytes of the answer; `nil` at its end.
        func nextBytes() async throws -> [UInt8]? {
            guard case .bytes(let bytes)? = try await next() else { return nil }
            state.withLock { state in
                state.waiting -= bytes.count
                guard state.isHeld, state.waiting < Self.capacity else { return }
                state.isHeld = false
                state.lastActivity = .now
                state.flow?.goOn()
            }
            return bytes
        }

        private func next() async throws -> Event? {
            guard !Task.isCancelled else {
                fail(CancellationError())
                throw CancellationError()
            }
            var iterator = events.makeAsyncIterator()
            if let event = await iterator.next() { return event }
            switch state.withLock({ $0.ending }) {
            case .whole?: return nil
            case .failed(let error)?: throw error
            case nil:
                fail(CancellationError())
                throw CancellationError()
            }
        }

        /// Ends the exchange wherever it is. Does nothing once it has ended.
        func fail(_ error: any Error) { end(.failed(error)) }

        private func setMaking(_ isMaking: Bool, in sending: Int) {
            state.withLock { state in
                guard state.sendings == sending else { return }
                state.isMaking = isMaking
                state.lastActivity = .now
            }
        }

        private func end(_ ending: Ending) {
            let ended = state.withLock { state -> State? in
                guard state.ending == nil else { return nil }
                state.ending = ending
                defer { (state.helpers, state.sender) = ([], nil) }
                return state
            }
            guard let ended else { return }
            deliver.finish()
            if case .failed = ending { ended.flow?.cancel() }
            ended.writer?.stop()
            for helper in ended.helpers { helper.cancel() }
            ended.sender?.cancel()
        }

        // MARK: The session's side

        /// Something went to the server.
        func noteSending() { state.withLock { $0.lastActivity = .now } }

        func take(_ head: Head) {
            state.withLock { state in
                state.head = head
                state.lastActivity = .now
            }
            deliver.yield(.head(head))
        }

        func take(_ bytes: [UInt8]) {
            guard !bytes.isEmpty else { return }
            state.withLock { state in
                guard state.ending == nil else { return }
                state.received += UInt64(bytes.count)
                state.waiting += bytes.count
                state.lastActivity = .now
                guard state.waiting >= Self.capacity, !state.isHeld else { return }
                state.isHeld = true
                state.flow?.hold()
            }
            deliver.yield(.bytes(bytes))
        }

        /// The session's task is done.
        ///
        /// - Parameter head: That of the answer, where the session has not delivered it before.
        func finish(_ error: TransportError?, head: @autoclosure () -> Head?) {
            let (seen, received) = state.withLock { ($0.head, $0.received) }
            if let error {
                fail(error)
            } else if let whole = seen ?? head() {
                if seen == nil { take(whole) }
                // A session may take a body that was cut for whole.
                if let length = whole.length, received < length, hasBody {
                    fail(TransportError(.interrupted, "\(host): the answer ended after \(received) bytes."))
                }
            } else {
                fail(TransportError(.interrupted, "\(host): the answer has no head."))
            }
            end(.whole)
            state.withLock { state in
                state.flow = nil
                state.writer = nil
            }
        }

        // MARK: Time

        /// Ends the exchange when it takes too long.
        private func watch() async {
            while let deadline = deadline(at: .now) {
                guard deadline > .now else {
                    return fail(TransportError(.timedOut, "\(host) took too long to answer."))
                }
                try? await Task.sleep(until: deadline, clock: .suspending)
            }
        }

        /// When to look again, and to end it unless something has happened until then; `nil` once it has ended.
        func deadline(at now: SuspendingClock.Instant) -> SuspendingClock.Instant? {
            let idle = Self.duration(options.idleSeconds)
            let whole = options.requestSeconds.map { start.advanced(by: Self.duration($0)) }
            return state.withLock { state in
                guard state.ending == nil else { return nil }
                // Time that this side takes is not the server's.
                let last = state.isHeld || state.isMaking ? now : state.lastActivity
                return min(last.advanced(by: idle), whole ?? last.advanced(by: idle))
            }
        }

        private static func duration(_ seconds: Double) -> Duration { .seconds(min(max(seconds, 0), 1e9)) }
    }

    /// What an exchange does to the task of a session. It is called with a lock held, and must not call back.
    protocol SessionFlow: Sendable {
        /// Stops reading from the server.
        func hold()
        /// Reads again.
        func goOn()
        /// Ends the task.
        func cancel()
    }

    /// The body of an answer. Letting go of it ends the exchange.
    final class SessionBody: BodyStream {
        private let exchange: SessionExchange

        init(_ exchange: SessionExchange) { self.exchange = exchange }

        deinit { exchange.fail(CancellationError()) }

        func next() async throws -> [UInt8]? { try await exchange.nextBytes() }
    }
#endif
