import RoostBytes
import RoostCrypto

/// The opening handshake of a WebSocket connection over HTTP/1.1 (RFC 6455, section 4).
public enum WebSocketHandshake {
    /// What the server appends to the client's key (RFC 6455, section 1.3).
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Whether a request asks for an upgrade to WebSocket.
    public static func isRequested(by request: HTTPRequest) -> Bool {
        request.headers.list("Upgrade", contains: "websocket")
    }

    /// Checks the client's part of the handshake and answers it.
    ///
    /// - Parameter protocols: The subprotocols that the server speaks, the best first; none where the route has none.
    /// - Returns: The answer with status 101, and the subprotocol that was chosen.
    /// - Throws: ``WireError`` 400 for a request that is no handshake, or whose subprotocols the server does not speak, and 426
    ///   for another version than 13.
    public static func accept(
        _ request: HTTPRequest, protocols: [String] = []
    ) throws(WireError) -> (response: HTTPResponse, subprotocol: String?) {
        let headers = request.headers
        guard request.method == "GET", request.body == nil, headers.list("Upgrade", contains: "websocket"),
            headers.list("Connection", contains: "upgrade")
        else { throw WireError(400, "The request is no WebSocket handshake.") }
        guard headers.all("Sec-WebSocket-Version").elementsEqual(["13"]) else {
            throw WireError(426, "The version of WebSocket must be 13.")
        }
        let keys = headers.all("Sec-WebSocket-Key")
        guard keys.count == 1, Base64.decode(keys[0].utf8)?.count == 16 else {
            throw WireError(400, "Sec-WebSocket-Key must be the base64 of 16 bytes.")
        }
        let offered = headers.all("Sec-WebSocket-Protocol").flatMap { $0.split(separator: ",") }
            .map { HTTPHeaders.trimmed($0) }
        let chosen = protocols.first { name in offered.contains { $0.utf8.elementsEqual(name.utf8) } }
        guard chosen != nil || protocols.isEmpty else {
            throw WireError(400, "The server speaks none of these subprotocols.")
        }
        var response = HTTPResponse(
            101,
            headers: [
                "Upgrade": "websocket", "Connection": "Upgrade",
                "Sec-WebSocket-Accept": acceptance(of: keys[0]),
            ])
        if let chosen { response.headers["Sec-WebSocket-Protocol"] = chosen }
        return (response, chosen)
    }

    /// The request by which a client begins.
    ///
    /// - Parameters:
    ///   - target: Path and query, percent-encoded.
    ///   - protocols: The subprotocols that the client speaks, the best first.
    ///   - key: The base64 of 16 random bytes, another for each connection.
    public static func request(_ target: String, protocols: [String], key: String) -> HTTPRequest {
        var headers: HTTPHeaders = [
            "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key,
        ]
        if !protocols.isEmpty { headers["Sec-WebSocket-Protocol"] = protocols.joined(separator: ",") }
        return .get(target, headers: headers)
    }

    /// Checks the server's part of the handshake, an answer with status 101.
    ///
    /// - Parameters:
    ///   - headers: The fields of the answer.
    ///   - key: That of the request.
    ///   - protocols: The subprotocols that were offered.
    /// - Throws: ``WireError`` 400 for an answer that does not follow from the request: another key, a subprotocol that was not
    ///   offered or none of those that were, or an extension.
    public static func verify(
        _ headers: HTTPHeaders, key: String, protocols: [String]
    ) throws(WireError) {
        guard headers.list("Upgrade", contains: "websocket"), headers.list("Connection", contains: "upgrade"),
            headers.all("Sec-WebSocket-Accept").elementsEqual([acceptance(of: key)])
        else { throw WireError(400, "The answer is no WebSocket handshake.") }
        guard headers["Sec-WebSocket-Extensions"] == nil else {
            throw WireError(400, "The server uses an extension that was not offered.")
        }
        let chosen = headers.all("Sec-WebSocket-Protocol")
        let isOffered =
            chosen.count == 1 && protocols.contains { $0.utf8.elementsEqual(chosen[0].utf8) }
        guard protocols.isEmpty ? chosen.isEmpty : isOffered else {
            throw WireError(400, "The server speaks none of the subprotocols that were offered.")
        }
    }

    /// The value of `Sec-WebSocket-Accept` that answers a key.
    public static func acceptance(of key: String) -> String {
        Base64.encode(SHA1.hash(Array((key + suffix).utf8)).bytes)
    }
}
