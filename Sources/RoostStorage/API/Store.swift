import Dispatch
import RoostBytes
import RoostFile
import Synchronization

/// An ordered key–value store in one file: named trees that commit together, snapshots, a durable log.
///
/// One process writes at a time, any number read; several may write by turns where the options say so
/// (``StoreOptions/writers``). A store can be used from any thread: ``write(_:)`` runs one
/// transaction after another, ``read(_:)`` and snapshots never wait. It closes when the last reference goes, or by
/// ``close()``.
public final class Store: Sendable {
    let environment: Environment
    /// Without the transform, which the ``compactor`` keeps until the store is closed.
    let options: StoreOptions
    let path: String
    let checkpointer: Checkpointer
    let bufferPool: BufferPool
    let compactor: Compactor
    let published: PublishedSnapshot
    /// How the file ended when the store was opened. What was committed, compacted or cut off since is not in it.
    public let ending: FileEnding
    /// `nil` in a store that was opened for reading only.
    private let writer: Mutex<Writer?>
    /// The writer lock, which no thread owns, so that a transaction may move between threads.
    private let writerLock = DispatchSemaphore(value: 1)
    /// Held while this process writes; `nil` where it is the only one that may.
    let writerFileLock: WriterFileLock?
    /// Called when this store has caught up with other processes: see ``whenCaughtUp(_:)``.
    let caughtUp = Mutex<CaughtUp?>(nil)
    /// How often that has been.
    let catchUps = Atomic<Int>(0)
    /// The thread that runs the body of a ``write(_:)``; 0 when there is none.
    private let writingThread = Atomic<UInt>(0)
    /// Shared by all stores, because a compaction hands nodes in memory from one to another.
    private static let owners = Atomic<UInt64>(1)

    struct Writer: Sendable {
        /// Kept until the store is closed; `nil` where processes take turns.
        let lock: (any FileLock)?
        let queue: CommitQueue
    }

    init(
        path: String, options: StoreOptions, environment: Environment, state: StoreState, ending: FileEnding,
        makeWriter: (Store) -> Writer?
    ) {
        self.path = path
        self.ending = ending
        var known = options
        known.transform = nil
        self.options = known
        self.environment = environment
        checkpointer = Checkpointer(
            pendingLimit: options.pendingLimitInRange, logLimit: options.logLimitInRange)
        compactor = Compactor(options)
        bufferPool = BufferPool(partLength: options.partLengthInRange)
        writerFileLock = options.writers == .takingTurns && !options.isReadOnly ? WriterFileLock() : nil
        published = PublishedSnapshot(state)
        writer = Mutex(nil)
        let made = makeWriter(self)
        writer.withLock { $0 = made }
    }

    deinit { try? close() }

    /// The newest published state.
    var state: StoreState { published.snapshot.state }

    func nextOwner() -> UInt64 { Store.owners.add(1, ordering: .relaxed).newValue }

    // MARK: Reading

    /// The store as of the newest commit.
    public func snapshot() -> Snapshot { published.snapshot }

    /// Runs `body` with a snapshot of the newest commit.
    public func read<R>(_ body: (Snapshot) throws -> R) rethrows -> R { try body(snapshot()) }

    // MARK: Writing

    /// Begins a transaction once this caller gets the writer lock. Commit it soon: everybody else who writes waits.
    ///
    /// - Throws: ``StoreError/Code/readOnly``, ``StoreError/Code/closed``, ``StoreError/Code/writerFailed``, or
    ///   ``StoreError/Code/nestedWrite`` within the body of a ``write(_:)`` on the same thread.
    public func beginWriting() throws(StoreError) -> StoreTransaction {
        guard isWritable else { throw notWritable() }
        try checkNotWriting()
        try Store.checkRoom(path)
        writerLock.wait()
        return try beginWithLock()
    }

    /// As ``beginWriting()``; `nil` where that would have to wait.
    package func beginWritingIfFree() throws(StoreError) -> StoreTransaction? {
        guard isWritable else { throw notWritable() }
        return acquireWriterLock(within: 0) ? try beginWithLock() : nil
    }

    /// Whether a commit is on its way to the medium.
    package var isCommitting: Bool { writer.withLock { $0?.queue.isLed ?? false } }

    private func beginWithLock() throws(StoreError) -> StoreTransaction {
        do throws(StoreError) {
            try acquireFile()
            do throws(StoreError) {
                let queue = try commitQueue()
                return StoreTransaction(
                    store: self, queue: queue, base: try queue.base(), owner: nextOwner())
            } catch {
                releaseFile()
                throw error
            }
        } catch {
            writerLock.signal()
            throw error
        }
    }

    /// The options with the transform of the present file; without one after closing.
    var openingOptions: StoreOptions {
        var known = options
        known.transform = compactor.transform
        return known
    }

    var isWritable: Bool { !isInherited && writer.withLock { $0 != nil } }

    /// Whether the store was opened by the process that this one was forked from, which goes on writing it. No lock is asked
    /// for: another thread of that process may have held any.
    private var isInherited: Bool { state.file.file.isInherited }

    /// Refuses to begin what would wait without an end for a thread that the process has no memory for.
    static func checkRoom(_ path: String) throws(StoreError) {
        guard canStartThread() else {
            throw StoreError(FileError(.noMemory, operation: "start a thread", path: path))
        }
    }

    func notWritable() -> StoreError {
        if isInherited { return StoreError(FileError(.inherited, operation: "write", path: path)) }
        return options.isReadOnly
            ? StoreError(.readOnly, "\(path) was opened for reading only.")
            : StoreError(.closed, "\(path) was closed.")
    }

    /// Refuses what would wait for the end of the ``write(_:)`` that it is called in.
    func checkNotWriting() throws(StoreError) {
        guard writingThread.load(ordering: .relaxed) != currentThread() else {
            throw StoreError(
                .nestedWrite,
                "This thread is within a write already, which would wait for itself. Use its transaction.")
        }
    }

    func acquireWriterLock() { writerLock.wait() }
    func releaseWriterLock() { writerLock.signal() }

    /// Waits for the writer lock up to `seconds`; `false` when it did not come.
    func acquireWriterLock(within seconds: Double) -> Bool {
        writerLock.wait(timeout: .now() + seconds) == .success
    }

    /// Why nothing can be written any more until the store is opened again; `nil` while it can.
    package var writeFailure: StoreError? { writer.withLock { $0?.queue }?.failure }

    /// The commits' queue; only the holder of the writer lock may use it.
    func commitQueue() throws(StoreError) -> CommitQueue {
        guard let queue = writer.withLock({ $0?.queue }) else { throw notWritable() }
        return queue
    }

    /// Goes on from `state`, the newest, in this file or another one. Only the holder of the writer lock may ask, after
    /// everything staged was written.
    ///
    /// - Parameters:
    ///   - lock: the lock of that file.
    ///   - failure: why nothing more may be written, if so.
    func adopt(
        _ state: StoreState, _ lock: any FileLock, syncedEnd: UInt64, failure: StoreError? = nil,
        nameSync: CommitQueue.NameSync? = nil
    ) {
        let queue = makeQueue(state, syncedEnd: syncedEnd, nameSync: nameSync)
        if let failure { queue.refuse(failure) }
        state.file.mapped?.extend(to: syncedEnd)
        checkpointer.reset()
        writerFileLock?.replace(lock)
        writer.withLock {
            $0 = $0.map { _ in Writer(lock: writerFileLock == nil ? lock : nil, queue: queue) }
        }
        published.publish(state)
    }

    /// A queue for commits that follow `state`, the newest.
    func makeQueue(
        _ state: StoreState, syncedEnd: UInt64, nameSync: CommitQueue.NameSync? = nil
    ) -> CommitQueue {
        CommitQueue(
            state: state, syncedEnd: syncedEnd, durability: options.durability, nameSync: nameSync,
            publish: published.publish, syncLater: { [weak self] in try? self?.sync() })
    }

    /// Ends writing and leaves the file as it is.
    func abandon() { writer.withLock { $0 = nil } }

    /// Runs `body` in a transaction and commits it; an error thrown by `body` undoes everything.
    ///
    /// - Throws: what `body`, ``beginWriting()`` and ``StoreTransaction/commit()`` throw.
    @discardableResult
    public func write<R>(_ body: (StoreTransaction) throws -> R) throws -> R {
        let transaction = try beginWriting()
        writingThread.store(currentThread(), ordering: .relaxed)
        let result = Result { try body(transaction) }
        // Before the commit, which lets others write.
        writingThread.store(0, ordering: .relaxed)
        do {
            let value = try result.get()
            try transaction.commit()
            return value
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// The tree `name`, made by a commit of its own if there is none.
    ///
    /// - Parameters:
    ///   - name: 1 to 255 bytes of UTF-8.
    ///   - reduction: the reduction that a new tree keeps; its function is known from now on.
    public func tree(_ name: String, reduction: Reduction? = nil) throws(StoreError) -> Tree {
        if let reduction { options.reductions.add(reduction) }
        if let tree = state.trees.tree(name) { return tree }
        let transaction = try beginWriting()
        let tree = try transaction.tree(name, reduction: reduction)
        try transaction.commit()
        return tree
    }

    /// Puts everything committed so far on the medium; of use with ``StoreOptions/Durability/relaxed(interval:)``.
    public func sync() throws(StoreError) {
        guard isWritable else { throw notWritable() }
        try joinFile()
        defer { releaseFile() }
        try commitQueue().syncNow()
    }

    // MARK: Closing

    /// Ends writing: makes a checkpoint if the log is long, notes the clean shutdown in the file, gives preallocated space and
    /// the lock back. Where nothing was committed since the store was opened, nothing is written. Closing twice does
    /// nothing.
    ///
    /// Snapshots that were taken before stay valid; those taken afterwards throw ``StoreError/Code/closed``. The memory of
    /// the cache, and of an encrypted store's keys, which is wiped, is given back as soon as no snapshot needs it.
    ///
    /// What was committed needs no closing to be safe.
    public func close() throws(StoreError) {
        guard !isInherited else { return }
        try checkNotWriting()
        compactor.stop()
        defer { forget() }
        guard isWritable else { return }
        defer { abandon() }
        let state = state
        if try leavesLongLog(state) {
            let transaction = try beginWriting()
            try transaction.commitCheckpoint()
        }
        writerLock.wait()
        defer { writerLock.signal() }
        try acquireFile()
        defer { releaseFile() }
        try commitQueue().close(at: environment.clock.now())
    }

    /// Lets go of what was read and of what the key opens.
    private func forget() {
        compactor.transform = nil
        let state = state
        if !state.isClosed { published.publish(state.closed()) }
    }

    /// Whether the next opening would have much to replay because of commits since this one, or of those that a compaction caught up
    /// with, after which it noted the file's end.
    private func leavesLongLog(_ state: StoreState) throws(StoreError) -> Bool {
        guard state.logBytes > Store.shortLog else { return false }
        guard state.record.kind != .cleanShutdown else { return true }
        writerLock.wait()
        defer { writerLock.signal() }
        return try commitQueue().hasCommitted
    }

    /// A log shorter than this is left to be replayed, which takes less time than writing a checkpoint.
    private static let shortLog: UInt64 = 256 << 10
}

// MARK: - Opened

extension Store {
    /// Makes the function of a reduction known, from now on. One of the same name that is known already stays.
    public func register(_ reduction: Reduction) { options.reductions.add(reduction) }

    /// Whether the store was opened for reading only.
    package var isReadOnly: Bool { options.isReadOnly }

    /// What transforms the chunks of the present file; `nil` where nothing does, and after closing.
    package var transform: (any ChunkTransform)? { state.file.codec.transform }

    /// When its commits count as done.
    package var durability: StoreOptions.Durability { options.durability }
}

// MARK: - StoreStatistics

/// How large a store is and what of it is alive.
public struct StoreStatistics: Hashable, Sendable {
    /// Bytes of the file.
    public let fileBytes: UInt64
    /// Bytes of it that the newest commit leads to: nodes, and values that entries own. What a compaction keeps.
    public let liveBytes: UInt64
    /// Bytes of the log that opening the store after a crash would read and replay.
    public let logBytes: UInt64
    /// Bytes of memory that pending changes take.
    public let pendingBytes: Int
    /// The number of the newest commit.
    public let commit: UInt64
    /// How many compactions lie behind the file.
    public let generation: UInt64
}

extension Store {
    /// How large the store is now.
    public func statistics() throws(StoreError) -> StoreStatistics {
        let state = state
        let size = try fileCall { () throws(FileError) in try state.file.file.size() }
        return StoreStatistics(
            fileBytes: size, liveBytes: state.liveBytes,
            logBytes: state.logBytes, pendingBytes: state.pendingBytes, commit: state.record.number,
            generation: state.file.header.generation)
    }
}
