import RoostWire

/// Where a session accounts for the memory of what has arrived and was not processed.
package protocol BLIPMemory: Sendable {
    /// Reserves memory, and waits for it where others hold it.
    ///
    /// - Throws: Where it does not become free in time. The session then ends.
    func reserve(_ bytes: Int) async throws
    /// Releases memory that was reserved.
    func release(_ bytes: Int)
}

/// A BLIP connection over a WebSocket: calls a handler for each request that arrives, and sends requests and awaits their replies.
///
/// Bodies arrive and leave piece by piece. The other side waits while what it sent is not consumed, and producers of bodies wait
/// while it does not read. What has arrived is reserved in a ``BLIPMemory`` before it is kept.
package actor BLIPSession {
    /// The limits of what the other side may do.
    package struct Limits: Sendable {
        package var connection = BLIPConnection.Limits()
        /// The number of its requests that may be unanswered at a time. A peer that sends more is cut off.
        package var openRequests = 256
        /// How long a reply, or the rest of a message, may be due without any frame of the other side before the session ends. A
        /// client may answer a revision only after it has fetched its blobs.
        package var longestSilence = Duration.seconds(300)

        package init() {}
    }

    /// A request that the other side sent.
    package struct Request: Sendable {
        /// Its place among all requests of the other side, from 1. Handlers run concurrently; this tells the order.
        package let number: UInt64
        package let properties: BLIPProperties
        /// The body, as it arrives.
        package let body: Body
        /// Whether an answer is sent.
        package let wantsReply: Bool

        /// The request's kind.
        package var profile: String { properties["Profile"] ?? "" }
    }

    /// What a request is answered with.
    package enum Answer: Sendable {
        case message(BLIPMessage, BLIPConnection.Options = [])
        /// See ``BLIPMessage/init(errorIn:code:_:)``.
        case failure(BLIPMessage)
        /// A message whose body is produced as it is sent, without what `BLIPMessage` has of it.
        case stream(BLIPMessage, any BodyStream, BLIPConnection.Options = [])

        /// Success, with nothing to say.
        package static let done = Answer.message(BLIPMessage())
    }

    package typealias Handler = @Sendable (Request) async -> Answer

    /// A reply that has begun to arrive.
    package struct Response: Sendable {
        package let properties: BLIPProperties
        package let isError: Bool
        package let body: Body
    }

    /// A body that arrives. One task reads it.
    package struct Body: BodyStream {
        fileprivate let session: BLIPSession
        fileprivate let id: BLIPConnection.MessageID

        package func next() async throws -> [UInt8]? { try await session.nextPiece(of: id) }
    }

    /// What has arrived of a body and was not consumed.
    private struct Inbox {
        var pieces: [[UInt8]] = []
        var isComplete = false
        /// Whether the caller no longer wants the rest.
        var isDiscarded = false
        var reader: CheckedContinuation<Void, Never>?
        /// Since when the reader waits.
        var waitsSince: ContinuousClock.Instant?
    }

    private struct Pending {
        let continuation: CheckedContinuation<Response, any Error>
        let start: ContinuousClock.Instant
    }

    /// What producers of bodies keep ahead of the network.
    private static let mostBacklog = 64 << 10
    /// How often the time of replies is looked at.
    private static let interval = Duration.seconds(15)

    private let socket: any WebSocketConnection
    private let limits: Limits
    private let memory: any BLIPMemory
    private var connection: BLIPConnection
    private var inboxes: [BLIPConnection.MessageID: Inbox] = [:]
    private var pending: [UInt64: Pending] = [:]
    /// The producers of bodies that wait until some of theirs has left.
    private var producers: [BLIPConnection.MessageID: CheckedContinuation<Void, Never>] = [:]
    private var openRequests = 0
    private var lastFrame = ContinuousClock.now
    private var end: WebSocketClose?
    /// Yields when there may be a frame to send.
    private let frames: AsyncStream<Void>
    private let wakeWriter: AsyncStream<Void>.Continuation
    /// Yields why the session is to end.
    private let closes: AsyncStream<WebSocketClose>
    private let closing: AsyncStream<WebSocketClose>.Continuation

    package init(
        _ socket: any WebSocketConnection, limits: Limits = Limits(), memory: any BLIPMemory
    ) {
        self.socket = socket
        self.limits = limits
        self.memory = memory
        connection = BLIPConnection(limits: limits.connection)
        (frames, wakeWriter) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (closes, closing) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    // MARK: The session

    /// Serves the connection until either side ends it, or the task is cancelled.
    ///
    /// - Parameter handler: Answers a request. Several run at a time.
    /// - Returns: Why it ended, which the owner of the WebSocket closes it with.
    package func run(_ handler: @escaping Handler) async -> WebSocketClose {
        await withTaskGroup(of: WebSocketClose.self) { group in
            group.addTask { await self.read(handler) }
            group.addTask { await self.write() }
            group.addTask { await self.watchReplies() }
            group.addTask { [closes] in
                for await close in closes { return close }
                return WebSocketClose(1001)
            }
            let close = await group.next() ?? .normal
            finish(close)
            group.cancelAll()
            return close
        }
    }

    /// Ends the session.
    package nonisolated func close(_ reason: WebSocketClose) { closing.yield(reason) }

    /// Resumes all tasks that wait for the connection.
    private func finish(_ close: WebSocketClose) {
        end = end ?? close
        for waiter in pending.values { waiter.continuation.resume(throwing: close) }
        for producer in producers.values { producer.resume() }
        pending = [:]
        producers = [:]
        for id in inboxes.keys {
            let reader = inboxes[id]?.reader.take()
            discard(id)
            reader?.resume()
        }
    }

    /// How long nothing has come from the other side.
    package var silence: Duration { ContinuousClock.now - lastFrame }

    /// Why the session has ended, once it has.
    package var ended: WebSocketClose? { end }

    // MARK: Receiving

    private func read(_ handler: @escaping Handler) async -> WebSocketClose {
        await withDiscardingTaskGroup { group in
            let close: WebSocketClose
            do {
                while let message = try await socket.receive() {
                    guard case .binary(let bytes) = message else {
                        throw WebSocketClose(1003, "BLIP has no text messages.")
                    }
                    lastFrame = .now
                    for event in try connection.receive(bytes) {
                        guard let (id, request) = try await take(event) else { continue }
                        group.addTask { await self.answer(id, request, handler) }
                    }
                    // For acknowledgements, and for messages that were acknowledged.
                    wakeWriter.yield()
                    guard openRequests <= limits.openRequests else {
                        throw WebSocketClose(1008, "Too many requests are unanswered.")
                    }
                }
                close = .normal
            } catch let error as WebSocketClose {
                close = error
            } catch let error as BLIPError {
                close = WebSocketClose(1002, error.description)
            } catch is CancellationError {
                close = WebSocketClose(1001)
            } catch {
                close = WebSocketClose(1013, "There is no memory for what has arrived.")
            }
            // Handlers may wait for what does not come any more.
            finish(close)
            group.cancelAll()
            return close
        }
    }

    /// Takes what has arrived.
    ///
    /// - Returns: A request that has begun.
    private func take(
        _ event: BLIPConnection.Event
    ) async throws -> (BLIPConnection.MessageID, Request)? {
        switch event {
        case .began(let id, let properties, let isError, let wantsReply):
            let body = Body(session: self, id: id)
            guard id.isReply else {
                try await memory.reserve(properties.size)
                inboxes[id] = Inbox()
                openRequests += 1
                let request = Request(
                    number: id.number, properties: properties, body: body, wantsReply: wantsReply)
                return (id, request)
            }
            inboxes[id] = Inbox()
            pending.removeValue(forKey: id.number)?.continuation
                .resume(returning: Response(properties: properties, isError: isError, body: body))
        case .body(let id, let bytes):
            if inboxes[id]?.isDiscarded == false { try await memory.reserve(bytes.count) }
            guard inboxes[id]?.isDiscarded == false else {
                connection.consumed(bytes.count, of: id)
                return nil
            }
            inboxes[id]?.pieces.append(bytes)
            inboxes[id]?.reader.take()?.resume()
        case .ended(let id):
            inboxes[id]?.isComplete = true
            inboxes[id]?.reader.take()?.resume()
            if inboxes[id]?.isDiscarded == true { inboxes[id] = nil }
        }
        return nil
    }

    private func nextPiece(of id: BLIPConnection.MessageID) async throws -> [UInt8]? {
        while true {
            guard let inbox = inboxes[id], !inbox.isDiscarded else {
                if let end { throw end }
                return nil
            }
            if !inbox.pieces.isEmpty, let piece = inboxes[id]?.pieces.removeFirst() {
                memory.release(piece.count)
                connection.consumed(piece.count, of: id)
                wakeWriter.yield()
                return piece
            }
            if inbox.isComplete { return nil }
            inboxes[id]?.waitsSince = .now
            await withCheckedContinuation { inboxes[id]?.reader = $0 }
            inboxes[id]?.waitsSince = nil
        }
    }

    /// Drops what is left of a body, also what has not arrived.
    private func discard(_ id: BLIPConnection.MessageID) {
        guard let inbox = inboxes[id] else { return }
        for piece in inbox.pieces {
            memory.release(piece.count)
            connection.consumed(piece.count, of: id)
        }
        inboxes[id]?.pieces = []
        inboxes[id]?.isDiscarded = true
        if inbox.isComplete { inboxes[id] = nil }
        wakeWriter.yield()
    }

    // MARK: Answering

    private func answer(_ id: BLIPConnection.MessageID, _ request: Request, _ handler: Handler) async {
        let answer = await handler(request)
        discard(id)
        memory.release(request.properties.size)
        openRequests -= 1
        switch answer {
        case .message(let message, let options): connection.reply(to: id, message, options: options)
        case .failure(let message): connection.reply(to: id, message, isError: true)
        case .stream(let message, let body, let options):
            guard request.wantsReply else { return }
            connection.reply(to: id, message, options: options, isComplete: false)
            await produce(body, for: BLIPConnection.MessageID(id.number, isReply: true))
        }
        wakeWriter.yield()
    }

    /// Sends the rest of a message.
    private func produce(_ body: any BodyStream, for id: BLIPConnection.MessageID) async {
        do {
            while end == nil, let piece = try await body.next() {
                connection.append(piece, to: id, isLast: false)
                wakeWriter.yield()
                while end == nil, connection.backlog(of: id) > Self.mostBacklog {
                    await withCheckedContinuation { producers[id] = $0 }
                }
            }
            connection.append([], to: id, isLast: true)
        } catch {
            // Half a body must not look like a whole one.
            close(WebSocketClose(1011, "A body could not be read to its end."))
        }
    }

    // MARK: Requesting

    /// Sends a request and waits until its reply begins. ``discard(_:)`` must be called when the body is no longer needed.
    ///
    /// - Throws: Why the session ended.
    package func response(
        to message: BLIPMessage, options: BLIPConnection.Options = []
    ) async throws -> Response {
        if let end { throw end }
        let id = connection.send(message, options: options.subtracting(.noReply))
        wakeWriter.yield()
        return try await withCheckedThrowingContinuation { continuation in
            pending[id.number] = Pending(continuation: continuation, start: .now)
        }
    }

    /// Drops what is left of a reply.
    package func discard(_ response: Response) { discard(response.body.id) }

    /// Sends a request and returns its reply.
    ///
    /// - Parameter limit: The largest body, in bytes.
    /// - Throws: Why the session ended; `WireError` 413 for a larger body.
    package func reply(
        to message: BLIPMessage, options: BLIPConnection.Options = [], limit: Int = 4 << 20
    ) async throws -> (message: BLIPMessage, isError: Bool) {
        let response = try await response(to: message, options: options)
        defer { discard(response) }
        let body = try await response.body.collect(limit: limit)
        return (BLIPMessage(response.properties, body: body), response.isError)
    }

    /// Sends a request that wants no reply.
    package func notify(_ message: BLIPMessage) {
        guard end == nil else { return }
        _ = connection.send(message, options: .noReply)
        wakeWriter.yield()
    }

    // MARK: Sending

    private func write() async -> WebSocketClose {
        do {
            for await _ in frames {
                while let frame = connection.nextFrame() {
                    for id in producers.keys where connection.backlog(of: id) <= Self.mostBacklog {
                        producers.removeValue(forKey: id)?.resume()
                    }
                    try await socket.send(.binary(frame))
                }
            }
            return WebSocketClose(1001)
        } catch {
            return error as? WebSocketClose ?? WebSocketClose(1006)
        }
    }

    /// Returns when something has taken too long.
    private func watchReplies() async -> WebSocketClose {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            let latest = ContinuousClock.now - limits.longestSilence
            guard lastFrame < latest else { continue }
            let isDue =
                pending.values.contains { $0.start < latest }
                || inboxes.values.contains { $0.waitsSince.map { $0 < latest } ?? false }
            if isDue { return WebSocketClose(1008, "An answer, or the rest of a message, did not arrive.") }
        }
        return WebSocketClose(1001)
    }
}
