import Dispatch
import RoostBytes
import RoostFile
import Synchronization

/// Where several processes write a store, each transaction takes the file's lock and begins with what others committed.
extension Store {
    /// Keeps other processes from writing until ``releaseFile()``, and catches up with what they wrote. Only the holder of the
    /// writer lock may ask. Does nothing where no other process may write.
    func acquireFile() throws(StoreError) {
        guard let writerFileLock, !writerFileLock.join(at: environment.clock.monotonic()) else { return }
        // A store that failed does not go on because others do.
        let queue = try commitQueue()
        let state = try queue.base().state
        let opener = StoreOpener(path: path, options: openingOptions, environment: environment)
        let lock = try fileCall { () throws(FileError) in try state.file.file.lockInTurn() }
        let before = snapshot()
        guard try isStillThere(state) else {
            // Opening waits for the lock, which may be that of this very file.
            lock.release()
            let (newer, lock, syncedEnd, _) = try opener.openNewest()
            writerFileLock.begin(lock, at: environment.clock.monotonic())
            adopt(newer, lock, syncedEnd: syncedEnd, nameSync: opener.nameSync)
            return tellCaughtUp(since: before)
        }
        let newer = try TurnCatchUp(store: self, opener: opener).newerState(than: state)
        writerFileLock.begin(lock, at: environment.clock.monotonic())
        guard let newer else { return }
        adopt(newer, lock, syncedEnd: newer.record.end, nameSync: queue.pendingNameSync)
        tellCaughtUp(since: before)
    }

    /// Is handed the newest commit that was known, and the newest there is.
    package typealias CaughtUp = @Sendable (_ before: Snapshot, _ now: Snapshot) -> Void

    /// Has `body` called whenever this store has caught up with what other processes committed, be it for a transaction or a
    /// ``refresh()``: on the thread that does so, which holds the writer lock. Take a note or wake somebody, no more.
    package func whenCaughtUp(_ body: @escaping CaughtUp) { caughtUp.withLock { $0 = body } }

    /// How often this store has caught up with what other processes committed.
    package var catchUpCount: Int { catchUps.load(ordering: .acquiring) }

    private func tellCaughtUp(since before: Snapshot) {
        let now = snapshot()
        guard now.commit.number != before.commit.number || now.state.record != before.state.record else {
            return
        }
        catchUps.add(1, ordering: .acquiringAndReleasing)
        caughtUp.withLock { $0 }?(before, now)
    }

    /// As ``acquireFile()``, for a caller without the writer lock: shares the file with whatever transaction has it, which may
    /// be the caller's own.
    func joinFile() throws(StoreError) {
        guard let writerFileLock, !writerFileLock.joinPresent() else { return }
        acquireWriterLock()
        defer { releaseWriterLock() }
        try acquireFile()
    }

    func releaseFile() { writerFileLock?.leave() }

    /// Whether the path still leads to the file that is open, and the commit of `state` is in it. A writer that could not
    /// sync a commit, and came up again without it, leaves a file that went another way.
    func isStillThere(_ state: StoreState) throws(StoreError) -> Bool {
        let (named, held) = try fileCall { () throws(FileError) in
            (try environment.medium.status(of: path)?.identity, try state.file.file.identity())
        }
        guard named == held else { return false }
        return try LogScanner(file: state.file).record(at: state.record.offset) == state.record
    }

    /// Whether there may be something newer in the file than `state`, or another file in its place. Asks without a lock.
    func isPassed(_ state: StoreState) throws(StoreError) -> Bool {
        try state.checkOpen()
        guard try isStillThere(state) else { return true }
        return try hasBytes(after: state)
    }

    /// Whether the block after the newest commit known is anything but the zeros that are prepared there. Whoever writes a
    /// commit begins with it.
    fileprivate func hasBytes(after state: StoreState) throws(StoreError) -> Bool {
        let block = ByteBuffer(capacity: Format.blockSize)
        block.resize(to: Format.blockSize)
        let count = try fileCall { () throws(FileError) in
            unsafe try state.file.file.readFully(into: block.mutableBytes, at: state.record.end)
        }
        return unsafe block.mutableBytes.prefix(count).contains { $0 != 0 }
    }

    /// The newest state, to be compacted. Where others write, its nodes in memory are none that are kept under places of the
    /// file which others may fill: such are committed before.
    func compactionSource() throws(StoreError) -> StoreState {
        try refresh()
        while true {
            let state = state
            guard writerFileLock != nil else { return state }
            guard state.replayed.isEmpty else {
                try beginWriting().commitCheckpoint()
                continue
            }
            let file = DataFile(anew: state.file, options)
            file.writtenEnd.store(state.record.end, ordering: .releasing)
            return StoreState(
                file: file, record: state.record, trees: state.trees.reopened(file), logBytes: state.logBytes)
        }
    }
}

/// Finds what other processes have appended, for one that is about to append itself and has the file's lock.
private struct TurnCatchUp {
    let store: Store
    let opener: StoreOpener

    /// The state after the newest commit; `nil` when nothing was appended. What a crash left behind that is cut off, and
    /// what comes before is made durable, as opening does.
    func newerState(than state: StoreState) throws(StoreError) -> StoreState? {
        guard try store.hasBytes(after: state) else { return nil }
        var stream = CommitStream(file: state.file, after: state.record)
        var records: [CommitRecord] = []
        while let record = try stream.next() { records.append(record) }
        let newest = records.last ?? state.record
        try secure(state.file, after: newest)
        guard !records.isEmpty else {
            state.renewHistory()
            return nil
        }
        return try replay(records, onto: state, to: newest)
    }

    private func secure(_ file: DataFile, after newest: CommitRecord) throws(StoreError) {
        try fileCall { () throws(FileError) in
            if try file.file.size() > newest.end { try file.file.truncate(to: newest.end) }
        }
        do throws(FileError) {
            try file.makeDurable(upTo: newest)
        } catch {
            let failure = StoreError(syncFailed: error)
            try store.commitQueue().refuse(failure)
            throw failure
        }
    }

    /// Prepares `file` for being written after `newest`, under a number of this process's own.
    private func begin(_ file: DataFile, after newest: CommitRecord) {
        file.writtenEnd.store(newest.end, ordering: .releasing)
        if file.codec.isTransformed { file.beginHistory(at: newest.end, store.environment.randomness) }
    }

    /// Replays `records` onto `state`, or, where a checkpoint is among them, what comes after that. Where `state` has nodes in
    /// memory under places that others have filled, the file is read as a new one: snapshots keep reading those nodes.
    private func replay(
        _ records: [CommitRecord], onto state: StoreState, to newest: CommitRecord
    ) throws(StoreError) -> StoreState {
        let continues = newest.checkpoint == state.record.checkpoint && state.replayed.isEmpty
        let old = state.file
        let file = continues ? old : DataFile(anew: old, store.options)
        begin(file, after: newest)
        let output = CommitBuffer(
            file: file, start: newest.end, compression: store.options.compression, pool: nil)
        let replayer = opener.replayer(file)
        let next =
            continues
            ? try replayer.apply(records, to: state, output: output, owner: store.nextOwner())
            : try replayer.state(at: newest, output: output, owner: 0)
        guard output.count > 0 else {
            output.release()
            return next
        }
        return next.keeping(ReplayedNodes(file: file, bytes: output.unwritten))
    }
}

// MARK: - Refresh

extension Store {
    /// Brings a store that was opened for reading only up to the newest commit of the process that writes it. Snapshots
    /// taken before stay as they are.
    ///
    /// Reads what was committed since, or, where the writer made a checkpoint meanwhile, its roots and the operations
    /// after it; opens the new file where a compaction has put one in the old one's place. A commit that is just being
    /// written is left for the next time. A store that writes by turns with other processes looks whether there is anything
    /// new, and if so waits for the file's lock and catches up as a transaction does. One that alone writes has nothing to do.
    ///
    /// - Returns: whether there was something new.
    /// - Throws: ``StoreError``, with the store as it was before.
    @discardableResult
    public func refresh() throws(StoreError) -> Bool {
        guard options.isReadOnly || writerFileLock != nil else { return false }
        if writerFileLock != nil, try !isPassed(state) { return false }
        acquireWriterLock()
        defer { releaseWriterLock() }
        guard writerFileLock == nil else {
            let before = state.record
            try acquireFile()
            defer { releaseFile() }
            return state.record != before
        }
        try state.checkOpen()
        guard let newer = try Follower(store: self).newerState() else { return false }
        newer.mapSyncedValues()
        published.publish(newer)
        return true
    }
}

/// Finds what another process has written since a reader last looked.
private struct Follower {
    let store: Store
    private let state: StoreState

    init(store: Store) {
        self.store = store
        state = store.state
    }

    private var opener: StoreOpener {
        StoreOpener(path: store.path, options: store.openingOptions, environment: store.environment)
    }

    func newerState() throws(StoreError) -> StoreState? {
        guard try store.isStillThere(state) else {
            return try opener.newestState(of: try opener.openFile(.readOnly))
        }
        var stream = CommitStream(file: state.file, after: state.record)
        var records: [CommitRecord] = []
        while let record = try stream.next() { records.append(record) }
        guard let newest = records.last else { return nil }
        guard newest.checkpoint == state.record.checkpoint, !state.file.isShortOfReplayedRegions else {
            return try reload(newest)
        }
        return try continued(with: records)
    }

    private func reload(_ newest: CommitRecord) throws(StoreError) -> StoreState {
        let file = state.file
        return try opener.state(
            at: newest, of: file.isShortOfReplayedRegions ? DataFile(anew: file, store.options) : file)
    }

    /// The state with the operations of `records` applied. Nodes that others may be reading are copied first, because
    /// the owner's number is a new one.
    private func continued(with records: [CommitRecord]) throws(StoreError) -> StoreState {
        let file = state.file
        let output = CommitBuffer(
            file: file, start: try file.nextReplayedRegion(), compression: 0, pool: nil)
        let replayer = Replayer(
            file: file, reductions: store.options.reductions, nodeSize: store.options.nodeSizeInRange)
        let next = try replayer.apply(
            records, to: state, output: output, owner: store.nextOwner())
        guard output.count > 0 else {
            output.release()
            file.giveBackReplayedRegion(output.start)
            return next
        }
        return next.keeping(ReplayedNodes(file: file, bytes: output.unwritten))
    }
}

// MARK: - WriterFileLock

/// A process's hold of the lock of a file that several processes write, for as long as any transaction needs it.
///
/// Transactions that follow each other closely in one process share a hold, as they share writes and syncs. A hold ends
/// when nobody needs it, or, so that other processes are not kept waiting for ever, when it has been long enough: then the
/// next transaction waits until those before it are done, and takes the lock anew. It does not wait for commits that are
/// staged and that nobody writes yet: the thread that is to write them may be the one that would wait.
final class WriterFileLock: Sendable {
    private struct State {
        var lock: (any FileLock)?
        var users = 0
        /// Those of the users whose commits are staged, and not being written yet.
        var staged = 0
        /// When the hold ends for those who come then, in microseconds of the monotonic clock.
        var end: UInt64 = 0
        var isAwaited = false
    }

    private let state = Mutex(State())
    private let isOver = DispatchSemaphore(value: 0)

    /// For how long a process goes on while others wait, in microseconds.
    private static let length: UInt64 = 20_000

    /// Joins the hold that is going on; `false` when there is none, or none that may be joined. For one thread at a time.
    func join(at time: UInt64) -> Bool {
        let (hasJoined, waits) = state.withLock { state in
            guard state.users > 0 else { return (false, false) }
            guard time >= state.end, state.staged == 0 else {
                state.users += 1
                return (true, false)
            }
            state.isAwaited = true
            return (false, true)
        }
        if waits { isOver.wait() }
        return hasJoined
    }

    /// Joins the hold that is going on for as long as a call takes; `false` when there is none. For any thread.
    func joinPresent() -> Bool {
        state.withLock { state in
            guard state.users > 0 else { return false }
            state.users += 1
            return true
        }
    }

    /// Begins a hold with the file's lock.
    func begin(_ lock: any FileLock, at time: UInt64) {
        state.withLock { $0 = State(lock: lock, users: 1, end: time &+ WriterFileLock.length) }
    }

    /// Goes on with the lock of the file that takes the place of the one before.
    func replace(_ lock: any FileLock) {
        let old = state.withLock { state in
            defer { state.lock = lock }
            return state.lock
        }
        if old !== lock { old?.release() }
    }

    /// Notes that a user's commit is complete in memory and will be written later.
    func stage() { state.withLock { $0.staged += 1 } }

    /// Notes that a staged commit is being written, or given up.
    func unstage() { state.withLock { $0.staged -= 1 } }

    /// Ends a use of the hold, and the hold with the last one.
    func leave() {
        let (lock, isAwaited): ((any FileLock)?, Bool) = state.withLock { state in
            state.users -= 1
            guard state.users == 0 else { return (nil, false) }
            defer { (state.lock, state.isAwaited) = (nil, false) }
            return (state.lock, state.isAwaited)
        }
        lock?.release()
        if isAwaited { isOver.signal() }
    }
}
