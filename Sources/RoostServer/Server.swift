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
    }

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
    /// - Throws: ``SocketError`` when the address is not this machine's, or somebody else listens there.
    public init(_ handler: any RequestHandler, options: ServerOptions = ServerOptions()) throws(SocketError) {
        self.handler = handler
        statistics = handler.statistics
        self.options = options
        hosts = HostCheck(options)
        state = Mutex(
            State(clients: ClientTable(limit: options.connections, share: options.connectionsOfAddress)))
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

    private func acceptAll() {
        while let (socket, peer) = state.withLock({ $0.listener.flatMap { SystemSockets.accept($0.socket) } })
        {
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
        other?.channel.close()
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
