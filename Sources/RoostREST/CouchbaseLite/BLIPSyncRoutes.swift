import RoostBLIP
import RoostWire

/// `_blipsync`: the WebSocket over which Couchbase Lite's replicator syncs with a database and its collections.
enum BLIPSyncRoutes {
    /// What is spoken, the best first. In version 2, `getAttachment` names no document.
    private static let protocols = ["BLIP_3+CBMobile_3", "BLIP_3+CBMobile_2"]

    static func respond(_ target: DatabaseContext) throws -> HTTPResponse {
        let context = target.context
        try context.allow("GET")
        guard !target.served.name.isSystem, target.served.name.collection == nil else {
            throw HTTPFailure.forbidden("Couchbase Lite syncs with a database, not with this.")
        }
        guard WebSocketHandshake.isRequested(by: context.request) else {
            throw HTTPFailure(
                426, "upgrade_required", "This is for WebSockets.", headers: ["Upgrade": "websocket"])
        }
        var response = try WebSocketHandshake.accept(context.request, protocols: protocols).response
        let target = target.renewed()
        response.upgrade = WebSocketUpgrade(longestMessage: CouchbaseLiteSession.longestFrame) { socket in
            await CouchbaseLiteSession(target, socket).run()
        }
        return response
    }
}

extension DatabaseContext {
    /// The same database and user for another piece of work, with time and memory of its own.
    func renewed() -> DatabaseContext {
        var copy = self
        copy.context = context.renewed()
        return copy
    }
}

extension RequestContext {
    /// The context of a message that came over the WebSocket of this request.
    fileprivate func renewed() -> RequestContext {
        var request = request
        // The WebSocket alone reads from the client.
        request.client = nil
        return RequestContext(
            router: router, request: request, method: method, path: path, query: query, user: user,
            work: RequestWork(router, request, user, path),
            memory: RequestMemory(router.memory, router.uploads, user, peer: request.peer))
    }
}

extension RequestMemory: BLIPMemory {}
