import Fleece
import Roost
import RoostBytes
import RoostWire

/// Says with each request who asks, and renews what says it.
actor Authentication {
    private let credentials: RemoteDatabase.Credentials
    private let transport: any Transport
    /// What requests say; `nil` until it has been asked for.
    private var fields: HTTPHeaders?
    /// How often the fields were asked for, so that requests that fail together renew them once.
    private(set) var version = 0

    private static let cookieName = "AuthSession"

    init(_ credentials: RemoteDatabase.Credentials, _ transport: any Transport) {
        self.credentials = credentials
        self.transport = transport
    }

    /// The fields that tell a server who asks.
    ///
    /// - Throws: ``RemoteError`` where it takes no name and password; what the program's own function throws.
    func current() async throws -> (fields: HTTPHeaders, version: Int) {
        if let fields { return (fields, version) }
        let made = try await make()
        fields = made
        version += 1
        return (made, version)
    }

    /// Forgets fields that a server has refused; answers whether others may do better.
    func refuse(_ refused: Int) -> Bool {
        switch credentials {
        case .none, .basic, .bearer: return false
        case .session, .renewed: break
        }
        if refused == version { fields = nil }
        return true
    }

    /// Takes over a cookie that the server renewed.
    func see(_ response: HTTPResponse) {
        guard case .session = credentials, let cookie = Self.cookie(of: response) else { return }
        var renewed = fields ?? HTTPHeaders()
        renewed["Cookie"] = cookie
        fields = renewed
    }

    private func make() async throws -> HTTPHeaders {
        switch credentials {
        case .none: [:]
        case .basic(let name, let password): Self.basic(name, password)
        case .bearer(let token): ["Authorization": "Bearer \(token)"]
        case .session(let name, let password): try await logIn(name, password)
        case .renewed(let authorization): ["Authorization": try await authorization()]
        }
    }

    private func logIn(_ name: String, _ password: String) async throws -> HTTPHeaders {
        let body = try DocumentValue.dictionary(["name": .string(name), "password": .string(password)]).json()
        var request = HTTPRequest.json("POST", "/_session", body)
        var response = try await transport.send(request)
        var fields = HTTPHeaders()
        if response.status == 401, Self.wantsBasic(response) {
            // CouchDB with `require_valid_user`, or a proxy before it, wants to know who asks already here. A proxy goes on to.
            fields = Self.basic(name, password)
            request = .json("POST", "/_session", body)
            request.headers["Authorization"] = fields["Authorization"]
            response = try await transport.send(request)
        }
        if response.status == 200, let cookie = Self.cookie(of: response) {
            fields["Cookie"] = cookie
            return fields
        }
        // A server without sessions may know the older way.
        guard response.status == 401 else { return Self.basic(name, password) }
        throw RemoteError(nil, status: 401, database: "_session")
    }

    private static func wantsBasic(_ response: HTTPResponse) -> Bool {
        response.headers.all("WWW-Authenticate").contains { $0.lowercased().hasPrefix("basic") }
    }

    private static func cookie(of response: HTTPResponse) -> String? {
        response.headers.all("Set-Cookie").lazy.compactMap { text in
            let pair = text.prefix { $0 != ";" }
            return pair.hasPrefix(cookieName + "=") && pair.utf8.count > cookieName.utf8.count + 1
                ? String(pair) : nil
        }.first
    }

    private static func basic(_ name: String, _ password: String) -> HTTPHeaders {
        ["Authorization": "Basic \(Base64.encode(Array("\(name):\(password)".utf8)))"]
    }
}
