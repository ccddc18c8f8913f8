import RoostWire

/// Where a server listens, and what it bears.
public struct ServerOptions: Sendable {
    /// An address of this machine in figures. Default: `127.0.0.1`, so that nobody else's machine can ask.
    public var address = "127.0.0.1"
    /// The port; 0 takes a free one. Default: 5984, CouchDB's.
    public var port: UInt16 = 5984
    /// What the server proves with who it is; connections are then encrypted by TLS, and others refused. Default: `nil`, HTTP in
    /// the clear.
    public var identity: TLSIdentity?
    /// Names besides those of this machine that clients may know the server by, as their field `Host` tells; a page that
    /// lets its own name lead here (DNS rebinding) is refused. Asked only while the address is of the loopback.
    public var hosts: [String] = []
    /// How many connections there may be at a time. Default: 1,024. When there are as many, those that have waited longest for a
    /// request make room for new ones, those of the address with most connections first.
    public var connections = 1024
    /// How many connections one address may have; of version 6, one network of 64 bits. Proxies that are trusted have no such limit.
    /// Default: `nil`, three quarters of ``connections``.
    public var connectionsPerAddress: Int?
    var connectionsOfAddress: Int { max(1, connectionsPerAddress ?? connections - connections / 4) }
    /// How large heads may be.
    public var limits = MessageLimits()
    /// Seconds from the first byte of a head to its last, and those that a TLS handshake may take. Default: 15.
    public var headSeconds = 15
    /// Seconds that a connection may be without a request. Default: 60.
    public var idleSeconds = 60
    /// Seconds that a body, or an answer, may take besides those that it needs at ``slowestRate``. Default: 30.
    public var bodySeconds = 30
    /// The bytes a second that a client must send or take. Default: 1,024.
    public var slowestRate = 1024
    /// Seconds that ``HTTPServer/stop()`` waits for requests under way. Default: 5.
    public var stopSeconds = 5
    /// Gets a line for each request; called from many threads. Default: none.
    public var log: (@Sendable (String) -> Void)?
    /// How the lines of the log are written. Default: in the common log format.
    public var logFormat = LogFormat.common

    /// The usual ones.
    public init() {}
}
