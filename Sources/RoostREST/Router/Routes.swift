import Roost
import RoostQuery
import RoostWire

/// Which handler a path leads to.
enum Routes {
    static func respond(
        _ context: RequestContext, authenticatedBy handler: String?
    ) async throws -> HTTPResponse {
        try LimitedRoutes.check(context)
        let response =
            context.takesLong
            ? try await asWork(context) { try await route(context, handler) }
            : try await route(context, handler)
        return try placed(response, context)
    }

    /// Makes an answer apart from the threads that wait for sockets.
    private static func asWork(
        _ context: RequestContext, _ respond: @escaping @Sendable () async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        var response = try await context.work.respond(respond)
        // What goes on without an end mostly waits, and looks after itself.
        if case .stream(let body, let length) = response.body, !response.isEndless {
            response.body = .stream(WorkedBody(body: body, work: context.work), length: length)
        }
        return response
    }

    /// Counts an answer that goes on without an end among those of its owner.
    private static func placed(_ response: HTTPResponse, _ context: RequestContext) throws -> HTTPResponse {
        guard response.isEndless || response.upgrade != nil, !context.user.isAdmin else { return response }
        let place = try FeedPlace(context.router.feedPlaces, context.work.owner.ofAllDatabases)
        var response = response
        if case .stream(let body, let length) = response.body {
            response.body = .stream(PlacedBody(body: body, place: place), length: length)
        }
        if let upgrade = response.upgrade {
            response.upgrade = WebSocketUpgrade(longestMessage: upgrade.longestMessage) { socket in
                defer { withExtendedLifetime(place) {} }
                return await upgrade.serve(socket)
            }
        }
        return response
    }

    private static func route(_ context: RequestContext, _ handler: String?) async throws -> HTTPResponse {
        guard let first = context.path.first else { return try ServerRoutes.welcome(context) }
        if first == "_session" { return try await SessionRoutes.respond(context, handler) }
        if first.begins(with: "_"), !["_users", "_replicator", "_global_changes"].contains(first) {
            return try await ServerRoutes.respond(context)
        }
        return try await respondOfDatabase(context)
    }

    private static func respondOfDatabase(_ context: RequestContext) async throws -> HTTPResponse {
        guard let name = try databaseName(context) else { throw HTTPFailure.noDatabase }
        if context.path.count == 1, ["PUT", "DELETE"].contains(context.method) {
            return try DatabaseRoutes.createOrDelete(context, name)
        }
        let served = try open(name, context)
        try context.router.channelRouting?.begin(served)
        var target = DatabaseContext(context: context, served: served, security: try served.security())
        if name.base == "_users" {
            target.security = try UsersDatabase.security(target)
        } else {
            try target.security.requireMember(context.user)
        }
        var rest = Array(context.path.dropFirst())
        if rest.count > 1, rest[0] == "_design" || rest[0] == "_local" {
            rest.replaceSubrange(0...1, with: ["\(rest[0])/\(rest[1])"])
        }
        target.context.lease = AccessLease(target, dependsOnChannels: false)
        let (found, path) = (target, rest)
        let answer = { @Sendable () async throws -> HTTPResponse in
            var target = found
            try await target.limit(path)
            return target.leased(try await respond(target, path))
        }
        return try await target.hasLongAccess ? asWork(context, answer) : answer()
    }

    /// - Parameter rest: What follows the database's name, with `_design/…` and `_local/…` as one.
    private static func respond(_ target: DatabaseContext, _ rest: [String]) async throws -> HTTPResponse {
        guard !rest.isEmpty else { return try await DatabaseRoutes.respond(target) }
        if let name = rest[0].removing(prefix: "_local/") {
            guard rest.count == 1 else {
                throw HTTPFailure.badRequest("_local documents do not accept attachments.")
            }
            return try await LocalRoutes.respond(target, name)
        }
        if rest[0].begins(with: "_design/") {
            guard rest.count > 1, rest[1].begins(with: "_") else {
                return try await respondOfDocument(target, rest[0], Array(rest.dropFirst()))
            }
            return try await DesignRoutes.respond(target, rest[0], Array(rest.dropFirst()))
        }
        if rest[0].begins(with: "_") { return try await DatabaseRoutes.respond(target, function: rest) }
        return try await respondOfDocument(target, rest[0], Array(rest.dropFirst()))
    }

    /// The name that the path begins with; `nil` where one that can be none is read only, which clients do to look whether it
    /// is there.
    private static func databaseName(_ context: RequestContext) throws -> DatabaseName? {
        context.method == "GET" ? try? DatabaseName(context.path[0]) : try DatabaseName(context.path[0])
    }

    private static func respondOfDocument(
        _ target: DatabaseContext, _ id: String, _ rest: [String]
    ) async throws -> HTTPResponse {
        if target.served.name.base == "_users" { try UsersDatabase.requireOwn(target.user, id) }
        guard rest.isEmpty else {
            return try await AttachmentRoutes.respond(target, id, rest.joined(separator: "/"))
        }
        return try await DocumentRoutes.respond(target, id)
    }

    /// The database of that name.
    ///
    /// - Throws: 404.
    static func open(_ name: DatabaseName, _ context: RequestContext) throws -> ServedDatabase {
        // These are there from the beginning, as in a CouchDB that has been set up.
        let isSystem = ["_users", "_replicator"].contains(name.base)
        guard
            let collection = try ServedDatabase.collection(
                of: name, in: context.router.databases, creating: isSystem)
        else { throw HTTPFailure.noDatabase }
        for language in context.router.hooks.languages {
            collection.database.register(language.viewCompiler)
        }
        return try ServedDatabase(name, collection.database, collection)
    }
}

/// A request to a database, and what the user may do there.
struct DatabaseContext: Sendable {
    var context: RequestContext
    let served: ServedDatabase
    var security: Security
    /// Whether the user sees no more than the documents of their channels.
    var isLimited = false
    /// When a request of such a user came, on the ``AccessClock``.
    var accessTime: UInt64 = 0

    var collection: DocumentCollection { served.collection }
    var query: RequestQuery { context.query }
    var user: UserContext { context.user }
}

extension RequestContext {
    /// As ``stream(_:headers:)``, of a body that follows from the documents of a snapshot and from the request's target: with a tag, and
    /// 304 where a client has it. A tag would tell limited users of changes that they do not see.
    func stream(
        _ body: any BodyStream, of target: DatabaseContext, at moment: CollectionSnapshot
    ) async throws -> HTTPResponse {
        guard method == "GET", !target.isLimited else { return try await stream(body) }
        let tag = target.served.tag(of: request.target, at: moment)
        if let answer = try unmodified(tag, ["ETag": tag]) { return answer }
        return try await stream(body, headers: ["ETag": tag])
    }
}
