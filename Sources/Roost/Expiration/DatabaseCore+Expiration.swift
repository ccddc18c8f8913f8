import RoostBytes
import RoostStorage

extension DatabaseCore {
    /// How many documents are purged in one commit.
    private static let purgeBatch = 1000

    /// Purges all documents whose time has come, some in each commit; answers how many.
    func purgeExpired() throws(DatabaseError) -> Int {
        let now = environment.clock.now()
        var count = 0
        if process != nil { _ = try refresh() }
        for (name, trees) in try collections(in: store.snapshot()) {
            var purged = 0
            repeat {
                purged = try purgeExpired(name, trees, now)
                count += purged
            } while purged == Self.purgeBatch
        }
        return count
    }

    private func purgeExpired(
        _ name: CollectionName, _ trees: CollectionTrees, _ now: UInt64
    ) throws(DatabaseError) -> Int {
        let reader = CollectionReader(source: store.snapshot(), trees: trees)
        let range = KeyRange(
            lower: Key(ExtrasKey.expirations(from: 0)), upper: Key(ExtrasKey.expirations(from: now + 1)))
        guard try reader.expirations(range, limit: 1).isEmpty == false else { return 0 }
        return try write { (batch) throws(DatabaseError) in
            let writer = try batch.writer(name, trees)
            // What is due is read again within the transaction: an expiration may have been changed till then.
            let due = try writer.reader.expirations(range, limit: Self.purgeBatch)
            for (id, _) in due { _ = try batch.purge(try DocumentID(id), nil, by: writer) }
            return due.count
        }
    }

    /// When the next document expires, in microseconds since 1970.
    func firstExpiration() throws(DatabaseError) -> UInt64? {
        let snapshot = store.snapshot()
        var first: UInt64?
        for (_, trees) in try collections(in: snapshot) {
            let reader = CollectionReader(source: snapshot, trees: trees)
            if let next = try reader.expirations(ExtrasKey.allExpirations, limit: 1).first {
                first = min(first ?? .max, next.time)
            }
        }
        return first
    }
}

extension CollectionReader {
    /// The expirations whose keys are in `range`, earliest first.
    func expirations(_ range: KeyRange, limit: Int) throws(DatabaseError) -> [(id: String, time: UInt64)] {
        let cursor = try extras.cursor(range)
        var found: [(id: String, time: UInt64)] = []
        while found.count < limit, try translating({ () throws(StoreError) in try cursor.next() }) {
            guard let (time, id) = ExtrasKey.readExpiration(cursor.keyView) else {
                throw DatabaseError.damaged("The entry of an expiration")
            }
            found.append((try String(documentID: id), time))
        }
        return found
    }
}
