import Roost
import RoostWire

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
