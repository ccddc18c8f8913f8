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

    /// Clients that wait for requests, the one that makes room first at the end.
    private struct Waiting {
        /// Whose they are; anybody's where it is `nil`.
        let address: String?
        var clients: [(number: UInt64, since: UInt64)]
    }

    private static let mostWaiting = 64

    private let limit: Int
    private let share: Int
    private var clients: [UInt64: Client] = [:]
    private var counts: [String: Int] = [:]
    private var lastNumber: UInt64 = 0
    /// Those that make room next; found at once for several, since a flood of connections has each look for one.
    private var waiting = Waiting(address: nil, clients: [])

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
        if !isExempt, counts[address] ?? 0 >= share { return makeRoom(of: address) }
        return count < limit ? .free : makeRoom(of: nil)
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

    /// Removes the client that has waited longest for a request, of the address with most connections. Of an address that opens
    /// many, O(log n) on average; O(n log n) where all connections are taken.
    ///
    /// - Parameter address: Whose client it is; `nil` for anybody's.
    private mutating func makeRoom(of address: String?) -> Admission {
        if let client = nextWaiting(of: address) { return .inPlace(of: client) }
        waiting = Waiting(address: address, clients: findWaiting(of: address))
        return nextWaiting(of: address).map { .inPlace(of: $0) } ?? .refused
    }

    private mutating func nextWaiting(of address: String?) -> Client? {
        guard waiting.address == address else { return nil }
        while let (number, since) = waiting.clients.popLast() {
            // A request may have come since.
            guard let client = clients[number], client.activity.retire(idleSince: since) else { continue }
            remove(number)
            return client
        }
        return nil
    }

    private func findWaiting(of address: String?) -> [(number: UInt64, since: UInt64)] {
        var found: [(number: UInt64, since: UInt64, count: Int)] = []
        for (number, client) in clients where address == nil || client.address == address {
            guard let since = client.activity.idleSince else { continue }
            found.append((number, since, counts[client.address] ?? 0))
        }
        found.sort { ($0.count, $1.since, $1.number) < ($1.count, $0.since, $0.number) }
        // Which address has most changes with each.
        return found.suffix(address == nil ? 1 : Self.mostWaiting).map { ($0.number, $0.since) }
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

    /// Ends a connection that has served no request since a time.
    ///
    /// - Returns: Whether it has not.
    func retire(idleSince time: UInt64) -> Bool {
        state.withLock { state in
            guard state.idleSince == time else { return false }
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
