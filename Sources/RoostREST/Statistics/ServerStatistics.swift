import Synchronization

/// What a server has done since it was started, which `_node/_local/_stats` and `_node/_local/_prometheus` tell.
///
/// A ``Router`` counts requests and answers; its listener counts what it can't see. Counting takes no lock. It may be
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

    /// Counts bytes that came from clients.
    public func countReceived(_ bytes: Int) { receivedBytes.add(UInt64(bytes)) }

    /// Counts bytes that went to clients.
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

/// How long things took: how many of them up to each of a few bounds, and all of them together.
final class DurationHistogram: Sendable {
    /// What was counted so far. Counts of one snapshot agree with each other.
    struct Snapshot {
        /// How many took up to each of ``DurationHistogram/bounds``, and not up to the one before; those beyond all of them
        /// last.
        let counts: [UInt64]
        /// All of them together, in seconds.
        let sum: Double

        var count: UInt64 { counts.reduce(0, +) }

        /// How long at most the quickest `share` of them took, in seconds, as far as the bounds tell: spread evenly between
        /// two of them. 0 where nothing was counted.
        func quantile(_ share: Double) -> Double {
            let wanted = share * Double(count)
            var below = 0.0
            var lower = 0.0
            for (bound, count) in zip(DurationHistogram.bounds, counts) {
                if count > 0, below + Double(count) >= wanted {
                    return lower + (bound - lower) * max(0, wanted - below) / Double(count)
                }
                below += Double(count)
                lower = bound
            }
            return count > 0 ? lower : 0
        }
    }

    /// Seconds, ascending.
    static let bounds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
        60,
    ]

    private let counters = (0...DurationHistogram.bounds.count).map { _ in Counter() }
    private let nanoseconds = Counter()

    /// Counts something that took so long.
    func add(_ duration: Duration) {
        let parts = duration.components
        let seconds = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        counters[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count].add()
        nanoseconds.add(UInt64(max(0, seconds) * 1e9))
    }

    var snapshot: Snapshot { Snapshot(counts: counters.map(\.value), sum: Double(nanoseconds.value) / 1e9) }
}

/// A number that many threads add to without waiting for each other.
final class Counter: Sendable {
    private let count = Atomic<UInt64>(0)

    var value: UInt64 { count.load(ordering: .relaxed) }

    func add(_ number: UInt64 = 1) { count.wrappingAdd(number, ordering: .relaxed) }
}
