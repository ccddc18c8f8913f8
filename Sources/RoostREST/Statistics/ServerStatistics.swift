/// What a server has done since it was started, which `_node/_local/_stats` and `_node/_local/_prometheus` tell.
///
/// A ``Router`` counts requests and answers; whoever listens for it tells what it can't see. Counting takes no lock. It may be
/// used from any thread.
public final class ServerStatistics: Sendable {
    /// Methods that are counted by their name; others are `OTHER`, so that clients can't make up more of them.
    static let methods = ["GET", "HEAD", "PUT", "POST", "DELETE", "COPY", "OPTIONS", "OTHER"]
    private static let statuses = 100...599

    private let start = ContinuousClock.now
    private let requestCounters = ServerStatistics.methods.map { _ in Counter() }
    private let statusCounters = ServerStatistics.statuses.map { _ in Counter() }
    let durations = DurationHistogram()
    let bulkRequests = Counter()
    let viewReads = Counter()
    let openedConnections = Counter()
    let closedConnections = Counter()
    let receivedBytes = Counter()
    let sentBytes = Counter()
    let refusedConnections = Counter()
    /// How many connections there may be; 0 where no listener has said so.
    let connectionLimit = Gauge()
    /// Feeds that wait for changes.
    let feeds = Gauge()
    /// Connections that have become WebSockets.
    let webSockets = Gauge()

    /// Nothing was done yet.
    public init() {}

    // MARK: Counting

    func countRequest(_ method: String, _ status: Int, took duration: Duration) {
        requestCounters[Self.methods.firstIndex(of: method) ?? Self.methods.count - 1].add()
        countAnswer(status)
        durations.add(duration)
    }

    /// Counts an answer that was given without asking the router, such as to what is no request.
    public func countAnswer(_ status: Int) {
        if Self.statuses.contains(status) { statusCounters[status - Self.statuses.lowerBound].add() }
    }

    /// A client has connected.
    public func countConnection() { openedConnections.add() }

    /// A client has gone.
    public func countEndOfConnection() { closedConnections.add() }

    /// A client was refused, or made room for another one, since there were as many as there may be.
    public func countRefusedConnection() { refusedConnections.add() }

    /// A listener takes so many connections.
    public func countConnectionLimit(_ limit: Int) { connectionLimit.add(limit) }

    /// A connection has become a WebSocket.
    public func countWebSocket() { webSockets.add(1) }

    /// A WebSocket has ended.
    public func countEndOfWebSocket() { webSockets.add(-1) }

    /// So many bytes came from clients.
    public func countReceived(_ bytes: Int) { receivedBytes.add(UInt64(bytes)) }

    /// So many bytes went to clients.
    public func countSent(_ bytes: Int) { sentBytes.add(UInt64(bytes)) }

    // MARK: Reading

    /// Requests by their methods, all of ``methods``.
    var requests: [(method: String, count: UInt64)] {
        zip(Self.methods, requestCounters).map { ($0, $1.value) }
    }

    /// Answers by their status, without those that were never given.
    var answers: [(status: Int, count: UInt64)] {
        zip(Self.statuses, statusCounters).map { ($0, $1.value) }.filter { $0.1 > 0 }
    }

    /// How many clients are connected.
    var openConnections: UInt64 {
        let closed = closedConnections.value
        return max(openedConnections.value, closed) - closed
    }

    /// Since the server was started.
    var uptime: Duration { start.duration(to: .now) }
}
