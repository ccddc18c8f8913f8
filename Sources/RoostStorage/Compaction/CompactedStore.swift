import RoostFile

/// The new file as a store of its own, to which commits are made until it takes the old one's place.
final class CompactedStore {
    let store: Store
    /// The new file and its lock.
    let file: NewFile

    init(
        _ state: StoreState, _ file: NewFile, path: String, options: StoreOptions,
        _ environment: Environment
    ) {
        self.file = file
        store = Store(
            path: path, options: options, environment: environment, state: state,
            ending: FileEnding(newFileOf: state.record.end)
        ) { store in
            Store.Writer(lock: file.lock, queue: store.makeQueue(state, syncedEnd: state.record.end))
        }
    }

    var state: StoreState { store.state }

    /// Commits what `body` does, as the commit `record` of the old file.
    func repeating(
        _ record: () -> CommitRecord, _ policy: StoreTransaction.CheckpointPolicy = .ifNeeded,
        _ body: (StoreTransaction) throws(StoreError) -> Void
    ) throws(StoreError) {
        let transaction = try store.beginWriting()
        do throws(StoreError) {
            try body(transaction)
        } catch {
            transaction.rollback()
            throw error
        }
        transaction.repeated = record()
        guard let ticket = try transaction.stage(policy) else { return }
        do throws(StoreError) {
            try transaction.queue.finish(ticket)
        } catch {
            // That nothing more is written concerns this file, which goes, and not the store.
            guard let cause = error.cause as? FileError else { throw error }
            throw StoreError(cause)
        }
    }

    /// Writes the copy's root directory once more, by the commit `record` of the old file.
    ///
    /// The trees are found then if the first directory is damaged, for there are no commits before that. And opening always checks
    /// what the last commit holds, which is not to be the whole copy.
    func repeatRoots(of record: CommitRecord) throws(StoreError) {
        try repeating({ record }, .always) { (_) throws(StoreError) in }
    }

    /// Ends writing through this store: notes that everything is on the medium, and gives preallocated space back.
    ///
    /// The changes that were caught up with stand in the log. They wait in memory for a checkpoint of the store that takes the file
    /// over, as its own changes do.
    func finish(at time: UInt64) throws(StoreError) {
        let queue = try store.commitQueue()
        try queue.noteCleanShutdown(at: time)
        queue.trim(state)
    }

    /// Ends writing through this store, whatever becomes of the file.
    func abandon() { store.abandon() }
}
