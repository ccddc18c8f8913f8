/// A request of a client: a value, whether it came over a socket or from a caller in the same process.
public struct HTTPRequest: Sendable {
    /// The method as it was sent, such as `GET`.
    public var method: String
    /// Path and query as they were sent, percent-encoded: `/db/doc%2F1?rev=1-a`.
    public var target: String
    /// The fields.
    public var headers: HTTPHeaders
    /// What follows the head; `nil` where nothing does.
    public var body: (any BodyStream)?
    /// The address of the client, as text; empty for a caller in the same process.
    public var peer: String
    /// Whether it came over an encrypted connection; cookies are then for such ones only. Default: `false`.
    public var isSecure = false
    /// Who waits for the answer, so that work for one who has gone can be ended; `nil` for a caller in the same process, whose task is
    /// cancelled instead.
    public var client: (any RequestClient)?

    /// A request.
    public init(
        _ method: String, _ target: String, headers: HTTPHeaders = HTTPHeaders(),
        body: (any BodyStream)? = nil, peer: String = ""
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.peer = peer
    }

    /// A GET.
    public static func get(_ target: String, headers: HTTPHeaders = HTTPHeaders()) -> Self {
        Self("GET", target, headers: headers)
    }

    /// A request with a JSON body.
    public static func json(
        _ method: String, _ target: String, _ text: String, headers: HTTPHeaders = HTTPHeaders()
    ) -> Self {
        var headers = headers
        headers["Content-Type"] = "application/json"
        return Self(method, target, headers: headers, body: BytesBody(Array(text.utf8)))
    }
}

/// What a server answers: a value, whatever carries it to the client.
public struct HTTPResponse: Sendable {
    /// What follows the head.
    public enum Body: Sendable {
        /// Nothing.
        case none
        /// Bytes that are there already.
        case bytes([UInt8])
        /// Bytes that are made on demand; `length` is their number where that is known.
        case stream(any BodyStream, length: UInt64?)
    }

    /// The status code, such as 200.
    public var status: Int
    /// The fields, without those that frame the body: who sends it adds `Content-Length` or `Transfer-Encoding`.
    public var headers: HTTPHeaders
    /// What follows the head.
    public var body: Body
    /// Whether the body goes on until the client hangs up, so that a client that closes its side has ended it.
    public var isEndless = false
    /// Who asked, for the log; `nil` for a client that has not logged in. It is not sent.
    public var user: String?
    /// What the connection becomes after this answer, whose status is 101 then. A listener that can't do that must answer 501 instead.
    public var upgrade: WebSocketUpgrade?

    /// A response.
    public init(_ status: Int, headers: HTTPHeaders = HTTPHeaders(), body: Body = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The whole body in memory.
    ///
    /// - Parameter limit: How long it may be, in bytes.
    /// - Throws: ``WireError`` 413 when it is longer; what the stream throws.
    public func bytes(limit: Int = .max) async throws -> [UInt8] {
        switch body {
        case .none: []
        case .bytes(let bytes): bytes
        case .stream(let stream, _): try await stream.collect(limit: limit)
        }
    }

    /// The standard's phrase for a status code (RFC 9110, section 15); `Unknown` for one that it has not.
    public static func phrase(_ status: Int) -> String { phrases[status] ?? "Unknown" }

    private static let phrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 200: "OK", 201: "Created", 202: "Accepted",
        204: "No Content",
        206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict",
        410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 421: "Misdirected Request", 426: "Upgrade Required",
        429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
        503: "Service Unavailable", 505: "HTTP Version Not Supported", 507: "Insufficient Storage",
    ]
}

/// The fields of a request, a response or a part, in the order in which they came. Names are compared without regard to
/// upper and lower case (RFC 9110, section 5.1).
public struct HTTPHeaders: Sendable, Equatable {
    /// One field.
    public struct Field: Sendable, Equatable {
        /// The name as it was written.
        public let name: String
        /// The value without the white space around it.
        public let value: String
    }

    /// All fields.
    public private(set) var fields: [Field] = []

    /// No fields.
    public init() {}

    /// These fields, in this order.
    public init(_ fields: [(String, String)]) {
        self.fields = fields.map { Field(name: $0.0, value: $0.1) }
    }

    /// The value of the first field of that name. Assigning replaces all of them; `nil` removes them. O(n).
    public subscript(name: String) -> String? {
        get { fields.first { Self.areEqual($0.name, name) }?.value }
        set {
            fields.removeAll { Self.areEqual($0.name, name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// The values of all fields of that name.
    public func all(_ name: String) -> [String] {
        fields.filter { Self.areEqual($0.name, name) }.map(\.value)
    }

    /// Adds a field, whether there are others of that name or not.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Whether a list-valued field such as `Connection` has `token` among its elements.
    public func list(_ name: String, contains token: String) -> Bool {
        all(name).contains { value in
            value.split(separator: ",").contains { Self.areEqual(Self.trimmed($0), token) }
        }
    }

    /// Whether a client that sent these fields takes a content coding (RFC 9110, section 12.5.3). One that sent none gets what
    /// has none.
    public func acceptsCoding(_ coding: String) -> Bool {
        var accepted: Bool?
        for element in all("Accept-Encoding").flatMap({ $0.split(separator: ",") }) {
            let parts = element.split(separator: ";").map { Self.trimmed($0).lowercased() }
            guard let name = parts.first else { continue }
            let isRefused = parts.dropFirst().contains { parameter in
                let pair = parameter.split(separator: "=").map { Self.trimmed($0) }
                return pair.count == 2 && pair[0] == "q" && !(Double(pair[1]).map { $0 > 0 } ?? false)
            }
            if name == coding || name == "x-\(coding)" { return !isRefused }
            if name == "*" { accepted = !isRefused }
        }
        return accepted ?? false
    }

    /// Whether both are the same ASCII text but for upper and lower case.
    @inlinable package static func areEqual(
        _ left: some StringProtocol, _ right: some StringProtocol
    ) -> Bool {
        left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8) { lower($0) == lower($1) }
    }

    package static func trimmed(_ text: some StringProtocol) -> String {
        var bytes = Array(text.utf8)[...]
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes = bytes.dropLast() }
        return String(decoding: bytes.drop { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
    }

    @inlinable static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// The fields as written, in this order.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}

/// Who waits for an answer at the other end of a connection.
public protocol RequestClient: Sendable {
    /// Has `hangUp` called, once, when the client ends its side before ``stopWatching()``. One watches at a time.
    func watch(_ hangUp: @escaping @Sendable () -> Void)
    /// Ends a watch.
    func stopWatching()
}

/// A message that can't be understood, or that is larger than it may be.
public struct WireError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The status that a server answers it with: 400, 413, 414, 431, 501 or 505.
    public let status: Int
    /// What is wrong, as a sentence.
    public let description: String

    /// An error with its status.
    public init(_ status: Int, _ description: String) {
        self.status = status
        self.description = description
    }
}
