import Roost

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
        Replication(local: self, remote: DatabasePeer(other), options)
    }

    /// Makes this collection and a database elsewhere agree, over CouchDB's HTTP API, as the form for a collection in this
    /// process does.
    public func replicate(
        with remote: RemoteDatabase, _ options: ReplicationOptions = ReplicationOptions()
    ) -> Replication {
        Replication(local: self, remote: remote.peer, options)
    }
}

extension Database {
    /// Makes the default collections of two databases in this process agree, as the form for collections does.
    ///
    /// - Throws: `closed`.
    public func replicate(
        with other: Database, _ options: ReplicationOptions = ReplicationOptions()
    ) throws(DatabaseError) -> Replication {
        try defaultCollection.replicate(with: other.defaultCollection, options)
    }
}
