import Roost
import RoostWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A database behind CouchDB's HTTP API: CouchDB's own, PouchDB's behind a server, or a Roost's.
///
/// ```swift
/// let url = URL(string: "https://couch.example.org/notes")!
/// let remote = try RemoteDatabase(url, credentials: .session(name: "anna", password: password))
/// ```
public struct RemoteDatabase: Sendable {
    /// Who asks. Credentials go to the server that they are for and stand nowhere else: in no error, log or checkpoint.
    public enum Credentials: Sendable {
        /// Nobody.
        case none
        /// A user with a password, by HTTP's basic scheme (RFC 7617).
        case basic(name: String, password: String)
        /// A user with a password, exchanged for a cookie by CouchDB's `_session`, so that the server checks the password once
        /// and not with each request.
        case session(name: String, password: String)
        /// A token (RFC 6750).
        case bearer(String)
        /// What a function of the program gives as the value of `Authorization`, such as `Bearer TOKEN`. It is asked at first and
        /// whenever the server does not take the last one any more.
        case renewed(@Sendable () async throws -> String)
    }

    let peer: RemotePeer
    /// The server and the database, without credentials; for people to read.
    public let description: String

    /// A database of the server that a transport leads to.
    ///
    /// - Parameters:
    ///   - name: The database's name, not encoded.
    ///   - transport: How to get to its server.
    ///   - credentials: Who asks.
    public init(_ name: String, over transport: any Transport, credentials: Credentials = .none) {
        self.init(name, transport, credentials, description: name)
    }

    /// The database at a URL, such as `https://couch.example.org/notes`: the last part of its path is the name.
    ///
    /// - Parameters:
    ///   - url: The address. A user and a password in it are used where `credentials` names none.
    ///   - credentials: Who asks.
    ///   - options: How the server is reached.
    /// - Throws: `invalidAddress`.
    public init(
        _ url: URL, credentials: Credentials = .none, options: HTTPOptions = HTTPOptions()
    ) throws(TransportError) {
        try self.init(url, credentials, by: PlatformClient(options))
    }

    init(_ url: URL, _ credentials: Credentials, by client: any HTTPClient) throws(TransportError) {
        let (server, name) = try ServerAddress.database(url)
        var credentials = credentials
        if case .none = credentials,
            let user = PercentEncoding.decode(url.user(percentEncoded: true) ?? ""),
            !user.isEmpty
        {
            let password = PercentEncoding.decode(url.password(percentEncoded: true) ?? "") ?? ""
            credentials = .basic(name: user, password: password)
        }
        let description = server.base + "/" + PercentEncoding.encode(name)
        self.init(name, HTTPTransport(server, client), credentials, description: description)
    }

    private init(
        _ name: String, _ transport: any Transport, _ credentials: Credentials, description: String
    ) {
        peer = RemotePeer(RemoteClient(name, description, over: transport, credentials))
        self.description = description
    }
}

extension RemoteDatabase: CustomStringConvertible {
    /// The replications that documents of this server's `_replicator` ask for, as its scheduler tells of them, a thousand at most.
    ///
    /// - Throws: ``RemoteError``, ``TransportError``.
    package func scheduledReplications() async throws -> [DocumentValue] {
        let answer = try await peer.client.json(RemoteRequest("GET", "/_scheduler/docs?limit=1000"))
        guard let rows = answer["docs"].array else { throw peer.client.malformed("it lists no replications") }
        return rows.compactMap { DocumentValue($0) }
    }
}
