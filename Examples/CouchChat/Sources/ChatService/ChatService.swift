import ChatRules
import Fleece
import Roost
import RoostREST
import RoostScript
import RoostServer
import RoostWire

/// What the chat's server answers: CouchDB's API for one database under the chat's rules, a way to sign up, and a page for browsers.
///
/// `POST /_signup` with `{"name", "password"}` makes an account. Whoever can reach the server may, so put it where only those are
/// who should, or ask for an invitation there.
public struct ChatService: RequestHandler {
    /// The name of the database.
    public static let database = "chat"

    private let router: Router

    /// What the server has done.
    public var statistics: ServerStatistics { router.statistics }

    /// A service with its data in `directory`, which is made if there is none.
    ///
    /// - Parameters:
    ///   - rules: Who may write and see what; ``ChatRules`` in Swift, or in JavaScript.
    ///   - administrator: A name and a password; the administrator sees everything.
    ///   - passwordRounds: How many rounds of PBKDF2 passwords are kept with; the router's default, unless a test is in a hurry.
    public init(
        _ directory: String, rules: SyncFunction = ChatRules.syncFunction,
        administrator: (name: String, password: String),
        passwordRounds: Int = RouterOptions().passwordRounds
    ) async throws {
        var options = RouterOptions()
        options.admins = [administrator.name: administrator.password]
        options.passwordRounds = passwordRounds
        // A device may stay away for long and needs no new password meanwhile.
        options.sessionDuration = 7 * 86_400
        var hooks = Hooks()
        hooks.sync = rules
        router = Router(try DatabaseDirectory(directory), options: options, hooks: hooks)
        try router.databases.create(Self.database)
        try router.databases.create("_users")
        // Everybody with an account is let in; what they see there is up to the rules.
        let opening = HTTPRequest.json("PUT", "/\(Self.database)/_security", #"{"members": {}}"#)
        try await router.respond(to: opening, as: .admin).require(200)
        try await router.routeChannels(of: Self.database)
    }

    /// Closes the databases, after the server was stopped.
    public func close() throws { try router.databases.close() }

    /// The rules in JavaScript, as `roost serve --sync-function` runs them.
    public static func javaScriptRules() throws -> SyncFunction {
        try JavaScript(program: []).syncFunction(ChatRules.javaScript)
    }

    /// Answers as CouchDB does, and makes accounts.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        if ChatPage.isWanted(by: request) { return ChatPage.response() }
        guard request.method == "POST", request.target == "/_signup" else {
            return await router.respond(to: request)
        }
        do {
            return try await signUp(request)
        } catch let error as WireError {
            return .refusal(error.status, error.description)
        } catch {
            return .refusal(400, "Send {\"name\", \"password\"} as JSON.")
        }
    }

    private func signUp(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try FleeceDocument(json: try await request.body?.collect(limit: 4096) ?? [])
        guard let name = body["name"].string, let password = body["password"].string else {
            return .refusal(400, "A name and a password are needed.")
        }
        guard (1...40).contains(name.utf8.count), name.allSatisfy(Self.isAllowed) else {
            return .refusal(400, "A name has up to 40 of the characters a to z, 0 to 9, - and _.")
        }
        guard password.count >= 8 else { return .refusal(400, "A password has eight characters at least.") }
        // Rooms know people by their names, so that of a deleted account is nobody else's either.
        let former = try router.databases.database("_users")?.defaultCollection.snapshot()
            .leaves(of: "org.couchdb.user:\(name)")
        guard former?.isEmpty == true, router.options.admins[name] == nil else {
            return .refusal(409, "The name \(name) is taken.")
        }
        let account: DocumentValue = .dictionary([
            "name": .string(name), "password": .string(password), "type": .string("user"),
            "roles": .array([]),
        ])
        let saved = await router.respond(
            to: .json("PUT", "/_users/org.couchdb.user:\(name)", try account.json()), as: .admin)
        switch saved.status {
        case 201: return HTTPResponse(201, body: .bytes(Array("{\"ok\":true}\n".utf8)))
        case 409: return .refusal(409, "The name \(name) is taken.")
        default: return saved
        }
    }

    private static func isAllowed(_ character: Character) -> Bool {
        character.isASCII && (character.isLowercase || character.isNumber || "-_".contains(character))
    }
}

extension HTTPResponse {
    /// A failure in the form in which CouchDB tells one.
    fileprivate static func refusal(_ status: Int, _ reason: String) -> HTTPResponse {
        let value: DocumentValue = .dictionary(["error": .string("bad_request"), "reason": .string(reason)])
        var headers = HTTPHeaders()
        headers["Content-Type"] = "application/json"
        return HTTPResponse(status, headers: headers, body: .bytes(Array("\(value)\n".utf8)))
    }

    /// - Throws: When the status is another one.
    fileprivate func require(_ expected: Int) async throws {
        guard status == expected else {
            throw WireError(
                status, String(decoding: (try? await bytes(limit: 4096)) ?? [], as: UTF8.self))
        }
    }
}
