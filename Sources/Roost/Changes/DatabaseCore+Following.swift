import RoostStorage

/// Where processes take turns to write: what others have committed.
extension DatabaseCore {
    /// Takes in what other processes have committed, and tells of it; whether there was anything new. Within a batch, which
    /// began with the newest, it does nothing.
    func refresh() throws(DatabaseError) -> Bool {
        if isWriting { return false }
        return try translating { () throws(StoreError) in try store.refresh() }
    }

    /// Has those who listen told of what other processes commit, whenever the store catches up with that.
    func followOthers() {
        store.whenCaughtUp { [weak self] before, now in self?.tellOfOthers(since: before, now) }
    }

    private func tellOfOthers(since before: Snapshot, _ now: Snapshot) {
        // The first that expires may be another document now.
        expirations.schedule(at: 0, self)
        guard notifier.hasListeners else { return }
        do throws(DatabaseError) {
            let present = try records(in: now)
            for (name, old) in try records(in: before) {
                guard let trees = CollectionTrees(number: old.number, in: before) else { continue }
                guard let new = present[name], new.number == old.number else {
                    notifier.tellOfDrop(name, trees, number: old.number)
                    continue
                }
                guard new != old else { continue }
                let purges = try CollectionReader(source: now, trees: trees).purges(since: old.lastPurge)
                notifier.tellOfCommit(name, trees, new, purged: purges.compactMap(\.change))
            }
        } catch {
            // Whoever reads is told what is wrong.
            notifier.wakeAll()
            notifier.tell(.refreshed)
        }
    }

    private func records(in snapshot: Snapshot) throws(DatabaseError) -> [CollectionName: CollectionRecord] {
        let cursor = try translating { () throws(StoreError) in
            try snapshot[catalog].cursor(Catalog.collections)
        }
        var records: [CollectionName: CollectionRecord] = [:]
        while try translating({ () throws(StoreError) in try cursor.next() }) {
            let bytes = try translating { () throws(StoreError) in try cursor.value() }
            records[try Catalog.name(cursor.key)] = try CollectionRecord(bytes)
        }
        return records
    }
}

extension Purge {
    /// As listeners hear of it.
    fileprivate var change: DocumentChange? {
        revisions.first.map { DocumentChange(id: id, sequence: 0, revision: $0, flags: [], isPurged: true) }
    }
}
