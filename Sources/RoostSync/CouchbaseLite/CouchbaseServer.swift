import Fleece
import RoostBLIP
import RoostWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A database behind Couchbase Lite's protocol, and how a connection to it is opened.
struct CouchbaseServer: Sendable {
    /// The largest BLIP frame that is accepted; senders send none above 16 KiB.
    static let longestFrame = 64 << 10
    private static let subprotocol = "BLIP_3+CBMobile_3"

    /// The database as errors and checkpoints name it, without credentials.
    let label: String
    /// How many seconds the server may be silent while something of it is due.
    let idleSeconds: Double
    private let dial: @Sendable () async throws -> any OpenedWebSocket

    /// - Parameter dial: Opens a WebSocket to the database's `_blipsync`.
    init(
        _ label: String, idleSeconds: Double, dial: @escaping @Sendable () async throws -> any OpenedWebSocket
    ) {
        self.label = label
        self.idleSeconds = idleSeconds
        self.dial = dial
    }

    /// The database of a name at an address.
    init(
        _ name: String, at server: ServerAddress, _ credentials: RemoteDatabase.Credentials,
        by client: any HTTPClient, idleSeconds: Double
    ) {
        let path = "/" + PercentEncoding.encode(name)
        let scheme = server.scheme == "https" ? "wss" : "ws"
        let label = scheme + server.base.dropFirst(server.scheme.count) + path
        let authentication = Authentication(credentials, HTTPTransport(server, client))
        self.init(label, idleSeconds: idleSeconds) {
            var answer = try await Self.ask(path, server, authentication, client)
            if case .refused(let response) = answer.answer, response.status == 401,
                await authentication.refuse(answer.version)
            {
                answer = try await Self.ask(path, server, authentication, client)
            }
            switch answer.answer {
            case .opened(let socket): return socket
            case .refused(let response): throw await Self.refusal(response, label, server)
            }
        }
    }

    private static func ask(
        _ path: String, _ server: ServerAddress, _ authentication: Authentication, _ client: any HTTPClient
    ) async throws -> (answer: WebSocketAnswer, version: Int) {
        var (headers, version) = try await authentication.current()
        headers["User-Agent"] = HTTPTransport.userAgent
        let opening = WebSocketOpening(
            target: path + "/_blipsync", protocols: [subprotocol], headers: headers,
            longestMessage: longestFrame)
        return (try await client.open(opening, at: server), version)
    }

    private static func refusal(
        _ response: HTTPResponse, _ label: String, _ server: ServerAddress
    ) async -> any Error {
        guard !(300..<400).contains(response.status) else {
            return TransportError(
                .redirected, "\(server.origin) has moved. Give the address that it has now instead.")
        }
        let body = (try? await response.bytes(limit: 64 << 10)) ?? []
        return RemoteError(
            (try? FleeceDocument(json: body))?.root, status: response.status == 200 ? 502 : response.status,
            database: label)
    }

    /// Opens a connection.
    ///
    /// - Throws: ``TransportError``; ``RemoteError`` where the server refuses it; `CancellationError`.
    func connect() async throws -> any OpenedWebSocket { try await dial() }

    /// The error of everything that waits for a connection when it ends.
    func error(_ close: WebSocketClose) -> TransportError {
        let reason = close.reason.isEmpty ? "" : ": \(close.reason)"
        switch close.code {
        case 1002, 1003, 1007, 1009:
            return TransportError(.malformed, "\(label) does not keep to the protocol\(reason)")
        default:
            return TransportError(.interrupted, "\(label): the connection ended (\(close.code))\(reason)")
        }
    }
}

extension RemoteError {
    /// An answer that reports an error.
    init(_ reply: BLIPMessage, _ label: String) {
        let domain = reply.properties["Error-Domain"] ?? "BLIP"
        let code = Int(reply.properties["Error-Code"] ?? "") ?? 500
        let isStatus = ["HTTP", "BLIP"].contains(domain) && (300..<600).contains(code)
        let reason = String(String(decoding: reply.body.prefix(2_000), as: UTF8.self).prefix(500))
        // Errors of a server's own domains are about what it was given.
        self.init(
            status: isStatus ? code : 400, isStatus ? HTTPResponse.phrase(code) : "\(domain) \(code)", reason,
            label)
    }
}
