import Fleece
import RoostWire

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
            // Has a browser ask for name and password.
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
