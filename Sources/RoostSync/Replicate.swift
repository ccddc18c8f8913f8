import Roost

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension DocumentCollection {
    /// Makes this collection and one of another database in this process agree, without HTTP.
    ///
    /// Revisions go with their histories, conflicts, deletions and attachments, and only those that the other side lacks. How
    /// far it came is kept in both databases, so that it goes on there next time.
    ///
    /// - Parameters:
    ///   - other: The collection to agree with.
    ///   - options: Which way, what, and whether to go on.
    /// - Returns: The running replication; hold it as long as it is to run.
    public func replicate(
        with other: DocumentCollection, _ options: ReplicationOptions = ReplicationOptions()
    ) -> Replication {
        Replication(
            local: self, remote: DatabasePeer(other, longestAttachment: options.longestAttachment), options)
    }

    /// Makes this collection and a database elsewhere agree, over CouchDB's HTTP API or Couchbase Lite's protocol, as the form for a
    /// collection in this process does.
    public func replicate(
        with remote: RemoteDatabase, _ options: ReplicationOptions = ReplicationOptions()
    ) -> Replication {
        Replication(local: self, remote: remote.peer(for: self, options), options)
    }
}

extension Database {
    /// Makes the default collection and a database elsewhere agree, over CouchDB's HTTP API or Couchbase Lite's protocol, as the form for
    /// collections does.
    ///
    /// ```swift
    /// let url = URL(string: "https://couch.example.org/notes")!
    /// let sync = try database.replicate(with: RemoteDatabase(url))
    /// for await status in sync.updates { show(status) }
    /// ```
    ///
    /// - Throws: `closed`.
    public func replicate(
        with remote: RemoteDatabase, _ options: ReplicationOptions = ReplicationOptions()
    ) throws(DatabaseError) -> Replication {
        try defaultCollection.replicate(with: remote, options)
    }

    /// Makes the default collection and the database at a URL agree: ``RemoteDatabase`` has more ways to reach one.
    ///
    /// - Parameters:
    ///   - url: The address, such as `https://couch.example.org/notes`; `wss://sync.example.org/notes` for Couchbase Lite's protocol.
    ///   - direction: Which way revisions go.
    ///   - continuous: Whether it goes on with what changes later.
    ///   - credentials: How the client identifies itself.
    /// - Returns: The running replication; hold it as long as it is to run.
    /// - Throws: `closed`; ``TransportError`` for what is no address.
    public func replicate(
        with url: URL, direction: ReplicationOptions.Direction = .both, continuous: Bool = false,
        credentials: RemoteDatabase.Credentials = .none
    ) throws -> Replication {
        var options = ReplicationOptions()
        options.direction = direction
        options.isContinuous = continuous
        let remote =
            ["ws", "wss"].contains(url.scheme?.lowercased())
            ? try RemoteDatabase.couchbase(url, credentials: credentials)
            : try RemoteDatabase(url, credentials: credentials)
        return try replicate(with: remote, options)
    }

    /// Makes the default collections of two databases in this process agree, as the form for collections does.
    ///
    /// - Throws: `closed`.
    public func replicate(
        with other: Database, _ options: ReplicationOptions = ReplicationOptions()
    ) throws(DatabaseError) -> Replication {
        try defaultCollection.replicate(with: other.defaultCollection, options)
    }
}

extension RemoteDatabase {
    /// Makes two databases elsewhere agree through this program, as the form for a collection does. Documents pass through it and
    /// are not kept; conflicts are not resolved.
    ///
    /// - Throws: `invalidAddress` where one of them speaks Couchbase Lite's protocol, by which nothing passes through.
    public func replicate(
        with other: RemoteDatabase, _ options: ReplicationOptions = ReplicationOptions()
    ) throws(TransportError) -> Replication {
        Replication(try peer, try other.peer, resolvingIn: nil, options)
    }

    /// Makes the database where there is none.
    ///
    /// - Throws: ``RemoteError``; ``TransportError``, also for a server of Couchbase Lite's protocol, by which none is created.
    public func create() async throws { try await peer.create() }
}
