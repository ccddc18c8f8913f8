import Fleece
import Roost
import RoostWire

/// Asks a database behind CouchDB's HTTP API.
struct RemoteClient: Sendable {
    /// The database's name, not encoded.
    let database: String
    let transport: any Transport
    let headers: HTTPHeaders

    /// The most bytes of JSON that are taken from a server at once.
    private static let longestAnswer = 256 << 20
    /// The most bytes that are taken of an answer that says what is wrong.
    private static let longestError = 64 << 10

    // MARK: Requests

    /// The path of a document within its database.
    static func path(_ id: String) -> String {
        for prefix in ["_design/", "_local/"] where id.hasPrefix(prefix) {
            return "/" + prefix + PercentEncoding.encode(String(id.dropFirst(prefix.count)))
        }
        return "/" + PercentEncoding.encode(id)
    }

    private func target(_ path: String) -> String { "/" + PercentEncoding.encode(database) + path }

    func get(_ path: String) -> HTTPRequest { .get(target(path)) }

    func post(_ path: String, _ body: [UInt8]) -> HTTPRequest { json("POST", path, body) }

    func post(_ path: String, _ text: String) -> HTTPRequest { post(path, Array(text.utf8)) }

    func put(_ path: String, _ text: String) -> HTTPRequest { json("PUT", path, Array(text.utf8)) }

    func put(_ path: String, _ body: any BodyStream) -> HTTPRequest {
        HTTPRequest("PUT", target(path), body: body)
    }

    private func json(_ method: String, _ path: String, _ body: [UInt8]) -> HTTPRequest {
        HTTPRequest(
            method, target(path),
            headers: ["Content-Type": "application/json", "Content-Length": "\(body.count)"],
            body: BytesBody(body))
    }

    // MARK: Answers

    /// The JSON of a successful answer.
    ///
    /// - Throws: ``RemoteError`` for an answer of failure, or one that is no JSON; what the transport throws.
    func json(_ request: HTTPRequest) async throws -> FleeceValue {
        let response = try await send(request)
        let bytes = try await response.bytes(limit: Self.longestAnswer)
        do {
            return try FleeceDocument(json: bytes).root
        } catch {
            throw RemoteError.malformed(self, "its answer is no JSON")
        }
    }

    /// As ``json(_:)``; `nil` when there is nothing of that name.
    func jsonIfFound(_ request: HTTPRequest) async throws -> FleeceValue? {
        do {
            return try await json(request)
        } catch let error as RemoteError where error.status == 404 {
            return nil
        }
    }

    /// The body of a successful answer.
    func stream(_ request: HTTPRequest) async throws -> any BodyStream {
        let response = try await send(request)
        switch response.body {
        case .none: return BytesBody([])
        case .bytes(let bytes): return BytesBody(bytes)
        case .stream(let stream, _):
            return response.headers["Content-Encoding"] == "gzip" ? GunzipBody(stream) : stream
        }
    }

    private func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        for field in headers.fields where request.headers[field.name] == nil {
            request.headers.add(field.name, field.value)
        }
        if request.headers["Accept"] == nil { request.headers["Accept"] = "application/json, */*" }
        let response = try await transport.send(request)
        guard !(200..<300).contains(response.status) else { return response }
        let bytes = (try? await response.bytes(limit: Self.longestError)) ?? []
        let answer = (try? FleeceDocument(json: bytes))?.root
        throw RemoteError(answer, status: response.status, self)
    }
}

/// What a server refused, in its own words.
public struct RemoteError: Error, Sendable, CustomStringConvertible {
    /// The status of its answer; 200 where it refused one document among others.
    public let status: Int
    /// CouchDB's word for what is wrong, such as `forbidden`.
    public let kind: String
    /// Its reason.
    public let reason: String
    /// The database that was asked for.
    public let database: String

    init(_ answer: FleeceValue?, status: Int, _ client: RemoteClient) {
        self.status = status
        kind = answer?["error"].string ?? HTTPResponse.phrase(status)
        reason = answer?["reason"].string ?? ""
        database = client.database
    }

    private init(_ reason: String, _ client: RemoteClient) {
        (status, kind, database) = (502, "malformed_answer", client.database)
        self.reason = reason
    }

    static func malformed(_ client: RemoteClient, _ reason: String) -> RemoteError {
        RemoteError("The server of \(client.database) does not speak CouchDB's API here: \(reason).", client)
    }

    /// Whether the same might succeed later: the server is busy or broken, or could not be understood this time.
    var isTemporary: Bool { status == 408 || status == 429 || status >= 500 }

    /// Database, status, word and reason.
    public var description: String { "\(database): \(status) \(kind)\(reason.isEmpty ? "" : ", \(reason)")" }
}
