/// How long the body of a message is.
public enum BodyFraming: Sendable, Equatable {
    /// There is none.
    case none
    /// So many bytes.
    case length(UInt64)
    /// As many as the chunks tell.
    case chunked
    /// All until the connection is closed; responses only.
    case untilClose
}

/// The first line and the fields of a message of HTTP/1.1 (RFC 9112), as they were received.
public protocol MessageHead: Sendable {
    /// Reads the head.
    ///
    /// - Parameters:
    ///   - line: The first line without its end.
    ///   - fields: The fields.
    /// - Throws: ``WireError``.
    init(line: ArraySlice<UInt8>, fields: HTTPHeaders, limits: MessageLimits) throws(WireError)

    /// How long the body is.
    func framing() throws(WireError) -> BodyFraming
}

/// The head of a request.
public struct RequestHead: MessageHead, Equatable {
    /// The method.
    public let method: String
    /// Path and query in the form `/…`, or `*`.
    public let target: String
    /// The digit after `HTTP/1.`: 0 or 1.
    public let minorVersion: Int
    /// The fields.
    public let headers: HTTPHeaders

    /// Reads `METHOD TARGET HTTP/1.x`. Of an absolute target only path and query are kept.
    public init(line: ArraySlice<UInt8>, fields: HTTPHeaders, limits: MessageLimits) throws(WireError) {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].count <= 32, parts[0].allSatisfy(Syntax.isToken)
        else {
            throw WireError(400, "The request line is not METHOD TARGET VERSION.")
        }
        guard parts[1].count <= limits.target else {
            throw WireError(414, "The target is longer than \(limits.target) bytes.")
        }
        minorVersion = try Syntax.minorVersion(parts[2])
        method = String(decoding: parts[0], as: UTF8.self)
        guard !parts[1].isEmpty, parts[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") }),
            let text = String(validating: parts[1], as: UTF8.self)
        else {
            throw WireError(400, "The target has characters that must be percent-encoded.")
        }
        target = try Self.origin(text, method)
        headers = fields
        let hosts = fields.all("Host").count
        guard hosts == 1 || (hosts == 0 && minorVersion == 0) else {
            throw WireError(400, "There must be one Host field.")
        }
    }

    private static func origin(_ text: String, _ method: String) throws(WireError) -> String {
        if text.hasPrefix("/") || (text == "*" && method == "OPTIONS") { return text }
        for scheme in ["http://", "https://"] where text.lowercased().hasPrefix(scheme) {
            let rest = text.dropFirst(scheme.count)
            let path = rest[(rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex)...]
            return path.hasPrefix("/") ? String(path) : "/" + path
        }
        throw WireError(400, "The target must begin with a slash.")
    }

    /// How long the body is: none where nothing is said.
    ///
    /// - Throws: ``WireError`` 400 where two readers could understand different things, 501 for an encoding other than
    ///   chunked.
    public func framing() throws(WireError) -> BodyFraming {
        try Syntax.framing(headers, minorVersion) ?? .none
    }

    /// Whether the connection can be used again after the response.
    public var keepsAlive: Bool {
        minorVersion == 1
            ? !headers.list("Connection", contains: "close")
            : headers.list("Connection", contains: "keep-alive")
    }
}

/// The head of a response.
public struct ResponseHead: MessageHead, Equatable {
    /// The status code, 100 to 599.
    public let status: Int
    /// The digit after `HTTP/1.`: 0 or 1.
    public let minorVersion: Int
    /// The fields.
    public let headers: HTTPHeaders

    /// Reads `HTTP/1.x STATUS PHRASE`.
    public init(line: ArraySlice<UInt8>, fields: HTTPHeaders, limits: MessageLimits) throws(WireError) {
        let parts = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[1].count == 3, parts[1].allSatisfy(Syntax.isDigit),
            let status = Int(String(decoding: parts[1], as: UTF8.self)), (100...599).contains(status)
        else {
            throw WireError(400, "The status line is not VERSION STATUS PHRASE.")
        }
        self.status = status
        minorVersion = try Syntax.minorVersion(parts[0])
        headers = fields
    }

    /// How long the body is, unless it answers a HEAD, which never has one.
    public func framing() throws(WireError) -> BodyFraming {
        if status < 200 || status == 204 || status == 304 { return .none }
        return try Syntax.framing(headers, minorVersion) ?? .untilClose
    }
}
