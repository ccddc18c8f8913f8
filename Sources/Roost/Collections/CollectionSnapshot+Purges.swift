import RoostBytes
import RoostStorage

extension CollectionSnapshot {
    /// What was purged after the purge sequence `sequence`, oldest first: for whoever keeps something that was derived from
    /// the documents.
    ///
    /// The last 1000 purges of a collection are remembered.
    ///
    /// - Returns: `nil` when some of what was asked for is forgotten; then everything must be derived anew.
    /// - Throws: `damaged`, `inputOutput`.
    public func purges(since sequence: UInt64) throws(DatabaseError) -> [Purge]? {
        guard sequence < purgeSequence else { return [] }
        guard purgeSequence - sequence <= StoredPurge.limit else { return nil }
        return try reader.purges(since: sequence)
    }

    /// About how many bytes of the file the collection takes: its documents with their bodies, revisions and local
    /// documents. Blobs do not count. O(1).
    public var storedBytes: UInt64 {
        get throws(DatabaseError) {
            // Bodies belong to the documents' entries; those of the changes refer to them.
            try reader.documents.storedBytes &+ reader.changes.storedBytes &+ reader.extras.storedBytes
        }
    }
}

extension CollectionReader {
    /// The purges after the purge sequence `sequence` that are remembered, oldest first.
    func purges(since sequence: UInt64) throws(DatabaseError) -> [Purge] {
        let cursor = try extras.cursor(ExtrasKey.purges(since: sequence))
        var purges: [Purge] = []
        while try translating({ () throws(StoreError) in try cursor.next() }) {
            let sequence = Sequences.number(cursor.keyView.dropFirst(1))
            let stored = try translating { () throws(StoreError) in try cursor.value() }
            purges.append(
                try stored.withView { (bytes) throws(DatabaseError) in
                    try Purge(sequence: sequence, stored: bytes)
                })
        }
        return purges
    }
}
