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

    /// A transport to the server of that address, such as `https://couch.example.org`. A path in it stands before those of all
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
