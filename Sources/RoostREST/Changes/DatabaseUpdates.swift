import Dispatch
import Roost
import RoostWire
import Synchronization

/// `_db_updates`: what happened to the databases, in any of the four feeds. For administrators.
actor DatabaseUpdatesBody: BodyStream {
    private let updates: DatabaseUpdates
    private let feed: ChangesQuery.Feed
    /// Names this run of the server, in which alone the sequences mean something.
    private let epoch: String
    private let timing: FeedTiming
    private var place: UInt64
    private var left: Int
    private var count = 0
    private var hasBegun = false
    private var isOver = false
    private let alarm = ChangeAlarm()
    private let clock = ContinuousClock()
    private var lastRow: ContinuousClock.Instant

    private static let pageSize = 1000

    static func respond(_ context: RequestContext) async throws -> HTTPResponse {
        try context.allow("GET")
        try Security.requireServerAdmin(context.user)
        let databases = context.router.databases
        try databases.beginUpdates()
        let body = try DatabaseUpdatesBody(context.query, databases.updates, epoch: databases.updatesEpoch)
        switch body.feed {
        case .normal: return try await context.stream(body)
        case .eventSource, .longpoll, .continuous:
            let type = body.feed == .eventSource ? EventStream.mediaType : "application/json"
            var response = HTTPResponse(
                200, headers: ["X-Accel-Buffering": "no", "Content-Type": type],
                body: .stream(body, length: nil))
            response.isEndless = true
            return response
        }
    }

    private init(_ query: RequestQuery, _ updates: DatabaseUpdates, epoch: String) throws {
        self.updates = updates
        self.epoch = epoch
        feed = try ChangesQuery.feed(query)
        timing = try FeedTiming(query)
        left = try query.count("limit") ?? .max
        let since = query["since"] ?? "0"
        let parts = since.split(separator: "-", maxSplits: 1)
        if since == "now" || since == "\"now\"" {
            place = updates.last
        } else if let first = parts.first, let number = UInt64(first), number <= updates.last,
            parts.count == 2 && parts[1] == epoch
        {
            place = number
        } else {
            place = 0
        }
        lastRow = clock.now
        updates.wake(alarm)
    }

    deinit { updates.forget(alarm) }

    func next() async throws -> [UInt8]? {
        guard !isOver else { return nil }
        var bytes: [UInt8] = []
        if !hasBegun {
            hasBegun = true
            lastRow = clock.now
            switch feed {
            case .normal, .longpoll: bytes = Array("{\"results\":[\n".utf8)
            case .continuous: bytes = [10]
            case .eventSource: bytes = EventStream.heartbeat
            }
        }
        while true {
            try Task.checkCancellation()
            alarm.reset()
            let events = updates.events(after: place, limit: min(left, Self.pageSize))
            for event in events { append(event, to: &bytes) }
            let isDone = feed == .normal && events.isEmpty || feed == .longpoll && count > 0 || left == 0
            if isDone { return bytes + ending() }
            if !bytes.isEmpty { return bytes }
            guard await alarm.wait(until: timing.deadline(after: lastRow)) else {
                try Task.checkCancellation()
                lastRow = clock.now
                guard timing.heartbeat != nil else { return ending() }
                return feed == .eventSource ? EventStream.heartbeat : [10]
            }
        }
    }

    private func append(_ event: DatabaseUpdates.Event, to bytes: inout [UInt8]) {
        let token = "\(event.sequence)-\(epoch)"
        let row: JSON = [
            "db_name": .string(event.name), "type": .string(event.kind.rawValue), "seq": .string(token),
        ]
        switch feed {
        case .normal, .longpoll:
            if count > 0 { bytes += ",\n".utf8 }
            row.write(to: &bytes)
        case .continuous: bytes += row.bytes + [10]
        case .eventSource: bytes += EventStream.event(row.bytes, id: token)
        }
        place = event.sequence
        count += 1
        left -= 1
        lastRow = clock.now
    }

    private func ending() -> [UInt8] {
        isOver = true
        let end = "\"last_seq\":\"\(place)-\(epoch)\"}\n"
        return switch feed {
        case .normal, .longpoll: Array("\n],\n\(end)".utf8)
        case .continuous: Array("{\(end)".utf8)
        case .eventSource: []
        }
    }
}

/// What happened to the databases of a directory as a whole: which were created, changed and deleted, for `_db_updates`.
///
/// Of each database the newest event of a kind counts, as in CouchDB. Events are kept in memory, from the first request for them on;
/// those of an earlier run of the server are not known, and a client that had them begins again with the databases that there are.
final class DatabaseUpdates: Sendable {
    enum Kind: String, Sendable {
        case created
        case updated
        case deleted
    }

    struct Event: Sendable {
        let sequence: UInt64
        let name: String
        let kind: Kind
    }

    private struct State {
        /// Whether events are wanted: until then none is noted.
        var isActive = false
        var last: UInt64 = 0
        /// The oldest first; with older ones of the same database and kind among them.
        var log: [Event] = []
        /// The newest sequence of each database and kind.
        var newest: [String: UInt64] = [:]
        var alarms: [ObjectIdentifier: ChangeAlarm] = [:]
    }

    /// How many events are kept.
    private static let mostKept = 100_000

    private let state = Mutex(State())

    /// Whether events are noted.
    var isActive: Bool { state.withLock(\.isActive) }

    /// The sequence of the newest event.
    var last: UInt64 { state.withLock(\.last) }

    /// Begins to note events, with the databases that there are; answers whether it did.
    func activate(_ names: [String]) -> Bool {
        state.withLock { state in
            guard !state.isActive else { return false }
            state.isActive = true
            for name in names { Self.note(.created, name, &state) }
            return true
        }
    }

    /// Records an event and wakes the feeds that wait.
    func note(_ kind: Kind, _ name: String) {
        let alarms = state.withLock { state -> [ChangeAlarm] in
            guard state.isActive else { return [] }
            Self.note(kind, name, &state)
            return Array(state.alarms.values)
        }
        for alarm in alarms { alarm.ring() }
    }

    private static func key(_ kind: Kind, _ name: String) -> String { "\(kind.rawValue):\(name)" }

    private static func note(_ kind: Kind, _ name: String, _ state: inout State) {
        state.last += 1
        state.log.append(Event(sequence: state.last, name: name, kind: kind))
        state.newest[key(kind, name)] = state.last
        guard state.log.count > 2 * state.newest.count + 64 || state.newest.count > mostKept else { return }
        state.log = state.log.filter { state.newest[key($0.kind, $0.name)] == $0.sequence }
        guard state.log.count > mostKept else { return }
        for event in state.log.dropLast(mostKept / 2) { state.newest[key(event.kind, event.name)] = nil }
        state.log = state.log.suffix(mostKept / 2)
    }

    /// The events after `sequence`, the oldest first.
    func events(after sequence: UInt64, limit: Int) -> [Event] {
        state.withLock { state in
            var (low, high) = (0, state.log.count)
            while low < high {
                let middle = (low + high) / 2
                if state.log[middle].sequence > sequence { high = middle } else { low = middle + 1 }
            }
            var events: [Event] = []
            while low < state.log.count, events.count < limit {
                let event = state.log[low]
                if state.newest[Self.key(event.kind, event.name)] == event.sequence { events.append(event) }
                low += 1
            }
            return events
        }
    }

    /// Has `alarm` rung with each event, until ``forget(_:)``.
    func wake(_ alarm: ChangeAlarm) { state.withLock { $0.alarms[ObjectIdentifier(alarm)] = alarm } }

    func forget(_ alarm: ChangeAlarm) { state.withLock { $0.alarms[ObjectIdentifier(alarm)] = nil } }
}

/// Notes for `_db_updates` that a database has changed, for as long as it is held.
final class UpdateWatch: Sendable {
    private static let queue = DispatchQueue(label: "roost.updates")

    private struct State {
        /// What has the next commit noted.
        var token: ObservationToken?
        /// The sequence up to which changes are noted.
        var sequence: UInt64 = 0
    }

    private let name: String
    private let updates: DatabaseUpdates
    private let state = Mutex(State())

    init(_ name: String, _ database: Database, _ updates: DatabaseUpdates) {
        self.name = name
        self.updates = updates
        guard let collection = try? database.defaultCollection else { return }
        let sequence = (try? collection.snapshot().lastSequence) ?? 0
        state.withLock { $0.sequence = sequence }
        listen(to: collection)
    }

    /// Waits for the next commit. It is noted on a queue, since a commit waits for who is called by it.
    private func listen(to collection: DocumentCollection) {
        // The collection is not held meanwhile: its database closes when nothing else uses it.
        let wake: @Sendable () -> Void = { [weak self, weak database = collection.database] in
            Self.queue.async { [weak self, weak database] in
                guard let self, let collection = try? database?.defaultCollection else { return }
                self.listen(to: collection)
            }
        }
        guard let token = try? collection.onNextChange(wake),
            let sequence = try? collection.snapshot().lastSequence
        else { return }
        // Read after asking, so that no commit slips in between.
        let isNew = state.withLock { state in
            state.token = token
            defer { state.sequence = max(state.sequence, sequence) }
            return sequence > state.sequence
        }
        if isNew { updates.note(.updated, name) }
    }
}
