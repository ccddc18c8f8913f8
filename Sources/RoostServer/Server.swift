import Foundation
import RoostREST
import RoostWire
import Synchronization

/// Listens for clients over HTTP/1.1 and has their requests answered.
///
/// ```swift
/// let router = Router(try DatabaseDirectory("databases"), options: routerOptions)
/// let server = try HTTPServer(router)
/// try await server.run()
/// ```
///
/// By default only programs on the same machine can connect. Connections that wait take no thread. It may be used from any
/// thread.
public final class HTTPServer: Sendable {
    private struct Listener {
        let socket: Int32
        let watch: UInt64?
    }

    private struct State {
        /// What listens; `nil` once the server is stopped.
        var listener: Listener?
        var clients: ClientTable
        var isStopped = false
        var end: [CheckedContinuation<Void, Never>] = []
        /// What new clients are shown; `nil` where nothing is encrypted.
        var identity: TLSIdentity?
        /// Whether a thread, or a job that is queued, accepts clients.
        var isAccepting = false

        /// Whether the caller is to accept clients, since nobody does.
        mutating func beginAccepting() -> Bool {
            guard !isAccepting else { return false }
            isAccepting = true
            return true
        }

        /// The next client; `nil` where there is none, and nobody accepts any more.
        mutating func accept() -> (socket: Int32, peer: String)? {
            let client = listener.flatMap { SystemSockets.accept($0.socket) }
            if client == nil { isAccepting = false }
            return client
        }
    }

    /// How many clients are accepted before others are served.
    private static let mostAtOnce = 16

    /// How long from one look at the deadlines to the next.
    private static let interval = Duration.milliseconds(250)

    /// The port that it listens at.
    public let port: UInt16
    private let options: ServerOptions
    private let handler: any RequestHandler
    private let statistics: ServerStatistics
    private let hosts: HostCheck
    private let executor = SocketExecutor.shared
    private let state: Mutex<State>

    /// Begins to listen.
    ///
    /// - Throws: ``SocketError`` when the address is not this machine's, or another program listens there.
    public init(_ handler: any RequestHandler, options: ServerOptions = ServerOptions()) throws(SocketError) {
        self.handler = handler
        statistics = handler.statistics
        self.options = options
        hosts = HostCheck(options)
        state = Mutex(
            State(clients: ClientTable(limit: options.connections, share: options.connectionsOfAddress)))
        statistics.countConnectionLimit(options.connections)
        let socket: Int32
        (socket, port) = try SystemSockets.listen(options.address, options.port)
        state.withLock { state in
            state.identity = options.identity
            let watch = executor.watch(socket) { [weak self] _ in self?.acceptAll() }
            state.listener = Listener(socket: socket, watch: watch)
        }
        let interval = Self.interval
        Task(executorPreference: executor) { [weak self] in
            while self?.lookAround() == true { try? await Task.sleep(for: interval) }
        }
    }

    deinit { stopListening() }

    private func stopListening() {
        state.withLock { state in
            guard let listener = state.listener.take() else { return }
            if let watch = listener.watch { executor.unwatch(listener.socket, watch) }
            SystemSockets.close(listener.socket)
        }
    }

    /// The address that clients on this machine can use.
    public var url: String {
        let host = options.address.contains(":") ? "[\(options.address)]" : options.address
        return "\(options.identity == nil ? "http" : "https")://\(host):\(port)"
    }

    /// Shows clients that come from now on another identity, such as a certificate that was renewed. Connections that are
    /// there stay as they are. A server that began without one does not encrypt.
    public func use(_ identity: TLSIdentity) {
        state.withLock { state in if state.identity != nil { state.identity = identity } }
    }

    /// Returns when the server has been stopped. When the task is cancelled, it stops the server.
    public func run() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isStopped = state.withLock { state in
                    if state.isStopped { return true }
                    state.end.append(continuation)
                    return false
                }
                if isStopped { continuation.resume() }
            }
        } onCancel: {
            Task { await self.stop() }
        }
    }

    /// Takes no more clients, ends feeds, lets requests that are under way finish for as long as
    /// ``ServerOptions/stopSeconds``, and cuts the rest.
    public func stop() async {
        let clients = state.withLock { state in
            defer { state.isStopped = true }
            return state.isStopped ? [] : state.clients.all
        }
        stopListening()
        for client in clients { client.activity.stop() }
        for _ in 0..<max(1, options.stopSeconds * 20) {
            for client in clients where !client.activity.isBusy {
                client.channel.finishWriting()
                client.channel.close()
            }
            if state.withLock({ $0.clients.isEmpty }) { break }
            try? await Task.sleep(for: .milliseconds(50))
        }
        for client in clients { client.channel.close() }
        let waiting = state.withLock { state in
            defer { state.end = [] }
            return state.end
        }
        for continuation in waiting { continuation.resume() }
    }

    /// How many clients are connected.
    public var connectionCount: Int { state.withLock { $0.clients.count } }

    /// Takes the clients that are waiting, some at a time: clients that have been taken are served between.
    private func acceptAll() {
        guard state.withLock({ state in state.beginAccepting() }) else { return }
        acceptSome()
    }

    private func acceptSome() {
        for _ in 0..<Self.mostAtOnce {
            guard let (socket, peer) = state.withLock({ $0.accept() }) else { return }
            let identity = state.withLock { $0.identity }
            let cipher = identity?.makeCipher()
            let channel = SocketChannel(socket, peer: peer, statistics: statistics, cipher: cipher)
            guard identity == nil || cipher != nil else {
                channel.close()
                continue
            }
            let activity = ConnectionActivity()
            let client = ClientTable.Client(
                channel: channel, activity: activity, address: ClientAddress.network(of: peer))
            guard let number = admit(client, isExempt: handler.isProxy(peer))
            else {
                statistics.countRefusedConnection()
                channel.close()
                continue
            }
            statistics.countConnection()
            let connection = Connection(channel, handler, statistics, options, hosts, activity)
            Task(executorPreference: executor) { [weak self] in
                await connection.run()
                self?.forget(number)
            }
        }
        Task(executorPreference: executor) { [weak self] in self?.acceptSome() }
    }

    /// Takes a client, in place of one that waits for a request where there are too many.
    ///
    /// - Returns: Its number; `nil` where there is no room.
    private func admit(_ client: ClientTable.Client, isExempt: Bool) -> UInt64? {
        let (number, other) = state.withLock { state -> (UInt64?, ClientTable.Client?) in
            guard !state.isStopped else { return (nil, nil) }
            switch state.clients.admit(client.address, isExempt: isExempt) {
            case .free: return (state.clients.add(client), nil)
            case .inPlace(let other): return (state.clients.add(client), other)
            case .refused: return (nil, nil)
            }
        }
        if let other {
            statistics.countRefusedConnection()
            other.channel.close()
        }
        return number
    }

    private func forget(_ number: UInt64) {
        state.withLock { $0.clients.remove(number) }
        statistics.countEndOfConnection()
    }

    /// Cuts connections whose time is over, and takes clients that could not be taken when they came, for want of descriptors.
    ///
    /// - Returns: Whether there may be more to look after.
    private func lookAround() -> Bool {
        let now = SocketChannel.now
        let (isOver, clients) = state.withLock { state in
            (state.isStopped && state.clients.isEmpty, state.clients.all)
        }
        for client in clients { client.channel.checkDeadline(now) }
        acceptAll()
        return !isOver
    }
}

/// Where a server listens, and its limits.
public struct ServerOptions: Sendable {
    /// An address of this machine in figures. Default: `127.0.0.1`, so that no other machine can connect.
    public var address = "127.0.0.1"
    /// The port; 0 takes a free one. Default: 5984, CouchDB's.
    public var port: UInt16 = 5984
    /// What the server proves with who it is; connections are then encrypted by TLS, and others refused. Default: `nil`, HTTP in
    /// the clear.
    public var identity: TLSIdentity?
    /// Names besides those of this machine that clients may know the server by, as their field `Host` tells; a page that
    /// lets its own name lead here (DNS rebinding) is refused. Asked only while the address is of the loopback.
    public var hosts: [String] = []
    /// How many connections there may be at a time. Default: 1,024. When there are as many, those that have waited longest for a
    /// request make room for new ones, those of the address with most connections first.
    public var connections = 1024
    /// How many connections one address may have; of version 6, one network of 64 bits. Proxies that are trusted have no such limit.
    /// Default: `nil`, three quarters of ``connections``.
    public var connectionsPerAddress: Int?
    var connectionsOfAddress: Int { max(1, connectionsPerAddress ?? connections - connections / 4) }
    /// How large heads may be.
    public var limits = MessageLimits()
    /// Seconds from the first byte of a head to its last, and those that a TLS handshake may take. Default: 15.
    public var headSeconds = 15
    /// Seconds that a connection may be without a request. Default: 60.
    public var idleSeconds = 60
    /// Seconds that a body, or an answer, may take besides those that it needs at ``slowestRate``. Default: 30.
    public var bodySeconds = 30
    /// The bytes a second that a client must send or take. Default: 1,024.
    public var slowestRate = 1024
    /// Seconds that ``HTTPServer/stop()`` waits for requests under way. Default: 5.
    public var stopSeconds = 5
    /// Gets a line for each request; called from many threads. Default: none.
    public var log: (@Sendable (String) -> Void)?
    /// How the lines of the log are written. Default: in the common log format.
    public var logFormat = LogFormat.common

    /// The usual ones.
    public init() {}
}

/// What a listener calls for answers. Put another listener in front of it, swift-nio's or Network.framework's, or something
/// else behind this one.
public protocol RequestHandler: Sendable {
    /// Answers a request; never fails, since failures are answers, too. The body of the request may be read until the
    /// answer's body has ended. When the client hangs up, the task that reads the answer's body is cancelled; until there is an answer,
    /// the request's `client` reports it.
    ///
    /// It is called on one of the threads that wait for sockets, one for each processor: what blocks for long belongs on another.
    func respond(to request: HTTPRequest) async -> HTTPResponse

    /// Where the listener counts what it sees: connections, bytes, and what it refuses without asking. Asked for once. Default:
    /// a place that nothing reads.
    var statistics: ServerStatistics { get }

    /// Whether the peer of a connection stands for many clients, as a proxy does, and so has no share of the connections. Default: none does.
    func isProxy(_ peer: String) -> Bool
}

extension RequestHandler {
    /// A place that nothing reads.
    public var statistics: ServerStatistics { ServerStatistics() }

    /// No peer is a proxy.
    public func isProxy(_ peer: String) -> Bool { false }
}

extension Router: RequestHandler {
    /// Whether it is one of ``RouterOptions/trustedProxies``.
    public func isProxy(_ peer: String) -> Bool { options.trustedProxies.contains(peer: peer) }
}

// What an app's alerts show of errors is their description, and not what Foundation makes of types that it does not know.

extension TLSError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension SocketError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}
