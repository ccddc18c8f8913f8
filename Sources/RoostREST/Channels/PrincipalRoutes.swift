import Fleece
import Roost
import RoostWire

/// `_user/NAME` and `_role/NAME` of a database: the channels and roles that an administrator grants, besides those that documents grant, in the
/// form of Sync Gateway's administrative API. Accounts themselves are documents of `_users`, as in CouchDB.
struct PrincipalRoutes {
    private let target: DatabaseContext
    private let isRole: Bool
    private let name: String
    private let key: [UInt8]

    private static let members: Set<String> = [
        "name", "password", "admin_channels", "admin_roles", "disabled", "email",
    ]

    /// - Parameter path: `_user` or `_role`, and a name where one is asked for.
    static func respond(_ target: DatabaseContext, _ path: [String]) async throws -> HTTPResponse {
        let context = target.context
        try target.security.requireAdmin(target.user)
        guard context.router.hooks.sync != nil else {
            throw HTTPFailure(
                501, "not_implemented",
                "There are no channels here: the server was started without a sync function."
            )
        }
        guard path.count <= 2 else { throw HTTPFailure.missing }
        if path.count == 1 {
            try context.allow("GET", "POST")
            if context.method == "GET" { return try list(target, isRole: path[0] == "_role") }
        } else {
            try context.allow("GET", "PUT", "DELETE")
        }
        let body = ["PUT", "POST"].contains(context.method) ? try await context.object().root : .undefined
        let named = body["name"].exists ? body["name"].string ?? "" : nil
        let name = path.count > 1 ? path[1] : named ?? ""
        guard named?.isIdentical(to: name) != false else {
            throw HTTPFailure.badRequest("`name` must be the name in the path, \(name).")
        }
        let routes = try Self(target, isRole: path[0] == "_role", name: name)
        switch context.method {
        case "GET": return try routes.tell()
        case "DELETE": return try await routes.withdraw()
        default: return try await routes.give(body)
        }
    }

    private init(_ target: DatabaseContext, isRole: Bool, name: String) throws {
        if let problem = SyncDecision.problem(ofName: name) {
            throw HTTPFailure.badRequest("Found \(problem).")
        }
        self.target = target
        self.isRole = isRole
        self.name = name
        key = isRole ? ChannelKey.role(name) : ChannelKey.user(name)
    }

    // MARK: Reading

    private static func list(_ target: DatabaseContext, isRole: Bool) throws -> HTTPResponse {
        let prefix = isRole ? ChannelKey.role("") : ChannelKey.user("")
        let names = try target.collection.snapshot().annotationKeys(under: prefix)
        return target.context.answer(.strings(names.map { String(decoding: $0, as: UTF8.self) }))
    }

    private func tell() throws -> HTTPResponse {
        let snapshot = try target.collection.snapshot()
        guard let principal = try Principal(record: snapshot.annotation(key)) else {
            throw HTTPFailure.missing
        }
        var members: [(String, JSON)] = [
            ("name", .string(name)), ("admin_channels", .strings(principal.given(\.channels).sorted())),
        ]
        if isRole {
            members.append(
                ("all_channels", .strings(principal.channels.filter(\.value.isHeld).keys.sorted())))
        } else {
            let access = try ChannelAccess(UserContext(name: name)) { try snapshot.annotation($0) }
            members += [
                ("admin_roles", .strings(principal.given(\.roles).sorted())),
                ("all_channels", .strings(access.channels.sorted())),
                ("roles", .strings(access.roleNames.sorted())),
            ]
        }
        return target.context.answer(.object(members))
    }

    // MARK: Writing

    /// Gives what the body says; a list that it leaves out stays as it is.
    private func give(_ body: FleeceValue) async throws -> HTTPResponse {
        for (member, _) in body.dictionary ?? .empty where !Self.members.contains(member) {
            throw HTTPFailure.badRequest("`\(member)` is no member of a user or a role.")
        }
        if body["disabled"].bool == true { throw HTTPFailure.notImplemented("`disabled`") }
        let (channels, roles) = (try list(body, "admin_channels"), try list(body, "admin_roles"))
        guard !isRole || roles == nil && !body["password"].exists else {
            throw HTTPFailure.badRequest("A role has `admin_channels` only.")
        }
        if body["password"].exists { try await setPassword(body["password"]) }
        let wasThere = try await write { ledger in
            try ledger.give(key, channels: channels, roles: roles)
        }
        return target.context.answer(wasThere ? 200 : 201, ["ok": true, "name": .string(name)])
    }

    /// Takes back what an administrator gave. What documents and the account give stays, and so does the account.
    private func withdraw() async throws -> HTTPResponse {
        guard try target.collection.snapshot().annotation(key) != nil else { throw HTTPFailure.missing }
        _ = try await write { try $0.give(key, channels: [], roles: []) }
        return target.context.answer(["ok": true])
    }

    /// Answers whether the user or role was known before.
    private func write(_ change: @escaping @Sendable (ChannelLedger) throws -> Void) async throws -> Bool {
        let (collection, key) = (target.collection, key)
        return try await target.served.database.write { batch in
            let wasThere = try batch.annotation(key, in: collection) != nil
            try change(ChannelLedger(batch: batch, collection: collection))
            return wasThere
        }
    }

    private func list(_ body: FleeceValue, _ member: String) throws -> Set<String>? {
        guard body[member].exists else { return nil }
        guard let names = body[member].array?.map(\.string), !names.contains(nil) else {
            throw HTTPFailure.badRequest("`\(member)` must be an array of names.")
        }
        for name in names {
            if let problem = SyncDecision.problem(ofName: name ?? "") {
                throw HTTPFailure.badRequest("`\(member)` has \(problem).")
            }
        }
        return Set(names.compactMap(\.self))
    }

    /// Makes the user's account, or changes its password.
    private func setPassword(_ password: FleeceValue) async throws {
        try Security.requireServerAdmin(target.user)
        guard let password = password.string else {
            throw HTTPFailure.badRequest("`password` must be a text.")
        }
        try await UsersDatabase.setPassword(password, of: name, in: target.context)
    }
}
