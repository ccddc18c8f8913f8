import RoostBytes
import RoostCrypto
import RoostWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A server reached over HTTP, with or without TLS: by libcurl on Linux, by URLSession on Apple's systems.
///
/// Bodies go both ways as fast as they are made and taken, without being kept. Certificates are verified. It may be used from any
/// thread.
public final class HTTPTransport: Transport {
    private let server: ServerAddress
    private let client: any HTTPClient

    static let userAgent = "Roost"
    private static let mostRedirects = 5

    /// A transport to the server of that address, such as `https://couch.example.org`. A path in it is put before those of all
    /// requests; a user and a password in it are not looked at.
    ///
    /// - Throws: `invalidAddress`.
    public convenience init(
        _ url: URL, options: HTTPOptions = HTTPOptions()
    ) throws(TransportError) {
        self.init(try ServerAddress(url), PlatformClient(options))
    }

    init(_ server: ServerAddress, _ client: any HTTPClient) {
        self.server = server
        self.client = client
    }

    /// Sends a request. A GET that is answered with a redirect follows it, without credentials where that leads to another
    /// server; anything else does not.
    ///
    /// - Throws: ``TransportError``; what the request's body throws; `CancellationError`.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Self.check(request)
        var request = request
        if request.headers["User-Agent"] == nil { request.headers["User-Agent"] = Self.userAgent }
        var (server, url) = (server, server.base + request.target)
        for _ in 0...Self.mostRedirects {
            let response = try await client.send(request, to: server, url)
            guard [301, 302, 303, 307, 308].contains(response.status) else { return response }
            guard let location = response.headers["Location"],
                let next = URL(string: location, relativeTo: URL(string: url))
            else { throw TransportError(.redirected, "\(server.origin) redirects without saying where.") }
            let target = try ServerAddress(next)
            guard ["GET", "HEAD"].contains(request.method) else {
                throw TransportError(
                    .redirected,
                    "\(server.origin) has moved to \(target.origin). Give that address instead.")
            }
            guard target.scheme == "https" || server.scheme == "http" else {
                throw TransportError(.redirected, "\(server.origin) redirects to an address without TLS.")
            }
            if target.origin != server.origin {
                request.headers["Authorization"] = nil
                request.headers["Cookie"] = nil
            }
            server = target
            url = target.base + (next.query(percentEncoded: true).map { "?\($0)" } ?? "")
        }
        throw TransportError(.redirected, "\(server.origin) redirects without end.")
    }

    private static func check(_ request: HTTPRequest) throws(TransportError) {
        guard request.target.hasPrefix("/"), request.target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw TransportError(.malformed, "A request's target is a path in printable ASCII.")
        }
        // A line more could be anything, another request too.
        for field in request.headers.fields {
            guard (field.name + field.value).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 }) else {
                throw TransportError(.malformed, "A field of the request has control characters.")
            }
        }
    }
}

/// How a server is reached over HTTP.
public struct HTTPOptions: Sendable {
    /// How many connections there are at a time, at least 4. Default: 8.
    public var connections = 8
    /// Seconds for a connection to come about, TLS included. Default: 30. On Apple's systems it is part of ``idleSeconds``.
    public var connectSeconds = 30.0
    /// Seconds without a byte in either direction after which a request has failed; a feed that waits gets a sign of life each
    /// ten seconds. Default: 90.
    public var idleSeconds = 90.0
    /// Seconds for a whole request with its answer; `nil` for any time, as large attachments on slow networks need. Default:
    /// `nil`.
    public var requestSeconds: Double?
    /// Certificates in PEM that are trusted in addition to the system's: of a server that signs its own, or of a
    /// company's authority.
    public var certificates: String?
    /// Where not empty, the server's public key must be one of these: SHA-256 of the key's SubjectPublicKeyInfo, in base64
    /// (RFC 7469, section 2.4).
    public var pinnedKeys: [String] = []
    /// The proxy to go through, such as `http://proxy.example.org:3128`; empty for none, `nil` for the one that the environment
    /// names (`http_proxy`, `https_proxy`, `no_proxy`), or on Apple's systems the system's settings. Default: `nil`.
    public var proxy: String?

    /// The defaults.
    public init() {}
}

/// Speaks HTTP over sockets: what the platform has for that.
///
/// It verifies certificates, follows no redirect, undoes no wrong and keeps nothing: no cookies, credentials or answers.
protocol HTTPClient: Sendable {
    /// Sends a request and answers as soon as the head of the answer is there.
    ///
    /// - Parameters:
    ///   - server: What errors name.
    ///   - url: The address, of printable ASCII.
    /// - Throws: ``TransportError``; what the request's body throws; `CancellationError`.
    func send(_ request: HTTPRequest, to server: ServerAddress, _ url: String) async throws -> HTTPResponse

    /// Opens a WebSocket (RFC 6455).
    ///
    /// - Throws: ``TransportError``; `CancellationError`.
    func open(_ opening: WebSocketOpening, at server: ServerAddress) async throws -> WebSocketAnswer
}

/// A WebSocket connection that this side has opened.
protocol OpenedWebSocket: WebSocketConnection {
    /// Ends the connection: the other side gets the reason, where one may be sent, and a moment to answer.
    func close(_ reason: WebSocketClose) async
}

/// What a server says to the opening handshake.
enum WebSocketAnswer: Sendable {
    case opened(any OpenedWebSocket)
    /// The server answered with another status than 101. The body has what it says, as far as the client gives it.
    case refused(HTTPResponse)
}

/// A request to open a WebSocket.
struct WebSocketOpening: Sendable {
    /// Path and query, percent-encoded.
    let target: String
    /// The subprotocols, the best first.
    let protocols: [String]
    /// Fields of the request in addition to those of the handshake.
    let headers: HTTPHeaders
    /// The largest message that the server may send, in bytes.
    let longestMessage: Int

    /// A key for one handshake.
    static func makeKey() -> String { Base64.encode(SystemRandom.bytes(count: 16)) }
}

/// What follows the head of a request.
enum OutgoingBody: Sendable {
    case none
    case bytes([UInt8])
    /// The first pieces were taken from the stream already.
    case stream([[UInt8]], then: any BodyStream, length: UInt64?)

    /// The body of a request. One of a single piece becomes bytes, so that it can be sent again where a connection that was kept
    /// turns out to be closed.
    ///
    /// - Throws: What the body throws.
    init(of request: HTTPRequest) async throws {
        guard let stream = request.body else {
            self = ["GET", "HEAD", "DELETE"].contains(request.method) ? .none : .bytes([])
            return
        }
        guard let first = try await stream.next() else {
            self = .bytes([])
            return
        }
        guard let second = try await stream.next() else {
            self = .bytes(first)
            return
        }
        let length = request.headers["Content-Length"].flatMap { UInt64($0) }
        self = .stream([first, second], then: stream, length: length)
    }

    /// The same body from its beginning, for a session that has to send it again; `nil` where that is impossible.
    var again: OutgoingBody? {
        guard case .stream(_, let stream, let length) = self, let stream = stream as? RepeatableBody else {
            return nil
        }
        return .stream([], then: stream.again, length: length)
    }

    /// Hands over the pieces of a stream until `offer` wants no more; answers whether it took all.
    ///
    /// - Throws: What the stream throws; `interrupted` where it is not as long as it was announced.
    func deliver(to offer: (_ piece: [UInt8]) async -> Bool) async throws -> Bool {
        guard case .stream(let first, let rest, let length) = self else { return true }
        var count: UInt64 = 0
        var pieces = first[...]
        while true {
            let next = if let piece = pieces.popFirst() { piece as [UInt8]? } else { try await rest.next() }
            guard let piece = next else { break }
            count += UInt64(piece.count)
            guard count <= length ?? .max else { break }
            guard await offer(piece) else { return false }
        }
        guard count == length ?? count else {
            throw TransportError(
                .interrupted, "A body of \(count) bytes was announced as \(length ?? 0).")
        }
        return true
    }
}

/// A body that can be restarted, which a session needs when the connection on which it began to send it was closed.
actor RepeatableBody: BodyStream {
    private let make: @Sendable () -> any BodyStream
    private let stream: any BodyStream

    init(_ make: @escaping @Sendable () -> any BodyStream) {
        self.make = make
        stream = make()
    }

    /// The body from its beginning.
    nonisolated var again: RepeatableBody { RepeatableBody(make) }

    func next() async throws -> [UInt8]? { try await stream.next() }
}
