import Fleece
import Roost
import RoostCrypto
import RoostWire

/// What concerns no single database.
enum ServerRoutes {
    static func welcome(_ context: RequestContext) throws -> HTTPResponse {
        try context.allow("GET")
        return context.answer([
            "couchdb": "Welcome", "version": .string(Router.apiVersion),
            "git_sha": "roost", "uuid": .string(context.router.databases.uuid), "features": [],
            "vendor": [
                "name": .string(context.router.options.vendor), "version": .string(RoostVersion.number),
            ],
        ])
    }

    static func respond(_ context: RequestContext) async throws -> HTTPResponse {
        switch context.path[0] {
        case "_up":
            try context.allow("GET")
            guard let trouble = context.router.databases.trouble() else {
                return context.answer(["status": "ok", "seeds": [:]])
            }
            // Names of databases are for administrators.
            return RequestContext.answer(
                404,
                context.user.isAdmin
                    ? ["status": .string(trouble.word), "reason": .string(trouble.reason)]
                    : ["status": .string(trouble.word)])
        case "_utils":
            let isPicture = context.path.count == 3 && context.path[1] == "file"
            return isPicture
                ? try await context.router.filePictures.respond(context)
                : try AdministrationPage.respond(context)
        case "_all_dbs": return try allDatabases(context)
        case "_dbs_info": return try await information(context)
        case "_uuids": return try uuids(context)
        case "_active_tasks": return try await ActiveTasks.respond(context)
        case "_replicate": return try await ReplicationRoutes.replicate(context)
        case "_scheduler": return try await ReplicationRoutes.scheduler(context)
        case "_membership":
            try context.allow("GET")
            try Security.requireServerAdmin(context.user)
            return context.answer([
                "all_nodes": ["nonode@nohost"], "cluster_nodes": ["nonode@nohost"],
            ])
        case "_cluster_setup": return try clusterSetup(context)
        case "_node": return try await NodeRoutes.respond(context)
        case "_db_updates": return try await DatabaseUpdatesBody.respond(context)
        case "_search_analyze", "_nouveau_analyze", "_reshard", "_dedup":
            throw HTTPFailure.notImplemented(context.path[0])
        default:
            // A name that no database may have is an error for clients that want to create one.
            if context.method == "PUT" { _ = try DatabaseName(context.path[0]) }
            throw HTTPFailure.noDatabase
        }
    }

    private static func allDatabases(_ context: RequestContext) throws -> HTTPResponse {
        try context.allow("GET")
        try Security.requireServerAdmin(context.user)
        let names = try select(try context.router.databases.names(), context.query)
        return try context.answer(.strings(names), tag: EntityTag.of(names.joined(separator: "\n")))
    }

    /// The part of the sorted `names` that a query asks for.
    private static func select(_ names: [String], _ query: RequestQuery) throws -> [String] {
        var names = names
        let descending = try query.flag("descending")
        if descending { names.reverse() }
        func isBefore(_ left: String, _ right: String) -> Bool {
            descending
                ? right.utf8.lexicographicallyPrecedes(left.utf8)
                : left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        if let start = try query.json("startkey", "start_key")?.root.string {
            names.removeAll { isBefore($0, start) }
        }
        if let end = try query.json("endkey", "end_key")?.root.string {
            let inclusive = try query.flag("inclusive_end", default: true)
            names.removeAll { isBefore(end, $0) || !inclusive && end == $0 }
        }
        return Array(names.dropFirst(try query.count("skip") ?? 0).prefix(try query.count("limit") ?? .max))
    }

    private static func information(_ context: RequestContext) async throws -> HTTPResponse {
        try context.allow("GET", "POST")
        try Security.requireServerAdmin(context.user)
        var names = try select(try context.router.databases.names(), context.query)
        if context.method == "POST" {
            guard let keys = try await context.object().root["keys"].array else {
                throw HTTPFailure.badRequest("`keys` member must exist.")
            }
            guard keys.count <= 100 else {
                throw HTTPFailure.badRequest("`keys` member must have 100 names at most.")
            }
            names = keys.compactMap(\.string)
        }
        var rows: [JSON] = []
        for name in names {
            do {
                let served = try Routes.open(try DatabaseName(name), context)
                rows.append([
                    "key": .string(name), "info": try DatabaseRoutes.information(served, context.router),
                ])
            } catch let failure as HTTPFailure where failure.status == 404 || failure.status == 400 {
                rows.append(["key": .string(name), "error": "not_found"])
            }
        }
        return context.answer(.array(rows))
    }

    private static func uuids(_ context: RequestContext) throws -> HTTPResponse {
        try context.allow("GET")
        let count = try context.query.count("count") ?? 1
        guard count <= 1000 else {
            throw HTTPFailure.badRequest("count parameter too large: 1000 at most")
        }
        let uuids = (0..<count).map { _ in RandomText.hexadecimal(bytes: 16) }
        return context.answer(
            200, ["uuids": .strings(uuids)],
            headers: ["Cache-Control": "must-revalidate, no-cache", "Pragma": "no-cache"])
    }

    private static func clusterSetup(_ context: RequestContext) throws -> HTTPResponse {
        try context.allow("GET", "POST")
        try Security.requireServerAdmin(context.user)
        if context.method == "POST" { return context.answer(201, ["ok": true]) }
        return context.answer(["state": "single_node_enabled"])
    }
}

/// Entity tags.
enum EntityTag {
    /// The tag of what follows from `text` alone.
    static func of(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a, 64 bits
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "\"\(String(hash, radix: 36))\""
    }
}

/// `_node/_local/…`: what tools ask of a server's settings and state.
enum NodeRoutes {
    static func respond(_ context: RequestContext) async throws -> HTTPResponse {
        let isStatistics = context.path.count > 2 && StatisticsRoutes.names.contains(context.path[2])
        if !isStatistics || !context.user.roles.contains(StatisticsRoutes.role) {
            try Security.requireServerAdmin(context.user)
        }
        guard context.path.count > 1, ["_local", "nonode@nohost"].contains(context.path[1]) else {
            throw HTTPFailure(404, "not_found", "no such node")
        }
        guard context.path.count > 2 else {
            try context.allow("GET")
            return context.answer(["name": "nonode@nohost"])
        }
        switch context.path[2] {
        case "_config": return try configuration(context)
        case "_versions":
            try context.allow("GET")
            return context.answer([
                "javascript_engine": ["name": "none", "version": ""],
                "collation_driver": ["name": "roost", "library_version": ""],
            ])
        case _ where isStatistics: return try StatisticsRoutes.respond(context)
        default: throw HTTPFailure(404, "not_found", "missing")
        }
    }

    /// The options as CouchDB would name them. They are set where the server is started, not over the network.
    private static func sections(_ options: RouterOptions) -> [(String, [(String, String)])] {
        let origins = options.origins.joined(separator: ", ")
        return [
            (
                "chttpd",
                [
                    ("require_valid_user", "false"),
                    ("enable_cors", options.origins.isEmpty ? "false" : "true"),
                    ("max_http_request_size", String(options.longestJSON)),
                ]
            ),
            ("chttpd_auth", [("require_valid_user", "false"), ("timeout", String(options.sessionDuration))]),
            (
                "couchdb",
                [
                    ("max_document_size", String(options.longestJSON)),
                    ("max_attachment_size", String(options.longestAttachment)),
                ]
            ),
            (
                "cors",
                [
                    (
                        "credentials",
                        options.allowsCredentials && !options.origins.contains("*") ? "true" : "false"
                    ), ("origins", origins),
                ]
            ),
            ("httpd", [("enable_cors", options.origins.isEmpty ? "false" : "true")]),
        ]
    }

    private static func configuration(_ context: RequestContext) throws -> HTTPResponse {
        let sections = sections(context.router.options)
        let path = Array(context.path.dropFirst(3))
        guard let name = path.first else {
            try context.allow("GET")
            return context.answer(
                .object(sections.map { ($0.0, .object($0.1.map { ($0.0, .string($0.1)) })) }))
        }
        let section = sections.first { $0.0 == name }?.1 ?? []
        guard path.count > 1 else {
            try context.allow("GET")
            return context.answer(.object(section.map { ($0.0, .string($0.1)) }))
        }
        guard context.method == "GET" else {
            throw HTTPFailure.forbidden("Settings are given where the server is started.")
        }
        guard let value = section.first(where: { $0.0 == path[1] })?.1 else {
            throw HTTPFailure(404, "not_found", "unknown_config_value")
        }
        return context.answer(.string(value))
    }
}

/// `_session`: logging in and out by cookie.
enum SessionRoutes {
    /// The longest body, unpacked: it is read before anybody knows who sends it.
    private static let longestBody = 8 << 10

    static func respond(_ context: RequestContext, _ handler: String?) async throws -> HTTPResponse {
        try context.allow("GET", "POST", "DELETE")
        switch context.method {
        case "POST": return try await logIn(context)
        case "DELETE":
            return context.answer(200, ["ok": true], headers: ["Set-Cookie": SessionCookie.cleared])
        default:
            // Makes a browser ask for name and password.
            if context.user.name == nil, context.query["basic"] == "true" {
                throw HTTPFailure.unauthorized("Please login.")
            }
            var info: [(String, JSON)] = [("authentication_handlers", ["cookie", "default"])]
            if let handler { info.append(("authenticated", .string(handler))) }
            return context.answer(["ok": true, "userCtx": context.user.json, "info": .object(info)])
        }
    }

    private static func logIn(_ context: RequestContext) async throws -> HTTPResponse {
        var name: String?
        var password: String?
        if MediaType(context.headers["Content-Type"])?.essence == "application/x-www-form-urlencoded" {
            let text = try await context.body.collect(limit: longestBody)
            let form = try QueryParameters(String(decoding: text, as: UTF8.self))
            name = form["name"] ?? form["username"]
            password = form["password"]
        } else {
            try context.checkIsJSON()
            let object = try FleeceText.parse(try await context.body.collect(limit: longestBody)).root
            guard object.kind == .dictionary else {
                throw HTTPFailure.badRequest("Request body must be a JSON object")
            }
            name = object["name"].string ?? object["username"].string
            password = object["password"].string
        }
        guard let name else { throw HTTPFailure.badRequest("request body must contain a username") }
        do {
            let accounts = context.router.accounts
            let login = try await accounts.logIn(name, password ?? "", from: context.request.peer)
            let user = login.user
            return context.answer(
                200,
                ["ok": true, "name": user.name.map { .string($0) } ?? .null, "roles": .strings(user.roles)],
                headers: ["Set-Cookie": accounts.cookie(login)])
        } catch var failure as HTTPFailure {
            failure.headers["Set-Cookie"] = SessionCookie.cleared
            throw failure
        }
    }
}
