import Roost
import RoostBytes
import RoostWire

/// A database behind CouchDB's HTTP API: CouchDB's own, PouchDB's behind a server, or a Roost's.
public struct RemoteDatabase: Sendable {
    /// Who asks.
    public enum Credentials: Sendable {
        /// Nobody.
        case none
        /// A user with a password, by HTTP's basic scheme (RFC 7617).
        case basic(name: String, password: String)
        /// A token (RFC 6750).
        case bearer(String)
    }

    let peer: RemotePeer

    /// A database of the server that a transport leads to.
    ///
    /// - Parameters:
    ///   - name: The database's name, not encoded.
    ///   - transport: How to get to its server.
    ///   - credentials: Who asks. They are sent with every request of the transport and stand nowhere else.
    public init(_ name: String, over transport: any Transport, credentials: Credentials = .none) {
        peer = RemotePeer(name, transport, headers: credentials.headers)
    }
}

extension RemoteDatabase.Credentials {
    fileprivate var headers: HTTPHeaders {
        switch self {
        case .none: [:]
        case .basic(let name, let password):
            ["Authorization": "Basic \(Base64.encode(Array("\(name):\(password)".utf8)))"]
        case .bearer(let token): ["Authorization": "Bearer \(token)"]
        }
    }
}
