import RoostFile

/// The new file as a store of its own, to which commits are made until it takes the old one's place.
final class CompactedStore {
    let store: Store
    /// The lock of the new file.
    let lock: any FileLock

    init(
        _ state: StoreState, _ lock: any FileLock, path: String, options: StoreOptions,
        _ environment: Environment
    ) {
        self.lock = lock
        store = Store(
            path: path, options: options, environment: environment, state: state,
            ending: FileEnding(newFileOf: state.record.end)
        ) { store in
            Store.Writer(lock: lock, queue: store.makeQueue(state, syncedEnd: state.record.end))
        }
    }

    var state: StoreState { store.state }

    /// Commits what `body` does, as the commit `record` of the old file.
    func repeating(
        _ record: () -> CommitRecord?, _ policy: WriteTransaction.CheckpointPolicy = .ifNeeded,
        _ body: (WriteTransaction) throws(StoreError) -> Void
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

    /// Ends the new file. A second checkpoint makes sure that the trees are found if the first one's root directory is damaged,
    /// for there are no commits before that. And a short last commit, after which everything was synced, keeps opening
    /// from looking at more: what the last commit holds is always checked. Gives preallocated space back.
    func finish(at time: UInt64) throws(StoreError) {
        try repeating({ nil }, .always) { (_) throws(StoreError) in }
        let queue = try store.commitQueue()
        try queue.noteCleanShutdown(at: time)
        queue.trim(state)
    }

    /// Ends writing through this store, whatever becomes of the file.
    func abandon() { store.abandon() }
}
