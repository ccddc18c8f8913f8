import RoostWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where a server is: scheme, host, port and the path before CouchDB's own, without user and password.
struct ServerAddress: Sendable, Equatable {
    let scheme: String
    let host: String
    let port: Int
    /// The path before that of a database, without a slash at its end; mostly empty.
    let prefix: String

    /// What every path begins with.
    var base: String { origin + prefix }

    /// Scheme, host and port: what may see the credentials.
    var origin: String {
        let isUsual = port == (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(host)\(isUsual ? "" : ":\(port)")"
    }

    /// The schemes that an address may have.
    enum Schemes {
        case http
        /// Those of WebSockets, and those of the HTTP by which they are opened.
        case webSocket

        var names: String {
            switch self {
            case .http: "http:// or https://"
            case .webSocket: "ws:// or wss://"
            }
        }

        /// `http` or `https`.
        func meaning(of scheme: String) -> String? {
            switch (self, scheme) {
            case (_, "http"), (_, "https"): scheme
            case (.webSocket, "ws"): "http"
            case (.webSocket, "wss"): "https"
            default: nil
            }
        }
    }

    /// Takes apart the URL of a server.
    ///
    /// - Throws: `invalidAddress`.
    init(_ url: URL) throws(TransportError) {
        try self.init(url, path: url.path(percentEncoded: true))
    }

    private init(_ url: URL, path: String, _ schemes: Schemes = .http) throws(TransportError) {
        // Never the URL itself in the message: it may hold a password.
        guard let written = url.scheme?.lowercased(), let scheme = schemes.meaning(of: written) else {
            throw TransportError(
                .invalidAddress,
                "A server's address begins with \(schemes.names), not \(url.scheme ?? "").")
        }
        guard let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw TransportError(
                .invalidAddress, "An address such as http://localhost:5984/notes has a host.")
        }
        self.scheme = scheme
        // An address of version 6 gets brackets; Foundation returns it with or without them.
        let isBare = host.contains(":") && !host.hasPrefix("[")
        self.host = isBare ? "[\(host.lowercased())]" : host.lowercased()
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        guard (1...65535).contains(port) else {
            throw TransportError(.invalidAddress, "The port of \(host) is not 1 to 65535, but \(port).")
        }
        self.port = port
        var path = path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        prefix = String(path)
    }

    /// Takes apart the URL of a database: the last part of its path is the name.
    ///
    /// - Throws: `invalidAddress`.
    static func database(
        _ url: URL, _ schemes: Schemes = .http
    ) throws(TransportError) -> (server: ServerAddress, name: String) {
        var path = url.path(percentEncoded: true)[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        guard let name = PercentEncoding.decode(path[slash...].drop { $0 == "/" }), !name.isEmpty else {
            throw TransportError(
                .invalidAddress,
                "The address of a database ends in its name, as in http://localhost:5984/notes.")
        }
        return (try ServerAddress(url, path: String(path[..<slash]), schemes), name)
    }
}
