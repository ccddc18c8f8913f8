import Fleece
import Roost
import RoostWire

/// How the changes of a database are asked for.
struct ChangesQuery: Sendable {
    /// How they are delivered.
    enum Feed: Sendable {
        case normal
        case longpoll
        case continuous
        case eventSource
    }

    let feed: Feed
    /// What the client gave as the place after which changes are told; `now` for the end.
    let token: String
    /// The sequence after which changes are told.
    let since: UInt64
    let limit: Int
    let isDescending: Bool
    /// Whether every leaf is told, not only the winner.
    let allLeaves: Bool
    let includesDocuments: Bool
    let activeOnly: Bool
    /// How long a feed waits.
    let timing: FeedTiming
    /// Every how many rows the sequence is told, from the first on.
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

    /// The feed that a query asks for.
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
