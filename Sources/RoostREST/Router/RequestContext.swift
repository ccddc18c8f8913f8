import Fleece
import Roost
import RoostBytes
import RoostWire

/// A request on its way through the router: its parts, and its user.
struct RequestContext: Sendable {
    let router: Router
    let request: HTTPRequest
    /// The method, GET for a HEAD.
    let method: String
    /// The parts of the path, decoded.
    let path: [String]
    var query: RequestQuery
    let user: UserContext
    /// What is done for the request apart from the threads that wait for sockets.
    let work: RequestWork
    /// What the request holds in memory: everything that grows with what a client sends or requests is reserved there.
    let memory: RequestMemory
    /// What a request to a database was let in by.
    var lease: AccessLease?

    var headers: HTTPHeaders { request.headers }

    /// Refuses other methods. GET stands for HEAD, too.
    func allow(_ methods: String...) throws {
        guard !methods.contains(method) else { return }
        throw HTTPFailure.method(methods.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] })
    }

    /// The address of a path of this server, as the client would write it; the path alone where it does not say how it calls the server.
    func address(_ path: String) -> String {
        headers["Host"].map { "\(request.isSecure ? "https" : "http")://\($0)\(path)" } ?? path
    }

    // MARK: Bodies

    /// The body, decompressed where it was sent as gzip.
    var body: any BodyStream {
        get throws {
            let stream = request.body ?? BytesBody([])
            switch headers["Content-Encoding"]?.lowercased() {
            case nil, "identity": return stream
            case "gzip": return GunzipBody(stream)
            case .some: throw HTTPFailure(415, "bad_content_encoding", "The only Content-Encoding is gzip.")
            }
        }
    }

    /// How long the body is, where that is known before it is read: the client has stated it and it comes as it is.
    var statedLength: Int? {
        guard headers["Content-Encoding"].map({ $0.lowercased() == "identity" }) ?? true else { return nil }
        if let bytes = request.body as? BytesBody { return bytes.count }
        return headers["Content-Length"].flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 }
    }

    /// The body in memory, which stays reserved until the request is answered or ``RequestMemory/release(_:)`` is called with its
    /// count.
    ///
    /// - Parameter limit: How long it may be where that is less than what options permit.
    func bytes(limit: Int = .max) async throws -> [UInt8] { try await bytes(limit: limit, ahead: 0) }

    private func bytes(limit: Int, ahead: Int) async throws -> [UInt8] {
        let bytes = try await memory.collect(
            try body, limit: min(limit, router.options.longestJSON), length: statedLength, ahead: ahead)
        try checkAccess()
        return bytes
    }

    /// A body may take long to arrive, so access is checked again once it is there.
    ///
    /// - Throws: 401 or 403 when access was withdrawn meanwhile.
    func checkAccess() throws {
        if let lease { return try lease.check() }
        guard try router.accounts.holds(user) else { throw AccessLease.changedAccount }
    }

    /// Parses JSON in memory that is reserved for it, and for a copy. The text stays reserved.
    ///
    /// - Parameters:
    ///   - perValue: How many bytes of memory what is built from a value takes, where that is more than a copy.
    ///   - paid: What is reserved for it already.
    func parse(_ text: [UInt8], perValue: Int = 0, paid: Int = 0) async throws -> FleeceDocument {
        let cost = JSONCost(text)
        let built = cost.values * perValue
        let whole = max(cost.parsing + built, paid)
        if whole > paid { try await memory.reserve(whole - paid) }
        let document = try FleeceText.parse(text)
        memory.release(whole - built - document.bytes.count * 2)
        return document
    }

    /// The body, parsed, and its text, which stays reserved.
    private func parsed(limit: Int, perValue: Int) async throws -> (document: FleeceDocument, text: [UInt8]) {
        let ahead = 2
        let text = try await bytes(limit: limit, ahead: ahead)
        return (try await parse(text, perValue: perValue, paid: (statedLength ?? 0) * ahead), text)
    }

    /// The body as JSON, whatever its type is said to be.
    ///
    /// - Parameter perValue: As in ``parse(_:perValue:)``.
    func uncheckedJSON(perValue: Int = 0) async throws -> FleeceDocument {
        let (document, text) = try await parsed(limit: .max, perValue: perValue)
        memory.release(text.count)
        return document
    }

    /// The body as JSON.
    ///
    /// - Throws: 415 when it is said to be something else.
    func json(perValue: Int = 0) async throws -> FleeceDocument {
        try checkIsJSON()
        return try await uncheckedJSON(perValue: perValue)
    }

    /// The body as a JSON object.
    ///
    /// - Parameters:
    ///   - limit: How long its text may be where that is less than what options permit.
    ///   - perValue: As in ``parse(_:perValue:)``.
    func object(limit: Int = .max, perValue: Int = 0) async throws -> FleeceDocument {
        let (object, text) = try await orderedObject(limit: limit, perValue: perValue)
        memory.release(text.count)
        return object
    }

    /// The body as a JSON object, and the text, which has the order of its members.
    func orderedObject(
        limit: Int = .max, perValue: Int = 0
    ) async throws -> (object: FleeceDocument, text: [UInt8]) {
        try checkIsJSON()
        let (document, text) = try await parsed(limit: limit, perValue: perValue)
        guard document.root.kind == .dictionary else {
            throw HTTPFailure.badRequest("Request body must be a JSON object")
        }
        return (document, text)
    }

    /// Requires the type of JSON, which CouchDB does of empty bodies, too.
    func checkIsJSON() throws {
        guard MediaType(headers["Content-Type"])?.essence == "application/json" else {
            throw HTTPFailure(415, "bad_content_type", "Content-Type must be application/json")
        }
    }

    // MARK: Answers

    /// An answer in JSON, which ends with a newline.
    func answer(_ status: Int = 200, _ json: JSON, headers: HTTPHeaders = HTTPHeaders()) -> HTTPResponse {
        Self.answer(status, json, headers: headers)
    }

    static func answer(_ status: Int, _ json: JSON, headers: HTTPHeaders = HTTPHeaders()) -> HTTPResponse {
        var headers = headers
        headers["Content-Type"] = "application/json"
        return HTTPResponse(status, headers: headers, body: .bytes(json.bytes + [10]))
    }

    /// An answer with a tag, or 304 when the client has it already.
    func answer(_ json: @autoclosure () throws -> JSON, tag: String) throws -> HTTPResponse {
        let headers: HTTPHeaders = ["ETag": tag]
        return try unmodified(tag, headers) ?? answer(200, try json(), headers: headers)
    }

    /// 304 for a GET or HEAD of a representation with a tag, where the client has it already; `nil` where it is to be sent.
    ///
    /// - Parameter revision: That of the document, where clients of CouchDB may name it in `If-Match` instead of a tag.
    /// - Throws: 412 where it is not the one that the client requests.
    func unmodified(
        _ tag: String, _ headers: HTTPHeaders, revision: RevisionID? = nil
    ) throws -> HTTPResponse? {
        guard method == "GET" else { return nil }
        var conditions = self.headers
        if let revision, let wanted = conditions["If-Match"],
            wanted.drop(while: { $0 == "\"" }).prefix(while: { $0 != "\"" }) == "\(revision)"
        {
            conditions["If-Match"] = nil
        }
        switch Preconditions(conditions).verdict(tag) {
        case .proceed: return nil
        case .notModified: return HTTPResponse(304, headers: headers)
        case .failed:
            throw HTTPFailure(
                412, "precondition_failed", "If-Match names another version than the present one.")
        }
    }

    /// An answer whose JSON is made while it is sent. The first piece is made now, so that what fails early is answered
    /// with a status of its own.
    func stream(
        _ body: any BodyStream, status: Int = 200, headers: HTTPHeaders = HTTPHeaders()
    ) async throws -> HTTPResponse {
        var headers = headers
        headers["Content-Type"] = headers["Content-Type"] ?? "application/json"
        let first = try await body.next()
        return HTTPResponse(status, headers: headers, body: .stream(BegunBody(first, body), length: nil))
    }
}

/// A body whose first piece has been taken.
private actor BegunBody: BodyStream {
    private var first: [UInt8]?
    private let rest: any BodyStream

    init(_ first: [UInt8]?, _ rest: any BodyStream) {
        self.first = first
        self.rest = rest
    }

    func next() async throws -> [UInt8]? {
        if let first = first.take() { return first }
        return try await rest.next()
    }
}

/// The parameters of a request, read as what CouchDB takes them for. Unknown ones are ignored.
struct RequestQuery: Sendable {
    private(set) var parameters: QueryParameters
    /// Flags that may not be set.
    var refused: Set<String> = []

    init(_ parameters: QueryParameters) { self.parameters = parameters }

    subscript(_ name: String) -> String? { parameters[name] }

    /// `true` or `false`.
    func flag(_ name: String, default value: Bool = false) throws -> Bool {
        switch parameters[name]?.lowercased() {
        case nil: value
        case "true" where refused.contains(name):
            throw HTTPFailure.forbidden("\(name) is for administrators of this database.")
        case "true": true
        case "false": false
        case let other?:
            throw HTTPFailure.invalidQuery("Invalid boolean parameter: \(JSON.string(other).text)")
        }
    }

    /// A whole number that is not negative.
    func count(_ name: String) throws -> Int? {
        guard let text = parameters[name] else { return nil }
        guard let number = Int(text) else {
            throw HTTPFailure.invalidQuery("Invalid value for integer: \(JSON.string(text).text)")
        }
        guard number >= 0 else {
            throw HTTPFailure.invalidQuery("Invalid value for positive integer: \(JSON.string(text).text)")
        }
        return number
    }

    /// A value in JSON, under any of several names.
    func json(_ names: String...) throws -> FleeceDocument? {
        for name in names {
            guard let text = parameters[name] else { continue }
            do throws(FleeceError) {
                return try FleeceDocument(json: text)
            } catch {
                throw HTTPFailure.badRequest("invalid UTF-8 JSON in \(name): \(error.message)")
            }
        }
        return nil
    }

    /// The same parameters but one.
    func without(_ name: String) -> RequestQuery {
        var copy = self
        copy.parameters[name] = nil
        return copy
    }

    /// The same parameters with those of a JSON object in their place. `keys` is none of them: a list that may be long is read where
    /// it is.
    func overridden(by object: FleeceDictionary) -> RequestQuery {
        var copy = self
        for (name, value) in object where name != "keys" {
            copy.parameters[name] = RequestQuery.text(name, value)
        }
        return copy
    }

    /// The same parameters with those of a JSON object, except `keys`, where they are not given.
    func completed(by object: FleeceDictionary) -> RequestQuery {
        var copy = self
        for (name, value) in object
        where name != "keys" && !RequestQuery.names(of: name).contains(where: { parameters[$0] != nil }) {
            copy.parameters[name] = RequestQuery.text(name, value)
        }
        return copy
    }

    /// All names of a parameter.
    private static func names(of name: String) -> [String] {
        let several = [
            ["startkey", "start_key"], ["endkey", "end_key"], ["startkey_docid", "start_key_doc_id"],
            ["endkey_docid", "end_key_doc_id"],
        ]
        return several.first { $0.contains(name) } ?? [name]
    }

    /// How a value would be written as a parameter: those that are JSON anyway as JSON.
    private static func text(_ name: String, _ value: FleeceValue) -> String {
        let isJSON = [
            "key", "startkey", "start_key", "endkey", "end_key", "doc_ids",
        ].contains(name)
        return isJSON ? value.json() : value.string ?? value.json()
    }
}

extension JSON {
    /// The text.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}
