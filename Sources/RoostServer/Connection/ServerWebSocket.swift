import RoostREST
import RoostWire

/// The server's end of a WebSocket connection: frames, pings, the closing handshake and deadlines.
///
/// Nothing is read while no task receives, and senders wait for the client to read. What is held is one incomplete message, up to
/// the limit, and the pong that is due.
actor ServerWebSocket: WebSocketConnection {
    private let channel: SocketChannel
    private let options: ServerOptions
    private let longestMessage: Int
    private var parser: WebSocketParser
    /// The bytes of frames that were sent.
    private(set) var sentBytes = 0

    /// Whether a frame is being written. The next sender in `senders` takes its turn.
    private var isWriting = false
    private var senders: [CheckedContinuation<Void, Never>] = []
    /// Answers the last ping. An earlier one that was not sent yet is superseded (RFC 6455, section 5.5.3).
    private var pong: [UInt8]?

    /// Why nothing more is received: the client's close, its violation, or a broken connection.
    private var ended: WebSocketClose?
    /// Whether the client's frames can't be understood any more.
    private var isViolated = false
    private var hasSentClose = false
    /// Since when a receiver has waited for the rest of a message.
    private var incompleteSince: UInt64?
    /// Whether anything has come since the last look of the timer.
    private var wasActive = true

    /// - Parameter received: What came behind the head of the handshake.
    init(_ channel: SocketChannel, received: [UInt8], longestMessage: Int, _ options: ServerOptions) {
        self.channel = channel
        self.options = options
        self.longestMessage = longestMessage
        parser = WebSocketParser(readBy: .server, limit: longestMessage)
        parser.receive(received)
    }

    // MARK: Receiving

    func receive() async throws -> WebSocketMessage? {
        while true {
            if let message = try await nextMessage() { return message }
            if let ended {
                if ended.code == 1006 { throw ended }
                return nil
            }
            if parser.isIncomplete { incompleteSince = incompleteSince ?? SocketChannel.now }
            let bytes = await withTaskCancellationHandler {
                await channel.read()
            } onCancel: {
                channel.interruptReading()
            }
            try Task.checkCancellation()
            guard let bytes else { throw fail(WebSocketClose(1006, "The connection ended.")) }
            wasActive = true
            parser.receive(bytes)
        }
    }

    /// The next message of what has come; control frames are dealt with.
    private func nextMessage() async throws -> WebSocketMessage? {
        while ended == nil {
            let event: WebSocketEvent?
            do {
                event = try parser.next()
            } catch {
                isViolated = true
                throw fail(error)
            }
            guard let event else { return nil }
            switch event {
            case .binary(let bytes):
                incompleteSince = nil
                return .binary(bytes)
            case .text(let bytes):
                incompleteSince = nil
                return .text(bytes)
            case .ping(let bytes):
                pong = bytes
                // Who is writing sends it after the present frame: a client that does not read while it sends must not stop us.
                if !isWriting { await write([]) }
            case .pong: break
            case .close(let close): ended = close
            }
        }
        return nil
    }

    private func fail(_ close: WebSocketClose) -> WebSocketClose {
        ended = ended ?? close
        return close
    }

    // MARK: Sending

    func send(_ message: WebSocketMessage) async throws {
        guard !hasSentClose, ended == nil else { throw ended ?? WebSocketClose.normal }
        let event: WebSocketEvent =
            switch message {
            case .binary(let bytes): .binary(bytes)
            case .text(let bytes): .text(bytes)
            }
        guard await write(WebSocketEncoder.encode(event)) else {
            throw fail(WebSocketClose(1006, "The connection broke."))
        }
    }

    /// Writes a frame, in the turn of the senders, and a pong that is due.
    @discardableResult private func write(_ frame: [UInt8]) async -> Bool {
        if isWriting {
            await withCheckedContinuation { senders.append($0) }
        } else {
            isWriting = true
        }
        var isSent = await writeNow(frame)
        while isSent, !hasSentClose, let bytes = pong.take() {
            isSent = await writeNow(WebSocketEncoder.encode(.pong(bytes)))
        }
        if senders.isEmpty {
            isWriting = false
        } else {
            senders.removeFirst().resume()
        }
        return isSent
    }

    private func writeNow(_ bytes: [UInt8]) async -> Bool {
        guard !bytes.isEmpty else { return true }
        sentBytes += bytes.count
        let seconds = UInt64(options.bodySeconds + bytes.count / max(1, options.slowestRate))
        channel.setDeadline(SocketChannel.now + seconds * 1_000_000_000)
        defer { channel.setDeadline(.max) }
        return await channel.write(bytes)
    }

    // MARK: The whole connection

    /// Serves the connection until it ends, with the closing handshake.
    func run(_ upgrade: WebSocketUpgrade, _ activity: ConnectionActivity) async {
        channel.setLongestSilence(3 * UInt64(options.idleSeconds) * 1_000_000_000)
        let seconds = options.idleSeconds
        let timer = Task(executorPreference: SocketExecutor.shared) { [weak self] in
            while (try? await Task.sleep(for: .seconds(seconds))) != nil { await self?.look() }
        }
        let session = Task(executorPreference: SocketExecutor.shared) { await upgrade.serve(self) }
        activity.setEndless { session.cancel() }
        let close = await session.value
        activity.setEndless(nil)
        timer.cancel()
        await finish(close)
    }

    /// Sends a ping to a client that has been silent, and cuts off one that does not complete its message.
    private func look() async {
        if let start = incompleteSince {
            let seconds = options.bodySeconds + longestMessage / max(1, options.slowestRate)
            if SocketChannel.now - start > UInt64(seconds) * 1_000_000_000 { return channel.close() }
        }
        defer { wasActive = false }
        if !wasActive, !isWriting, !hasSentClose { await write(WebSocketEncoder.encode(.ping([]))) }
    }

    /// The closing handshake (RFC 6455, section 7). Who fails the connection names the reason; who answers a close repeats its code.
    private func finish(_ close: WebSocketClose) async {
        let reason = if let ended { ended.code == 1005 ? .normal : ended } else { close }
        if reason.code != 1006 {
            hasSentClose = true
            guard await write(WebSocketEncoder.encode(.close(reason))) else { return }
        }
        // A client that has closed, or is gone, sends nothing more.
        guard ended == nil || isViolated else { return }
        channel.setLongestSilence(2_000_000_000)
        channel.setDeadline(SocketChannel.now + 30_000_000_000)
        if isViolated { channel.finishWriting() }
        // What was on its way is dropped: closing before would make the system throw the close away.
        while ended == nil || isViolated, let bytes = await channel.read() {
            guard !isViolated else { continue }
            parser.receive(bytes)
            while (try? await nextMessage()) != nil {}
        }
    }
}
