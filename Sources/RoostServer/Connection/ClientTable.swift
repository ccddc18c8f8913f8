import Synchronization

/// The clients of a server, and how many of the connections each address has.
///
/// When connections become scarce, those that wait for a request make room: one address that opens all it can keeps no other
/// client out.
struct ClientTable {
    struct Client {
        let channel: SocketChannel
        let activity: ConnectionActivity
        /// Whose connections are counted together.
        let address: String
    }

    /// Whether a client can be taken.
    enum Admission {
        case free
        /// When this client's connection is closed, which no longer serves requests.
        case inPlace(of: Client)
        case refused
    }

    private let limit: Int
    private let share: Int
    private var clients: [UInt64: Client] = [:]
    private var counts: [String: Int] = [:]
    private var lastNumber: UInt64 = 0

    /// - Parameters:
    ///   - limit: How many connections there may be.
    ///   - share: How many of them one address may have.
    init(limit: Int, share: Int) {
        self.limit = limit
        self.share = share
    }

    var count: Int { clients.count }
    var isEmpty: Bool { clients.isEmpty }
    var all: [Client] { Array(clients.values) }

    /// Decides on a client. One that makes room is no longer in the table.
    ///
    /// - Parameter isExempt: Whether the address, such as a proxy's, stands for many clients and has no share.
    mutating func admit(_ address: String, isExempt: Bool) -> Admission {
        if !isExempt, counts[address] ?? 0 >= share { return makeRoom { $0.address == address } }
        return count < limit ? .free : makeRoom { _ in true }
    }

    /// Adds a client.
    ///
    /// - Returns: Its number.
    mutating func add(_ client: Client) -> UInt64 {
        lastNumber += 1
        clients[lastNumber] = client
        counts[client.address, default: 0] += 1
        return lastNumber
    }

    /// Removes the client of a number, if it is still there.
    mutating func remove(_ number: UInt64) {
        guard let client = clients.removeValue(forKey: number) else { return }
        let left = (counts[client.address] ?? 1) - 1
        counts[client.address] = left > 0 ? left : nil
    }

    /// Removes the client that has waited longest for a request, of the address with most connections.
    private mutating func makeRoom(_ isCandidate: (Client) -> Bool) -> Admission {
        while true {
            var best: (number: UInt64, client: Client, count: Int, since: UInt64)?
            for (number, client) in clients where isCandidate(client) {
                guard let since = client.activity.idleSince else { continue }
                let count = counts[client.address] ?? 0
                if let best, (best.count, since) >= (count, best.since) { continue }
                best = (number, client, count, since)
            }
            guard let best else { return .refused }
            // A request may have come since.
            guard best.client.activity.retire() else { continue }
            remove(best.number)
            return .inPlace(of: best.client)
        }
    }
}

/// What a connection is doing, as the server needs to know it to stop.
final class ConnectionActivity: Sendable {
    private struct State {
        /// Since when no request is being answered; `nil` while one is.
        var idleSince: UInt64? = SocketChannel.now
        var isStopping = false
        /// Whether the connection has made room for another and serves no more requests.
        var isRetired = false
        /// Ends an answer that has no end of its own.
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var isStopping: Bool { state.withLock { $0.isStopping } }
    var isBusy: Bool { idleSince == nil }
    /// Since when the connection waits for a request, in nanoseconds of ``SocketChannel/now``; `nil` while it serves one.
    var idleSince: UInt64? { state.withLock { $0.idleSince } }

    /// Begins a request.
    ///
    /// - Returns: Whether it is served.
    func begin() -> Bool {
        state.withLock { state in
            guard !state.isRetired else { return false }
            state.idleSince = nil
            return true
        }
    }

    func end() { state.withLock { $0.idleSince = SocketChannel.now } }

    /// Ends a connection that serves no request.
    ///
    /// - Returns: Whether it does not.
    func retire() -> Bool {
        state.withLock { state in
            guard state.idleSince != nil else { return false }
            state.isRetired = true
            return true
        }
    }

    /// Sets what ends the present answer when the server stops; `nil` when the answer has ended.
    func setEndless(_ cancel: (@Sendable () -> Void)?) {
        let isStopping = state.withLock { state in
            state.cancel = cancel
            return state.isStopping
        }
        if isStopping { cancel?() }
    }

    /// No more requests; feeds end now.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            return state.cancel
        }?()
    }
}
