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
            body = try await context.bytes()
        }
        if target.isLimited { try LimitedRoutes.checkChanges(target.query) }
        let snapshot = try target.collection.snapshot()
        let last = snapshot.lastSequence
        let query = try ChangesQuery(target, body: body, last: last)
        let seen = target.isLimited ? try SeenChanges(target, query, snapshot) : nil
        let feed = ChangesBody(target.served, query, last: last, seen, context.router.workers)
        // Proxies must not keep what is to arrive at once.
        var headers: HTTPHeaders = ["X-Accel-Buffering": "no"]
        switch query.feed {
        case .normal:
            // A tag would tell of changes that are not seen.
            if target.isLimited { return try await context.stream(feed) }
            let tag = EntityTag.of("\(target.served.token(last)) \(context.request.target)")
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
