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

/// How large the parts of a message may be that must be held in memory before anything can be made of them.
public struct MessageLimits: Sendable {
    /// The first line and all fields, in bytes.
    public var head = 16 << 10
    /// The target of a request, in bytes.
    public var target = 8000
    /// How many fields.
    public var fields = 100
    /// The line before a chunk, in bytes.
    public var chunkLine = 256

    /// The usual ones.
    public init() {}
}

/// The grammar of HTTP/1.1 (RFC 9112 and RFC 9110, section 5), read strictly: what two readers could take for different
/// messages is an error.
enum Syntax {
    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// The characters of a token: methods and names of fields.
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: "!#$%&'*+.^_`|~".utf8.contains(byte)
        }
    }

    static func minorVersion(_ text: ArraySlice<UInt8>) throws(WireError) -> Int {
        if text.elementsEqual("HTTP/1.1".utf8) { return 1 }
        if text.elementsEqual("HTTP/1.0".utf8) { return 0 }
        let isVersion = text.starts(with: "HTTP/".utf8)
        throw WireError(isVersion ? 505 : 400, "The version must be HTTP/1.1 or HTTP/1.0.")
    }

    /// Reads one line of a head or of a trailer.
    static func field(_ line: ArraySlice<UInt8>) throws(WireError) -> (String, String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(isToken)
        else {
            throw WireError(400, "A field is not NAME: VALUE; no spaces may stand before the colon.")
        }
        var value = line[(colon + 1)...]
        while let last = value.last, last == 0x20 || last == 0x09 { value = value.dropLast() }
        value = value.drop { $0 == 0x20 || $0 == 0x09 }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw WireError(400, "A field has control characters.")
        }
        return (String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// What the fields say of the length of the body; `nil` where they say nothing.
    static func framing(_ headers: HTTPHeaders, _ minorVersion: Int) throws(WireError) -> BodyFraming? {
        let lengths = headers.all("Content-Length")
        let encodings = headers.all("Transfer-Encoding")
        if !encodings.isEmpty {
            guard lengths.isEmpty, encodings.count == 1, minorVersion == 1 else {
                throw WireError(400, "A length beside a transfer encoding can be understood in two ways.")
            }
            guard HTTPHeaders.areEqual(encodings[0], "chunked") else {
                throw WireError(501, "The only transfer encoding is chunked.")
            }
            return .chunked
        }
        guard let length = lengths.first else { return nil }
        guard lengths.count == 1, (1...18).contains(length.utf8.count), length.utf8.allSatisfy(isDigit),
            let count = UInt64(length)
        else {
            throw WireError(400, "There must be one Content-Length, a number.")
        }
        return .length(count)
    }

    /// The size in the line before a chunk; extensions are skipped.
    static func chunkSize(_ line: ArraySlice<UInt8>) throws(WireError) -> UInt64 {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        let rest = line.dropFirst(digits.count)
        guard (1...15).contains(digits.count), digits.allSatisfy(isHexadecimal),
            rest.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }),
            let size = UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
        else {
            throw WireError(400, "The size of a chunk is no hexadecimal number.")
        }
        return size
    }

    static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
