import Fleece
import Roost
import RoostWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A database behind CouchDB's HTTP API: CouchDB's own, PouchDB's behind a server, or a Roost's; or behind Couchbase Lite's protocol,
/// by ``couchbase(_:credentials:options:)``.
///
/// ```swift
/// let url = URL(string: "https://couch.example.org/notes")!
/// let remote = try RemoteDatabase(url, credentials: .session(name: "anna", password: password))
/// ```
public struct RemoteDatabase: Sendable {
    /// How a client identifies itself. Credentials go to their own server only, and appear in no error, log or checkpoint.
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
        /// A function of the program that returns the value of `Authorization`, such as `Bearer TOKEN`. It is called at first and
        /// whenever the server does not take the last one any more.
        case renewed(@Sendable () async throws -> String)
    }

    /// The protocol that the server speaks.
    private enum Service {
        case couchDB(RemotePeer)
        case couchbase(CouchbaseServer)
    }

    private let service: Service
    /// The server and the database, without credentials; for people to read.
    public let description: String

    /// A database of the server that a transport leads to.
    ///
    /// - Parameters:
    ///   - name: The database's name, not encoded.
    ///   - transport: How to get to its server.
    ///   - credentials: How the client identifies itself.
    public init(_ name: String, over transport: any Transport, credentials: Credentials = .none) {
        self.init(name, transport, credentials, description: name)
    }

    /// The database at a URL, such as `https://couch.example.org/notes`: the last part of its path is the name.
    ///
    /// - Parameters:
    ///   - url: The address. A user and a password in it are used where `credentials` names none.
    ///   - credentials: How the client identifies itself.
    ///   - options: How the server is reached.
    /// - Throws: `invalidAddress`.
    public init(
        _ url: URL, credentials: Credentials = .none, options: HTTPOptions = HTTPOptions()
    ) throws(TransportError) {
        try self.init(url, credentials, by: PlatformClient(options))
    }

    init(_ url: URL, _ credentials: Credentials, by client: any HTTPClient) throws(TransportError) {
        let (server, name) = try ServerAddress.database(url)
        let description = server.base + "/" + PercentEncoding.encode(name)
        self.init(
            name, HTTPTransport(server, client), Self.credentials(credentials, in: url),
            description: description)
    }

    private init(
        _ name: String, _ transport: any Transport, _ credentials: Credentials, description: String
    ) {
        service = .couchDB(RemotePeer(RemoteClient(name, description, over: transport, credentials)))
        self.description = description
    }

    init(_ server: CouchbaseServer) {
        service = .couchbase(server)
        description = server.label
    }

    /// A database behind Couchbase Lite's protocol, at a URL such as `wss://sync.example.org/notes`: the last part of its path is the
    /// name. Sync Gateway, Couchbase's Edge Server and Capella have such, and a Roost's server for all of its databases.
    ///
    /// The collection of a replication is the one of the same name there. The server knows one revision of each document: winners go
    /// there, and one that is in conflict with the server's is a problem of its document until the conflict is resolved here. Design
    /// documents stay. Documents that have left the user's channels stay, too. ``ReplicationSelection/serverFilter`` may be
    /// `sync_gateway/bychannel`, with the names of `channels` and commas between them.
    ///
    /// - Parameters:
    ///   - url: The address, with `ws` or `wss`. A user and a password in it are used where `credentials` names none.
    ///   - credentials: How the client identifies itself.
    ///   - options: How the server is reached.
    /// - Throws: `invalidAddress`.
    public static func couchbase(
        _ url: URL, credentials: Credentials = .none, options: HTTPOptions = HTTPOptions()
    ) throws(TransportError) -> RemoteDatabase {
        try couchbase(url, credentials, by: PlatformClient(options), idleSeconds: options.idleSeconds)
    }

    static func couchbase(
        _ url: URL, _ credentials: Credentials, by client: any HTTPClient, idleSeconds: Double
    ) throws(TransportError) -> RemoteDatabase {
        let (server, name) = try ServerAddress.database(url, .webSocket)
        return RemoteDatabase(
            CouchbaseServer(
                name, at: server, Self.credentials(credentials, in: url), by: client, idleSeconds: idleSeconds
            ))
    }

    /// The credentials in a URL, unless others are given.
    private static func credentials(_ credentials: Credentials, in url: URL) -> Credentials {
        guard case .none = credentials,
            let user = PercentEncoding.decode(url.user(percentEncoded: true) ?? ""),
            !user.isEmpty
        else { return credentials }
        let password = PercentEncoding.decode(url.password(percentEncoded: true) ?? "") ?? ""
        return .basic(name: user, password: password)
    }

    /// The far side of a replication that passes through this program, and of requests of CouchDB's API.
    ///
    /// - Throws: `invalidAddress` for a server that speaks another protocol.
    var peer: RemotePeer {
        get throws(TransportError) {
            guard case .couchDB(let peer) = service else {
                throw TransportError(
                    .invalidAddress,
                    "\(description) speaks Couchbase Lite's protocol, which syncs with a database of this program and does nothing else."
                )
            }
            return peer
        }
    }

    /// The far side of a replication with a collection of this process.
    func peer(for local: DocumentCollection, _ options: ReplicationOptions) -> any ReplicationPeer {
        switch service {
        case .couchDB(let peer): peer
        case .couchbase(let server): CouchbasePeer(server, for: local, isContinuous: options.isContinuous)
        }
    }
}

extension RemoteDatabase: CustomStringConvertible {
    /// The replications that documents of this server's `_replicator` request, as its scheduler reports them; at most 1,000.
    ///
    /// - Throws: ``RemoteError``, ``TransportError``.
    package func scheduledReplications() async throws -> [DocumentValue] {
        let client = try peer.client
        let answer = try await client.json(RemoteRequest("GET", "/_scheduler/docs?limit=1000"))
        guard let rows = answer["docs"].array else { throw client.malformed("it lists no replications") }
        return rows.compactMap { DocumentValue($0) }
    }
}

// MARK: - Documents

extension RemoteDatabase {
    /// What a server says to a write.
    package enum Written: Sendable {
        case saved
        /// There is another revision.
        case conflict
    }

    /// Makes the database, if there is none.
    ///
    /// - Throws: `RemoteError` for an answer of failure; what the transport throws.
    package func createsIfMissing() async throws {
        do {
            let client = try peer.client
            _ = try await client.json(client.put("", "{}"))
        } catch let error as RemoteError where error.status == 412 {}
    }

    /// The present revision of a document, with `_id` and `_rev`; `nil` where there is none.
    ///
    /// - Throws: `RemoteError` for an answer of failure; what the transport throws.
    package func document(_ id: String) async throws -> DocumentValue? {
        let client = try peer.client
        return try await client.jsonIfFound(client.get(RemoteClient.path(id))).flatMap {
            DocumentValue($0)
        }
    }

    /// Documents whose IDs begin with `prefix`, in the order of the server, read in pages.
    ///
    /// - Throws: `RemoteError` for an answer of failure; what the transport throws.
    package func documents(prefix: String) async throws -> [DocumentValue] {
        let client = try peer.client
        var found: [DocumentValue] = []
        var start = prefix
        while true {
            let query =
                "include_docs=true&limit=\(Self.page)&startkey=\(Self.key(start))&endkey=\(Self.key(prefix + "\u{FFF0}"))"
            let answer = try await client.json(client.get("/_all_docs?\(query)"))
            guard let rows = answer["rows"].array else {
                throw client.malformed("it lists no documents")
            }
            // The first of a further page is the last of the one before.
            let new = found.isEmpty ? Array(rows) : Array(rows.dropFirst())
            found += new.compactMap { DocumentValue($0["doc"]) }
            guard rows.count == Self.page, let last = rows.last?["id"].string, !new.isEmpty else {
                return found
            }
            start = last
        }
    }

    private static let page = 1_000

    private static func key(_ id: String) -> String { PercentEncoding.encode("\"\(id)\"") }

    /// Saves a document's JSON, which names the revision that it replaces.
    ///
    /// - Throws: `RemoteError` for an answer of failure other than 409; what the transport throws.
    package func save(_ json: String, id: String) async throws -> Written {
        do {
            let client = try peer.client
            _ = try await client.json(client.put(RemoteClient.path(id), json))
            return .saved
        } catch let error as RemoteError where error.status == 409 {
            return .conflict
        }
    }
}
