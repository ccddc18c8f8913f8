import Roost
import RoostWire

/// `_db_updates`: what happened to the databases, in any of the four feeds. For administrators.
actor DatabaseUpdatesBody: BodyStream {
    private let updates: DatabaseUpdates
    private let feed: ChangesQuery.Feed
    /// What is told of this run of the server, in which alone the sequences mean something.
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
