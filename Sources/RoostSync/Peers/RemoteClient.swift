import Fleece
import Roost
import RoostBytes
import RoostWire

/// Sends requests to a database behind CouchDB's HTTP API.
struct RemoteClient: Sendable {
    /// The database's name, not encoded.
    let database: String
    /// The database as errors name it.
    let label: String
    private let transport: any Transport
    private let authentication: Authentication

    /// The most bytes of JSON that are taken from a server at once.
    private static let longestAnswer = 64 << 20
    /// The most bytes that are taken of an answer that says what is wrong.
    private static let longestError = 64 << 10

    init(
        _ database: String, _ label: String, over transport: any Transport,
        _ credentials: RemoteDatabase.Credentials
    ) {
        self.database = database
        self.label = label
        self.transport = transport
        authentication = Authentication(credentials, transport)
    }

    // MARK: Requests

    /// The path of a document within its database.
    static func path(_ id: String) -> String {
        for prefix in ["_design/", "_local/"] {
            if let name = id.removing(prefix: prefix) { return "/" + prefix + PercentEncoding.encode(name) }
        }
        return "/" + PercentEncoding.encode(id)
    }

    private func target(_ path: String) -> String { "/" + PercentEncoding.encode(database) + path }

    /// What every server answers at its root.
    var root: RemoteRequest { RemoteRequest("GET", "/") }

    func get(_ path: String) -> RemoteRequest { RemoteRequest("GET", target(path)) }

    func get(_ path: String, accept: String) -> RemoteRequest {
        RemoteRequest("GET", target(path), ["Accept": accept])
    }

    func post(_ path: String, _ body: [UInt8]) -> RemoteRequest { json("POST", path, body) }

    func post(_ path: String, _ text: String) -> RemoteRequest { post(path, Array(text.utf8)) }

    func put(_ path: String, _ text: String) -> RemoteRequest { json("PUT", path, Array(text.utf8)) }

    func put(
        _ path: String, headers: HTTPHeaders, _ body: @escaping @Sendable () -> any BodyStream
    ) -> RemoteRequest {
        RemoteRequest("PUT", target(path), headers, body)
    }

    private func json(_ method: String, _ path: String, _ body: [UInt8]) -> RemoteRequest {
        let headers: HTTPHeaders = ["Content-Type": "application/json", "Content-Length": "\(body.count)"]
        return RemoteRequest(method, target(path), headers) { BytesBody(body) }
    }

    // MARK: Answers

    /// The JSON of a successful answer.
    ///
    /// - Throws: ``RemoteError`` for an answer of failure, or one that is no JSON; what the transport throws.
    func json(_ request: RemoteRequest) async throws -> FleeceValue {
        let bytes = try await bytes(request)
        do {
            return try FleeceDocument(json: bytes).root
        } catch {
            throw malformed("its answer is no JSON")
        }
    }

    /// The text of a successful answer, for what is taken apart before it is parsed.
    ///
    /// - Throws: ``RemoteError`` for an answer of failure, or one that is too long; what the transport throws.
    func bytes(_ request: RemoteRequest) async throws -> [UInt8] {
        let response = try await send(request)
        do {
            return try await response.bytes(limit: Self.longestAnswer)
        } catch let error as WireError {
            throw RemoteError(
                status: error.status == 413 ? 413 : 502, "malformed_answer", "\(error)", label)
        }
    }

    /// As ``json(_:)``; `nil` when there is nothing of that name.
    func jsonIfFound(_ request: RemoteRequest) async throws -> FleeceValue? {
        do {
            return try await json(request)
        } catch let error as RemoteError where error.status == 404 {
            return nil
        }
    }

    /// The body of a successful answer.
    func stream(_ request: RemoteRequest) async throws -> any BodyStream {
        switch try await send(request).body {
        case .none: BytesBody([])
        case .bytes(let bytes): BytesBody(bytes)
        case .stream(let stream, _): stream
        }
    }

    /// The error for an answer that is not CouchDB's API.
    func malformed(_ reason: String) -> RemoteError {
        RemoteError(
            status: 502, "malformed_answer", "The server does not speak CouchDB's API here: \(reason).",
            database)
    }

    private func send(_ request: RemoteRequest) async throws -> HTTPResponse {
        let (response, version) = try await answer(to: request.made())
        guard response.status == 401, await authentication.refuse(version) else {
            return try await checked(response)
        }
        return try await checked(answer(to: request.made()).response)
    }

    private func answer(to request: HTTPRequest) async throws -> (response: HTTPResponse, version: Int) {
        var request = request
        let (fields, version) = try await authentication.current()
        for field in fields.fields { request.headers.add(field.name, field.value) }
        if request.headers["Accept"] == nil { request.headers["Accept"] = "application/json, */*" }
        request.headers["Accept-Encoding"] = "gzip"
        var response = try await transport.send(request)
        await authentication.see(response)
        if case .stream(let stream, _) = response.body, response.headers["Content-Encoding"] == "gzip" {
            response.body = .stream(GunzipBody(stream), length: nil)
        }
        return (response, version)
    }

    /// - Throws: What the answer says is wrong.
    private func checked(_ response: HTTPResponse) async throws -> HTTPResponse {
        guard !(200..<300).contains(response.status) else { return response }
        let bytes = (try? await response.bytes(limit: Self.longestError)) ?? []
        throw RemoteError(
            (try? FleeceDocument(json: bytes))?.root, status: response.status, database: label)
    }
}

/// A request that can be sent more than once.
struct RemoteRequest: Sendable {
    private let method: String
    private let target: String
    private let headers: HTTPHeaders
    private let body: (@Sendable () -> any BodyStream)?

    init(
        _ method: String, _ target: String, _ headers: HTTPHeaders = HTTPHeaders(),
        _ body: (@Sendable () -> any BodyStream)? = nil
    ) {
        (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
    }

    func made() -> HTTPRequest {
        HTTPRequest(method, target, headers: headers, body: body.map { RepeatableBody($0) })
    }
}

/// A refusal by a server, in its own words.
public struct RemoteError: Error, Sendable, CustomStringConvertible {
    /// The status of its answer; 200 where it refused one document among others.
    public let status: Int
    /// CouchDB's word for what is wrong, such as `forbidden`.
    public let kind: String
    /// Its reason.
    public let reason: String
    /// The address of the database, without credentials.
    public let database: String

    init(_ answer: FleeceValue?, status: Int, database: String) {
        self.init(
            status: status, Self.shortened(answer?["error"].string) ?? HTTPResponse.phrase(status),
            Self.shortened(answer?["reason"].string) ?? "", database)
    }

    init(status: Int, _ kind: String, _ reason: String, _ database: String) {
        (self.status, self.kind, self.reason, self.database) = (status, kind, reason, database)
    }

    /// A server's text, shortened for a list of errors.
    private static func shortened(_ text: String?) -> String? { text.map { String($0.prefix(500)) } }

    /// Whether the same might succeed later: the server is busy or broken, or could not be understood this time.
    var isTemporary: Bool { status == 408 || status == 429 || status >= 500 }

    /// Whether a request with several documents may have been refused for what one of them is.
    var mayBeOfOneDocument: Bool { [400, 409, 412, 413, 414, 415, 417, 422].contains(status) }

    /// Whether the server failed at the request, which may be because of one document.
    var isServerFailure: Bool { status == 500 }

    /// Whether the user may not write here.
    var refusesWriting: Bool { [401, 403, 405].contains(status) }

    /// Whether it concerns one document only, and not the credentials or the database.
    var isOfOneDocument: Bool {
        let isOfDatabase = status == 401 || (status == 404 && Self.absences.contains(reason))
        return (200..<500).contains(status) && !isTemporary && !isOfDatabase
    }

    /// What CouchDB says of a database that it has not.
    private static let absences: Set<String> = ["Database does not exist.", "no_db_file"]

    /// Database, status, word and reason.
    public var description: String { "\(database): \(status) \(kind)\(reason.isEmpty ? "" : ", \(reason)")" }
}

/// Adds credentials to requests, and renews them.
actor Authentication {
    private let credentials: RemoteDatabase.Credentials
    private let transport: any Transport
    /// The fields of requests; `nil` until they are first needed.
    private var fields: HTTPHeaders?
    /// How often the fields were made, so that requests that fail together renew them once.
    private(set) var version = 0

    private static let cookieName = "AuthSession"

    init(_ credentials: RemoteDatabase.Credentials, _ transport: any Transport) {
        self.credentials = credentials
        self.transport = transport
    }

    /// The fields that identify the client to a server.
    ///
    /// - Throws: ``RemoteError`` where it takes no name and password; what the program's own function throws.
    func current() async throws -> (fields: HTTPHeaders, version: Int) {
        if let fields { return (fields, version) }
        let made = try await make()
        fields = made
        version += 1
        return (made, version)
    }

    /// Discards fields that a server has refused, and returns whether others may do better.
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
            // CouchDB with `require_valid_user`, or a proxy before it, wants credentials already here. A proxy wants them in later requests, too.
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
