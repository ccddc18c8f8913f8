import Fleece
import Roost
import RoostWire

/// `_changes`: what happened to a database, and what happens.
enum ChangesRoutes {
    static func respond(_ target: DatabaseContext) async throws -> HTTPResponse {
        let context = target.context
        try context.allow("GET", "POST")
        var body: [UInt8]?
        if context.method == "POST" {
            try context.checkIsJSON()
            let text = try await context.bytes()
            // Parsed by the filter, which keeps IDs as texts.
            let cost = JSONCost(text)
            try await context.memory.reserve(cost.parsing + cost.values * 64)
            body = text
        }
        if target.isLimited { try LimitedRoutes.checkChanges(target.query) }
        let snapshot = try target.collection.snapshot()
        let last = snapshot.lastSequence
        let query = try ChangesQuery(target, body: body, last: last)
        let seen = target.isLimited ? try SeenChanges(target, query, snapshot) : nil
        let feed = ChangesBody(
            target.served, query, last: last, seen, AccessLease(target, dependsOnChannels: false),
            context.work)
        // Proxies must not keep what is to arrive at once.
        var headers: HTTPHeaders = ["X-Accel-Buffering": "no"]
        switch query.feed {
        case .normal:
            // A tag would tell of changes that are not seen.
            if target.isLimited { return try await context.stream(feed) }
            let tag = target.served.tag(of: context.request.target, at: snapshot)
            if let answer = try context.unmodified(tag, ["ETag": tag]) { return answer }
            return try await context.stream(feed, headers: ["ETag": tag])
        case .eventSource: headers["Content-Type"] = EventStream.mediaType
        case .longpoll, .continuous: headers["Content-Type"] = "application/json"
        }
        var response = HTTPResponse(200, headers: headers, body: .stream(feed, length: nil))
        response.isEndless = true
        return response
    }
}

/// The parameters of a request for changes.
struct ChangesQuery: Sendable {
    /// How they are delivered.
    enum Feed: Sendable {
        case normal
        case longpoll
        case continuous
        case eventSource
    }

    let feed: Feed
    /// The place after which the client wants changes, as it was given; `now` for the end.
    let token: String
    /// The sequence after which changes are sent.
    let since: UInt64
    let limit: Int
    let isDescending: Bool
    /// Whether every leaf is listed, not only the winner.
    let allLeaves: Bool
    let includesDocuments: Bool
    let activeOnly: Bool
    /// How long a feed waits.
    let timing: FeedTiming
    /// The number of rows from one that has its sequence to the next.
    let sequenceInterval: Int
    let filter: ChangeFilter
    let text: DocumentText

    /// - Parameter body: The body of a POST; `nil` for any other request.
    init(_ target: DatabaseContext, body: [UInt8]?, last: UInt64) throws {
        let query = target.query
        feed = try Self.feed(query)
        isDescending = try query.flag("descending")
        let given =
            target.context.headers["Last-Event-ID"] ?? query["last-event-id"] ?? query["since"] ?? "0"
        token = given == "\"now\"" ? "now" : given
        let start = token == "now" ? last : target.served.sequence(token, last: last)
        since = isDescending ? 0 : start
        limit = try query.count("limit") ?? .max
        allLeaves = query["style"] == "all_docs"
        includesDocuments = try query.flag("include_docs")
        activeOnly = try query.flag("active_only")
        timing = try FeedTiming(query)
        sequenceInterval = max(1, try query.count("seq_interval") ?? 1)
        filter = try ChangeFilter(target, body)
        text = try DocumentText(query, target.context.memory)
    }

    /// The feed that a query requests.
    static func feed(_ query: RequestQuery) throws -> Feed {
        switch query["feed"] {
        case nil, "normal": return .normal
        case "longpoll": return .longpoll
        case "continuous", "live": return .continuous
        case "eventsource": return .eventSource
        default:
            throw HTTPFailure.badRequest(
                "Supported `feed` types: normal, continuous, live, longpoll, eventsource")
        }
    }
}

/// How long a feed waits for something to happen.
struct FeedTiming: Sendable {
    /// Milliseconds between signs of life; `nil` for none.
    let heartbeat: Int?
    /// Milliseconds without a change after which a waiting feed ends.
    let timeout: Int

    private static let longestTimeout = 60_000

    init(_ query: RequestQuery) throws {
        timeout = min(try query.count("timeout") ?? Self.longestTimeout, Self.longestTimeout)
        switch query["heartbeat"] {
        case nil, "false": heartbeat = nil
        case "true": heartbeat = Self.longestTimeout
        case .some:
            let interval = try query.count("heartbeat") ?? 0
            guard interval > 0 else {
                throw HTTPFailure.badRequest(
                    "The heartbeat value should be a positive integer (in milliseconds).")
            }
            heartbeat = interval
        }
    }

    /// When a feed that has been silent since `start` gives a sign of life, or ends.
    func deadline(after start: ContinuousClock.Instant) -> ContinuousClock.Instant {
        start.advanced(by: .milliseconds(heartbeat ?? timeout))
    }
}
