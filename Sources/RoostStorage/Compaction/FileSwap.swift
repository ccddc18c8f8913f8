import RoostFile

/// The last step: what is left of the log, the new name, and the store's move to the new file, which has been locked
/// since it was made: whoever opens it by its name finds it locked.
struct FileSwap {
    let files: CompactionFiles
    let environment: Environment
    /// What transforms the new file's chunks.
    let factory: (any ChunkTransformFactory)?

    struct Outcome {
        /// Sizes of the old and the new file.
        let bytesBefore, bytesAfter: UInt64
        /// For how long nobody could commit, in seconds.
        let pause: Double
        /// Why the store takes no more commits, though it is in its new file.
        let failure: StoreError?
        /// The store's last state in the old file, to be released once others can commit: that takes a while.
        let replaced: StoreState
    }

    /// Puts the new file in the old one's place. The caller has the writer lock, and where other processes write the store the
    /// file's, too; it has seen that the file at the path is the one that was copied.
    func run(_ store: Store, _ follower: LogFollower, _ target: CompactedStore) throws(StoreError) -> Outcome
    {
        let start = environment.clock.monotonic()
        let queue = try store.commitQueue()
        let last = try queue.drain()
        // A power failure may bring the old file back. It must have all that the new one shows, whatever the durability.
        try queue.syncRest()
        try follower.advance(to: last.record)
        try target.finish(at: environment.clock.now())
        let syncedEnd = target.state.record.start
        try target.file.rename(to: files.path)
        let failure = syncName()
        store.adopt(
            reopened(target.state, store.options.valueAccess), target.file.lock, syncedEnd: syncedEnd,
            failure: failure)
        store.compactor.transform = factory
        target.abandon()
        let pause = Double(environment.clock.monotonic() &- start) / 1_000_000
        return Outcome(
            bytesBefore: last.record.end, bytesAfter: target.state.record.end, pause: pause, failure: failure,
            replaced: last)
    }

    /// The state with a handle that knows the file's new name, for the errors to come. Without one the present handle
    /// does as well.
    private func reopened(_ state: StoreState, _ values: StoreOptions.ValueAccess) -> StoreState {
        guard let file = try? state.file.file.handle(named: files.path) else { return state }
        let data = DataFile(state.file, reopened: file, writtenEnd: state.record.end, values: values)
        return StoreState(
            file: data, record: state.record,
            trees: state.trees.reopened(data), logBytes: state.logBytes)
    }

    /// Makes the new name durable. If that fails a crash may bring the old file back, so that nothing more must be
    /// committed to the new one until somebody has seen what the directory holds.
    private func syncName() -> StoreError? {
        do throws(FileError) {
            try files.syncName()
            return nil
        } catch {
            return StoreError(
                .writerFailed,
                "\(StoreError(error).message) Whether \(files.path) keeps its compacted content is unknown until the "
                    + "store is opened again; nothing more is written until then.",
                cause: error)
        }
    }
}
