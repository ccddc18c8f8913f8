import Roost
import RoostWire

/// What those may ask for who see no more than their channels' documents, where there is a sync function: only what is in these tables,
/// whose answers are made for it. Everything else is 403 for them.
enum LimitedRoutes {
    /// Of the server.
    private static let ofServer: Set<String> = ["_session", "_up", "_utils", "_uuids", "_users"]
    /// Of a database, with the methods.
    private static let functions: [String: Set<String>] = [
        "_all_docs": ["GET", "POST"], "_blipsync": ["GET"], "_bulk_docs": ["POST"], "_bulk_get": ["POST"],
        "_changes": ["GET", "POST"], "_ensure_full_commit": ["POST"], "_find": ["POST"],
        "_missing_revs": ["POST"], "_revs_diff": ["POST"],
    ]
    private static let ofDocument: Set<String> = ["GET", "PUT", "DELETE", "COPY"]
    private static let ofAttachment: Set<String> = ["GET", "PUT", "DELETE"]
    /// What would tell of revisions and changes that are not seen.
    static let refusedFlags: Set<String> = [
        "conflicts", "deleted_conflicts", "local_seq", "meta", "revs_info", "update_seq",
    ]

    static let refusal = HTTPFailure.forbidden("This is for administrators of the database.")

    /// - Throws: 403 for what concerns no database and is not for everybody.
    static func check(_ context: RequestContext) throws {
        guard context.router.hooks.sync != nil, !context.user.isAdmin, let first = context.path.first,
            first.begins(with: "_"), !ofServer.contains(first)
        else { return }
        throw Security.refusal(context.user, "You are not a server admin.")
    }

    /// - Parameter path: What follows the database's name, with `_design/…` and `_local/…` as one.
    /// - Throws: 403.
    static func check(_ method: String, _ path: [String]) throws {
        let isAllowed =
            switch path.first {
            case nil: method == "GET" || method == "POST"
            case let name? where name.begins(with: "_local/"):
                path.count == 1 && ["GET", "PUT", "DELETE"].contains(method)
            case let name? where name.begins(with: "_design/"):
                (3...4).contains(path.count) && path[1] == "_view" && (method == "GET" || method == "POST")
            case let name? where name.begins(with: "_"):
                path.count == 1 && functions[name]?.contains(method) == true
            case .some: (path.count == 1 ? ofDocument : ofAttachment).contains(method)
            }
        guard isAllowed else { throw refusal }
    }

    /// - Throws: 403 for an order that has no places.
    static func checkChanges(_ query: RequestQuery) throws {
        if try query.flag("descending") { throw refusal }
    }
}

extension DatabaseContext {
    /// Lets who is no administrator reach only what answers by channels, where there is a sync function.
    ///
    /// - Parameter path: See ``LimitedRoutes/check(_:_:)``.
    /// - Throws: 401 for a client that has not logged in, unless guests are let in; 403.
    mutating func limit(_ path: [String]) async throws {
        guard context.router.hooks.sync != nil, !served.name.isSystem, !security.isAdmin(user) else { return }
        guard user.name != nil || context.router.options.allowsGuests else {
            throw Security.refusal(user, "")
        }
        try LimitedRoutes.check(context.method, path)
        isLimited = true
        context.query.refused = LimitedRoutes.refusedFlags
        try await context.router.channelRouting?.completeLists(served)
        try await noteAccount()
        accessTime = try AccessClock.time(collection.snapshot())
    }

    /// Whether so much is kept of the user's access that the threads which wait for sockets have no time to read it.
    var hasLongAccess: Bool {
        get throws {
            guard context.router.hooks.sync != nil, let name = user.name, !served.name.isSystem else {
                return false
            }
            let record = try collection.snapshot().annotation(ChannelKey.user(name))
            return record.map { $0.count > RequestWork.mostAtOnce } ?? false
        }
    }

    /// Whether reading a document, or what is kept of its channels, takes longer than the threads have time for that wait for sockets.
    func takesLong(toRead id: String, at snapshot: CollectionSnapshot) throws -> Bool {
        if let length = try snapshot.storedLength(of: id), length > RequestWork.mostAtOnce { return true }
        guard isLimited, let record = try snapshot.annotation(ChannelKey.document(id)) else { return false }
        return record.count > RequestWork.mostAtOnce
    }

    /// Records which roles the user's account has, so that a feed can report later what came and went with them.
    private func noteAccount() async throws {
        guard let name = user.name else { return }
        let roles = ChannelAccess.accountRoles(user)
        let known = try Principal(record: collection.snapshot().annotation(ChannelKey.user(name)))
        guard (known ?? Principal()).accountRoles != roles else { return }
        let collection = collection
        try await served.database.write { batch in
            try ChannelLedger(batch: batch, collection: collection).noteAccount(name, roles: roles)
        }
    }

    /// What the user sees of a snapshot.
    func visibility(of snapshot: CollectionSnapshot) throws -> Visibility {
        Visibility(
            access: isLimited ? try ChannelAccess(user, { try snapshot.annotation($0) }) : nil,
            snapshot: snapshot)
    }

    /// How the places among the changes that the user sees are written.
    func channelTokens(_ snapshot: CollectionSnapshot) -> ChannelTokens {
        let owner = user.name.map { "user \($0)" } ?? "nobody"
        return ChannelTokens(
            secret: context.router.databases.sessionSecret,
            scope: "\(served.name.text) \(snapshot.epoch) \(owner)")
    }

    /// The name under which a local document is kept: those of who sees no more than their channels are their own.
    ///
    /// - Throws: 401 for a client that has not logged in.
    func localName(_ name: String) throws -> String {
        guard isLimited else { return name }
        guard let user = user.name else { throw Security.refusal(user, "") }
        return "channels/\(PercentEncoding.encode(user))/\(name)"
    }
}
