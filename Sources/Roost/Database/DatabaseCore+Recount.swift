import RoostBytes
import RoostStorage

extension DatabaseCore {
    /// Counts the documents of all collections, and finds the last sequence given: what a salvage leaves of a collection
    /// need not be what its record says. What was rescued begins another history, with new epochs. Reads all entries of documents, without their bodies.
    ///
    /// - Throws: `damaged` for a catalog or a record that can't be read.
    func recount() throws(DatabaseError) {
        for (name, trees) in try collections(in: store.snapshot()) {
            let (live, sequence) = try engine { () throws(StoreError) in
                try count(trees, in: store.snapshot())
            }
            try write { (batch) throws(DatabaseError) in
                let writer = try batch.writer(name, trees)
                writer.record.liveCount = live
                writer.record.lastSequence = max(writer.record.lastSequence, sequence)
                writer.record.renewEpoch(environment)
            }
        }
    }

    private func count(
        _ trees: CollectionTrees, in snapshot: Snapshot
    ) throws(StoreError) -> (live: UInt64, sequence: UInt64) {
        var (live, sequence): (UInt64, UInt64) = (0, 0)
        if let last = try snapshot[trees.changes].last() {
            sequence = last.key.bytes.withView { Sequences.number($0) }
        }
        let cursor = try snapshot[trees.documents].cursor()
        while try cursor.next() {
            // An entry that can't be read counts as a document; reading it says what is wrong.
            let entry = try? StoredDocument(cursor.inline)
            if entry?.flags.contains(.deleted) != true { live += 1 }
            sequence = max(sequence, entry?.sequence ?? 0)
        }
        return (live, min(sequence, CollectionRecord.largestSequence))
    }
}
