import RoostFile

/// The new file as a store of its own, to which commits are made until it takes the old one's place.
final class CompactedStore {
    let store: Store

    /// Stands for the lock of the store that is being compacted, which covers this file too.
    private final class CoveredLock: FileLock {}

    init(_ state: StoreState, path: String, options: StoreOptions, _ environment: Environment) {
        store = Store(path: path, options: options, environment: environment, state: state) { publish in
            Store.Writer(
                lock: CoveredLock(),
                queue: CommitQueue(
                    state: state, syncedEnd: state.record.end, durability: options.durability,
                    publish: publish))
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
        if let ticket = try transaction.stage(policy) { try transaction.queue.finish(ticket) }
    }

    /// Makes sure that opening the file finds a short last commit, after which everything was synced: what the last
    /// commit holds is always checked. Gives prepared space back.
    func finish(at time: UInt64) throws(StoreError) {
        let record = state.record
        let queue = try store.commitQueue()
        guard record.end - record.start > CompactedStore.longCommit else { return queue.trim(state) }
        try queue.noteCleanEnd(at: time)
        queue.trim(state)
    }

    private static let longCommit: UInt64 = 1 << 20

    /// Ends writing through this store, whatever becomes of the file.
    func abandon() { store.abandon() }
}
