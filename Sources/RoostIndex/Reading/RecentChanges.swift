import Roost
import Synchronization

/// What the last reader of an index has made of the documents that had changed since the index was kept, so that the next reader
/// looks only at those that have changed after that. Can be used from any thread.
final class RecentChanges: Sendable {
    /// What was made of the changes up to a moment.
    struct Note: Sendable {
        /// How far the index had come since which they are changes.
        let kept: IndexRecord
        /// The moment's sequence and purge sequence.
        let sequence: UInt64
        let purge: UInt64
        let value: any Sendable

        func isEarlier(than other: Self) -> Bool { (sequence, purge) < (other.sequence, other.purge) }
    }

    private let last = Mutex<Note?>(nil)

    var note: Note? { last.withLock { $0 } }

    /// Keeps a note, unless there is one of a later moment.
    func keep(_ note: Note) {
        last.withLock { last in
            if let last, last.kept == note.kept, note.isEarlier(than: last) { return }
            last = note
        }
    }
}

extension KeptIndex {
    /// What a reader at an earlier moment has noted of the documents that had changed by then, with the IDs of those that have
    /// changed since; `nil` where all of ``changed`` have to be looked at.
    package func noted<T: Sendable>(
        _ type: T.Type
    ) throws(DatabaseError) -> (value: T, since: Set<ByteKey>)? {
        guard let note = recent?.note, note.kept == record, let value = note.value as? T,
            note.sequence <= collection.lastSequence, note.purge <= collection.purgeSequence,
            let purges = try collection.purges(since: note.purge)
        else { return nil }
        var since = Set(purges.map { ByteKey($0.id) })
        for change in try collection.changes(since: note.sequence) { since.insert(ByteKey(change.id)) }
        return (value, since)
    }

    /// Notes what was made of the documents in ``changed``, for readers at later moments.
    package func note(_ value: some Sendable) {
        // What an index has that is ahead of the moment says nothing of later ones.
        guard let record, !record.isAhead(of: collection) else { return }
        recent?.keep(
            RecentChanges.Note(
                kept: record, sequence: collection.lastSequence, purge: collection.purgeSequence, value: value
            )
        )
    }
}
