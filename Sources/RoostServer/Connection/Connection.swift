import Foundation
import RoostREST
import RoostWire

/// One client: reads its requests one after another and answers them.
actor Connection {
    /// How much is read of a body that the handler left, so that the next request is found behind it.
    private static let mostDrained = 1 << 20
    /// How many nanoseconds a client may go on sending after the answer, and how many of them without a byte.
    private static let longestLinger: UInt64 = 30_000_000_000
    private static let longestSilence: UInt64 = 2_000_000_000

    private let channel: SocketChannel
    private let handler: any RequestHandler
    private let statistics: ServerStatistics
    private let options: ServerOptions
    private let hosts: HostCheck
    /// The name of the server that the client used last, and was permitted: it seldom uses another.
    private var permittedHost: String?
    /// The last date that was sent, and its second.
    private var date = (second: 0, text: "")
    private var parser: MessageParser<RequestHead>
    /// Whether the body of the present request goes on.
    private var isInBody = false
    /// Whether the client waits for `100 Continue`.
    private var expectsContinue = false
    private var bodyFailure: WireError?
    private var bodyStart: UInt64 = 0
    private var bodyBytes = 0
    /// Set while a request is being answered; the server stops the others first.
    let activity: ConnectionActivity

    init(
        _ channel: SocketChannel, _ handler: any RequestHandler, _ statistics: ServerStatistics,
        _ options: ServerOptions, _ hosts: HostCheck, _ activity: ConnectionActivity
    ) {
        self.channel = channel
        self.handler = handler
        self.statistics = statistics
        self.options = options
        self.hosts = hosts
        self.activity = activity
        parser = MessageParser(limits: options.limits)
    }

    /// Serves the client until either side has had enough.
    func run() async {
        defer { channel.close() }
        // As long as a head may take, which is what a handshake is before the first.
        setDeadline(options.headSeconds)
        guard await channel.establish() else { return }
        while !activity.isStopping {
            do {
                guard let (head, framing) = try await nextHead() else { return channel.finishWriting() }
                guard activity.begin() else { return }
                let goesOn = await answer(head, framing)
                activity.end()
                guard goesOn else { return }
            } catch {
                await refuse(error as? WireError ?? cut())
                return
            }
        }
    }

    // MARK: Requests

    private func nextHead() async throws -> (RequestHead, BodyFraming)? {
        var isWaiting = parser.pending == 0
        setDeadline(isWaiting ? options.idleSeconds : options.headSeconds)
        while true {
            if case .head(let head, let framing)? = try parser.next() { return (head, framing) }
            guard let bytes = await channel.read() else { return nil }
            if isWaiting {
                isWaiting = false
                setDeadline(options.headSeconds)
            }
            parser.receive(bytes)
        }
    }

    /// Answers one request.
    ///
    /// - Returns: Whether another may follow.
    private func answer(_ head: RequestHead, _ framing: BodyFraming) async -> Bool {
        let start = SocketChannel.now
        isInBody = true
        bodyFailure = nil
        bodyStart = start
        bodyBytes = 0
        let expectation = head.headers["Expect"]
        expectsContinue = expectation?.lowercased() == "100-continue" && framing != .none
        var request = HTTPRequest(
            head.method, head.target, headers: head.headers,
            body: framing == .none ? nil : IncomingBody(connection: self), peer: channel.peer)
        request.isSecure = channel.isSecure
        request.client = channel
        if request.headers["Host"] == nil { request.headers["Host"] = "localhost" }
        channel.setDeadline(.max)
        var response: HTTPResponse
        if !permits(head.headers["Host"]) {
            response = unasked(421, "This server does not answer to that name.")
        } else if let expectation, expectation.lowercased() != "100-continue" {
            response = unasked(417, "expectation_failed")
        } else {
            response = await handler.respond(to: request)
        }
        response.headers["Date"] = dateText()
        if let bodyFailure, response.status < 400 {
            // The handler was content with half a body; the client must not take it for whole.
            response = Self.failure(bodyFailure.status, bodyFailure.description)
        }
        if let upgrade = response.upgrade {
            guard head.minorVersion == 1, !activity.isStopping else {
                response = unasked(400, "An upgrade needs HTTP/1.1.")
                _ = await write(response, head, keepsAlive: false)
                return false
            }
            log(head, response, await run(upgrade, response, head), start)
            return false
        }
        // A client that got no `100 Continue` may send its body or not.
        let mayGoOn = !expectsContinue && bodyFailure == nil && !activity.isStopping
        let (written, goesOn) = await write(response, head, keepsAlive: head.keepsAlive && mayGoOn)
        log(head, response, written, start)
        if goesOn, await drain() { return true }
        await lingerBeforeClose()
        return false
    }

    private func permits(_ host: String?) -> Bool {
        if let host, host == permittedHost { return true }
        guard hosts.permits(host) else { return false }
        permittedHost = host
        return true
    }

    /// The date of now, which has no parts of a second.
    private func dateText() -> String {
        let second = Int(Date().timeIntervalSince1970)
        if date.second != second { date = (second, HTTPDate.text(secondsSince1970: second)) }
        return date.text
    }

    fileprivate func nextBodyBytes() async throws -> [UInt8]? {
        guard isInBody else { return nil }
        if let bodyFailure { throw bodyFailure }
        if expectsContinue {
            expectsContinue = false
            guard await channel.write(MessageEncoder.continue) else { throw cut() }
        }
        do {
            while true {
                switch try parser.next() {
                case .body(let bytes):
                    bodyBytes += bytes.count
                    return bytes
                case .end, .head:
                    isInBody = false
                    channel.setDeadline(.max)
                    return nil
                case nil: break
                }
                channel.setDeadline(due(since: bodyStart, bytes: bodyBytes))
                guard let bytes = await channel.read() else { throw cut() }
                parser.receive(bytes)
            }
        } catch {
            bodyFailure = error as? WireError ?? cut()
            throw error
        }
    }

    private func cut() -> WireError { WireError(400, "The connection ended within the body.") }

    /// Reads what is left of the body; answers whether the end was found.
    private func drain() async -> Bool {
        guard !expectsContinue else { return false }
        var left = Self.mostDrained
        while isInBody {
            guard let bytes = try? await nextBodyBytes() else { break }
            left -= bytes.count
            if left < 0 { return false }
        }
        return !isInBody && bodyFailure == nil
    }

    // MARK: Answers

    /// Sends an answer.
    ///
    /// - Returns: How many bytes of the body went out, and whether another request may follow.
    private func write(
        _ response: HTTPResponse, _ head: RequestHead, keepsAlive: Bool
    ) async -> (Int, Bool) {
        let (bytes, framing, goesOn) = MessageEncoder.head(
            of: response, answering: head.method, minorVersion: head.minorVersion, keepsAlive: keepsAlive)
        switch (response.body, framing) {
        case (_, .none): return (0, await send(bytes) && goesOn)
        case (.none, _): return (0, await send(bytes) && goesOn)
        case (.bytes(let body), _): return (body.count, await send(bytes + body) && goesOn)
        case (.stream(let stream, _), _):
            let job = StreamJob(channel: channel, stream: stream, framing: framing, pace: self)
            let (count, isWhole) = await job.run(after: bytes, isEndless: response.isEndless, activity)
            // Half an answer must not look like a whole one. To a client of HTTP/1.0 it ends with the connection.
            if !isWhole, framing == .untilClose { channel.close(asBroken: true) }
            return (count, isWhole && goesOn)
        }
    }

    /// Sends the head of an answer and serves the WebSocket that the connection becomes.
    ///
    /// - Returns: How many bytes were sent after the head.
    private func run(
        _ upgrade: WebSocketUpgrade, _ response: HTTPResponse, _ head: RequestHead
    ) async -> Int {
        let (bytes, _, _) = MessageEncoder.head(
            of: response, answering: head.method, minorVersion: head.minorVersion, keepsAlive: false)
        guard await send(bytes) else { return 0 }
        isInBody = false
        let socket = ServerWebSocket(
            channel, received: parser.takeRest(), longestMessage: upgrade.longestMessage, options)
        statistics.countWebSocket()
        await socket.run(upgrade, activity)
        statistics.countEndOfWebSocket()
        channel.finishWriting()
        return await socket.sentBytes
    }

    /// Sends bytes within the time that a client has for them.
    func send(_ bytes: [UInt8]) async -> Bool {
        channel.setDeadline(due(since: SocketChannel.now, bytes: bytes.count))
        defer { channel.setDeadline(.max) }
        return await channel.write(bytes)
    }

    private func refuse(_ error: WireError) async {
        let start = SocketChannel.now
        let response = unasked(error.status, error.description)
        let (bytes, _, _) = MessageEncoder.head(
            of: response, answering: "GET", minorVersion: 1, keepsAlive: false)
        if case .bytes(let body) = response.body { _ = await send(bytes + body) }
        log(nil, response, 0, start)
        await lingerBeforeClose()
    }

    /// Takes what the client still sends, and forgets it: many clients read the answer only when they have sent all, and
    /// closing before would make the system throw the answer away.
    private func lingerBeforeClose() async {
        channel.finishWriting()
        channel.setLongestSilence(Self.longestSilence)
        channel.setDeadline(SocketChannel.now + Self.longestLinger)
        while await channel.read() != nil {}
    }

    /// An answer without the handler.
    private func unasked(_ status: Int, _ reason: String) -> HTTPResponse {
        statistics.countAnswer(status)
        return Self.failure(status, reason)
    }

    static func failure(_ status: Int, _ reason: String) -> HTTPResponse {
        let word = HTTPResponse.phrase(status).lowercased().split(separator: " ").joined(separator: "_")
        let text = reason.filter { $0 != "\"" && $0 != "\\" }
        return HTTPResponse(
            status, headers: ["Content-Type": "application/json"],
            body: .bytes(Array("{\"error\":\"\(word)\",\"reason\":\"\(text)\"}\n".utf8)))
    }

    // MARK: Time

    private func setDeadline(_ seconds: Int) {
        channel.setDeadline(SocketChannel.now + UInt64(seconds) * 1_000_000_000)
    }

    /// The deadline for that many bytes that were begun at `start`.
    private func due(since start: UInt64, bytes: Int) -> UInt64 {
        let seconds = UInt64(options.bodySeconds + bytes / max(1, options.slowestRate))
        return start + seconds * 1_000_000_000
    }

    private func log(_ head: RequestHead?, _ response: HTTPResponse, _ count: Int, _ start: UInt64) {
        guard let log = options.log else { return }
        let entry = LogEntry(
            peer: channel.peer, user: response.user, head: head, status: response.status,
            request: response.headers["X-Couch-Request-ID"], count: count,
            microseconds: (SocketChannel.now - start) / 1000)
        log(entry.line(options.logFormat))
    }
}

/// The body of the request that a connection is answering.
private struct IncomingBody: BodyStream {
    let connection: Connection

    func next() async throws -> [UInt8]? { try await connection.nextBodyBytes() }
}

/// Sends a body that is made while it is sent, by a task that is cancelled when the client hangs up.
struct StreamJob: Sendable {
    /// How long a piece may be that is copied behind what goes before it.
    private static let longestCopied = 64 << 10

    let channel: SocketChannel
    let stream: any BodyStream
    let framing: BodyFraming
    let pace: Connection

    /// - Parameter head: What goes before the body.
    /// - Returns: How many bytes of the body went out, and whether it is whole.
    func run(after head: [UInt8], isEndless: Bool, _ activity: ConnectionActivity) async -> (Int, Bool) {
        let task = Task(executorPreference: SocketExecutor.shared) { await send(after: head) }
        if isEndless { activity.setEndless { task.cancel() } }
        channel.watch { task.cancel() }
        let result = await task.value
        channel.stopWatching()
        if isEndless { activity.setEndless(nil) }
        return result
    }

    private func send(after head: [UInt8]) async -> (Int, Bool) {
        var pending = head
        var count = 0
        do {
            while let piece = try await stream.next() {
                count += piece.count
                if framing == .chunked { pending += MessageEncoder.chunkStart(piece.count) }
                if piece.count > Self.longestCopied {
                    guard await pace.send(pending), await pace.send(piece) else { return (count, false) }
                    pending = []
                } else {
                    pending += piece
                }
                if framing == .chunked { pending += MessageEncoder.chunkEnd }
                guard pending.isEmpty ? true : await pace.send(pending) else { return (count, false) }
                pending = []
            }
        } catch {
            return (count, false)
        }
        if case .length(let length) = framing, UInt64(count) != length { return (count, false) }
        if framing == .chunked { pending += MessageEncoder.lastChunk }
        return (count, pending.isEmpty ? true : await pace.send(pending))
    }
}

/// Which names a client may know the server by.
struct HostCheck: Sendable {
    private let isLoopback: Bool
    private let names: Set<String>

    init(_ options: ServerOptions) {
        isLoopback = options.address.hasPrefix("127.") || options.address == "::1"
        names = Set(options.hosts.map { $0.lowercased() })
    }

    /// Whether `Host` is a name of this machine, or one that was listed.
    func permits(_ host: String?) -> Bool {
        guard isLoopback, let host = host?.lowercased() else { return true }
        if names.contains(host) { return true }
        let name: Substring
        let port: Substring
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
            name = host[host.index(after: host.startIndex)..<end]
            port = host[host.index(after: end)...]
        } else {
            name = host.prefix { $0 != ":" }
            port = host[name.endIndex...]
        }
        // A name may go on where a port is expected.
        guard port.isEmpty || port.first == ":" && (port.count == 1 || UInt16(port.dropFirst()) != nil) else {
            return false
        }
        return name == "localhost" || name == "::1" || names.contains(String(name)) || Self.isLoopback(name)
    }

    private static func isLoopback(_ name: Substring) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
