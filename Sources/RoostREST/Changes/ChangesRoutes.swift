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
