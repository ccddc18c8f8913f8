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
    /// Certificates in PEM that are trusted beside those that the system trusts: of a server that signs its own, or of a
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
