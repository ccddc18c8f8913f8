import RoostBytes
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
            try transaction.queue.makeDurable(ticket)
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

// MARK: - CompactionFiles

/// The names that a compaction uses beside the store's own.
struct CompactionFiles {
    let path: String
    let medium: any Medium

    /// The new file until it takes the store's name.
    var target: String { path + ".compact" }
    var scratch: String { path + ".compact-scratch" }
    /// Is there while nobody knows whether the directory keeps the name.
    private var unsynced: String { path + ".compact-unsynced" }

    /// Removes what a compaction left that did not come to its end.
    ///
    /// - Parameter isShared: whether another process may be compacting the store.
    /// - Throws: ``StoreError/Code/locked`` when one is.
    func removeLeftovers(isShared: Bool) throws(StoreError) {
        if isShared { try LeftoverFile(target, medium).removeSecondName(of: path) }
        for name in [target, scratch] { try LeftoverFile(name, medium).remove(isOwned: !isShared) }
    }

    // MARK: A name whose sync failed

    /// Makes the store's name durable. Where that fails a sign stays, by which ``nameAnew()`` and the next backup to that name
    /// know: after a sync that failed a later one proves nothing of the changes before.
    func syncName() throws(FileError) {
        do throws(FileError) {
            try medium.syncDirectory(of: path)
        } catch {
            _ = try? medium.open(unsynced, .createNew)
            throw error
        }
    }

    /// Whether that sign is there.
    ///
    /// - Throws: ``FileError/Code/alreadyExists`` when something that is not Roost's has its name.
    func isMarkedUnsynced() throws(FileError) -> Bool {
        guard let status = try medium.status(of: unsynced) else { return false }
        guard status.kind == .file, status.size == 0 else {
            throw FileError(.alreadyExists, operation: "mark", path: unsynced)
        }
        return true
    }

    /// Takes the sign away after the name was changed once more and synced.
    func removeMark() throws(FileError) {
        if try isMarkedUnsynced() { try medium.remove(unsynced) }
    }

    /// Puts a copy of the file in its own place where that sign is there, so that a sync which succeeds covers the name.
    ///
    /// - Returns: whether the path names another file now.
    func nameAnew() throws(StoreError) -> Bool {
        guard try fileCall({ () throws(FileError) in try isMarkedUnsynced() }) else { return false }
        let file = try fileCall { () throws(FileError) in try medium.open(path, .readOnly) }
        let access = try fileCall { () throws(FileError) in try file.access() }
        let copy = try NewFile(target, medium, access)
        do throws(StoreError) {
            try fileCall { () throws(FileError) in try self.copy(file, to: copy.file) }
            try copy.rename(to: path)
        } catch {
            copy.discard()
            throw error
        }
        try fileCall { () throws(FileError) in
            try medium.syncDirectory(of: path)
            try removeMark()
        }
        return withExtendedLifetime(copy.lock) { true }
    }

    private func copy(_ file: any File, to copy: any File) throws(FileError) {
        let buffer = ByteBuffer(capacity: 1 << 20)
        var position: UInt64 = 0
        while true {
            buffer.resize(to: 1 << 20)
            buffer.resize(to: unsafe try file.readFully(into: buffer.mutableBytes, at: position))
            guard buffer.count > 0 else { break }
            unsafe try copy.writeFully(buffer.view.buffer, at: position)
            position += UInt64(buffer.count)
        }
        try copy.sync()
    }
}

// MARK: - FileSwap

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

// MARK: - CopyTarget

/// What the copiers of all trees share.
final class CopyTarget {
    let output: CommitBuffer
    let nodeSize: Int
    let relocations: Relocations
    let gatherer: ValueGatherer
    let pace: CompactionPace
    let marks: TreeMarks
    /// Bytes of keys and values that are read and copied at a time.
    let batchSize: Int

    init(
        output: CommitBuffer, nodeSize: Int, relocations: Relocations, gatherer: ValueGatherer,
        pace: CompactionPace, marks: TreeMarks, batchSize: Int
    ) {
        self.output = output
        self.nodeSize = nodeSize
        self.relocations = relocations
        self.gatherer = gatherer
        self.pace = pace
        self.marks = marks
        self.batchSize = batchSize
    }

    /// Bytes of the new file and of scratch so far.
    var writtenEnd: UInt64 { output.end + relocations.scratchEnd }
}
