import Dispatch
import RoostBytes
import RoostFile
import Synchronization

/// One compaction of a store, from the copy to the swap.
///
/// Until the new file takes the old one's name, nothing of the store changes: whatever fails before leaves it as it
/// was. The store is held only for moments, so that it can go while a compaction runs in the background.
final class Compaction {
    private let options: CompactionOptions
    private let control: CompactionControl
    private let progress: ProgressHandler
    private weak var store: Store?
    private let source: StoreState
    private let storeOptions: StoreOptions
    private let environment: Environment
    private let files: CompactionFiles
    /// Whether other processes write the store, too.
    private let isShared: Bool

    init(
        _ store: Store, from source: StoreState, _ options: CompactionOptions, _ control: CompactionControl,
        progress: ProgressHandler?
    ) {
        self.store = store
        self.options = options
        self.control = control
        self.progress = { told in
            control.note(told)
            return progress?(told) ?? true
        }
        self.source = source
        environment = store.environment
        control.begin(at: environment.clock.now(), bytesTotal: source.liveBytes)
        files = CompactionFiles(path: store.path, medium: environment.medium)
        var storeOptions = store.openingOptions
        storeOptions.transform = options.factory(instead: storeOptions.transform)
        storeOptions.compression = options.compression ?? storeOptions.compression
        storeOptions.nodeSize = options.nodeSize ?? storeOptions.nodeSize
        storeOptions.durability = .full
        storeOptions.compactsAutomatically = false
        storeOptions.writers = .one
        isShared = store.writerFileLock != nil
        self.storeOptions = storeOptions
    }

    /// Does all of it. When it throws, the store goes on in its old file, and the new one is gone.
    func run() throws(StoreError) -> CompactionResult {
        let (file, new) = try begin()
        let pace = CompactionPace(
            control: control, clock: environment.clock, bytesPerSecond: options.bytesPerSecond,
            bytesTotal: source.liveBytes, progress: progress)
        let outcome: FileSwap.Outcome
        let scratchBytes: UInt64
        do throws(StoreError) {
            let access = try fileCall { () throws(FileError) in try source.file.file.access() }
            let relocations = Relocations(
                files: files, access: access, memory: options.memoryInRange / 4 * 3)
            let copy = try copy(to: file, relocations, pace)
            try pace.finishedCopy()
            let target = CompactedStore(
                copy, new, path: files.target, options: storeOptions, environment)
            defer { target.abandon() }
            try target.repeatRoots(of: source.record)
            let catchUp = CatchUp(
                from: source, to: copy, relocations: relocations, reductions: storeOptions.reductions)
            let follower = LogFollower(
                catchUp, from: source.record, in: source.file, target: target, pace: pace)
            let swap = FileSwap(files: files, environment: environment, factory: storeOptions.transform)
            try approach(follower)
            outcome = try arrive(follower, pace) { (store) throws(StoreError) in
                try swap.run(store, follower, target)
            }
            scratchBytes = relocations.scratchEnd
        } catch {
            // The lock is still held, so that the name leads to this file or to another process's, which stays.
            new.discard()
            throw error
        }
        if let failure = outcome.failure { throw failure }
        return CompactionResult(
            bytesBefore: outcome.bytesBefore, bytesAfter: outcome.bytesAfter, bytesLive: source.liveBytes,
            bytesWritten: outcome.bytesAfter + scratchBytes, duration: pace.seconds, pause: outcome.pause)
    }

    /// Creates the new file, with no commit yet.
    ///
    /// Where other processes write the store, this happens while none of them can: so no file takes the store's name, and none
    /// begins to be compacted, between the look at the leftovers and the new file. From then on the new file's lock keeps the
    /// others from compacting.
    private func begin() throws(StoreError) -> (DataFile, NewFile) {
        guard isShared else {
            try files.removeLeftovers(isShared: false)
            return try makeFile()
        }
        return try holdingWriterLock { (store) throws(StoreError) in
            try checkSource(store)
            do throws(StoreError) {
                try files.removeLeftovers(isShared: true)
                return try makeFile()
            } catch {
                if Failpoint.trustedNames.isActive { try? environment.medium.remove(files.target) }
                throw error
            }
        }
    }

    private func makeFile() throws(StoreError) -> (DataFile, NewFile) {
        let access = try fileCall { () throws(FileError) in try source.file.file.access() }
        let creator = StoreCreator(
            path: files.path, options: storeOptions, environment: environment, access: access)
        return try creator.makeFile(
            files.target, storeID: source.file.header.storeID, generation: source.file.header.generation &+ 1,
            transform: storeOptions.transform, after: source.file.codec.transform)
    }

    /// Refuses to go on when another process has compacted the store since the source was taken, or lost the source's commit.
    private func checkSource(_ store: Store) throws(StoreError) {
        if try store.isStillThere(source) { return }
        // A sync that failed takes the source out of the file, too.
        try store.commitQueue().checkFailure()
        throw StoreError(
            .locked,
            "\(files.path) was replaced by another process just now, as by a compaction. Try again if need be."
        )
    }

    // MARK: Copying

    /// Copies what lives at the source's commit into the new file, and syncs it. Its one commit is a checkpoint that
    /// has the same number and time.
    private func copy(
        to file: DataFile, _ relocations: Relocations, _ pace: CompactionPace
    ) throws(StoreError) -> StoreState {
        let output = CommitBuffer(
            file: file, start: Format.firstCommit, compression: storeOptions.compression,
            pool: BufferPool(partLength: storeOptions.partLengthInRange))
        defer { output.release() }
        let marks = TreeMarks(output, after: try listTrees(in: output))
        let target = CopyTarget(
            output: output, nodeSize: storeOptions.nodeSizeInRange, relocations: relocations,
            gatherer: ValueGatherer(file: source.file, end: source.record.end), pace: pace, marks: marks,
            batchSize: options.memoryInRange / 8)
        let trees = try copyTrees(to: target)
        try marks.finish()
        var directory = RootDirectory(nextTreeID: source.trees.nextID, trees: [])
        for tree in trees {
            directory.trees.append(
                RootDirectory.Tree(id: tree.id, name: tree.name, reduction: tree.reduction, root: tree.root))
        }
        let record = try write(directory, marks.last, to: output)
        return StoreState(
            file: file, record: record, trees: TreeTable(trees, nextID: source.trees.nextID), logBytes: 0)
    }

    private func copyTrees(to target: CopyTarget) throws(StoreError) -> [TreeVersion] {
        // A tree that needs no second pass is finished at once: so a small one, without which the others are worth little, is in
        // one piece.
        var copies: [(version: TreeVersion, copier: TreeCopier, root: Root?)] = []
        for version in source.trees {
            let copier = TreeCopier(version, of: source, to: target)
            try copier.copy()
            copies.append((version, copier, copier.isDeferred ? nil : try copier.finish()))
        }
        var trees: [TreeVersion] = []
        for copy in copies {
            let root: Root
            if let finished = copy.root { root = finished } else { root = try copy.copier.finish() }
            let reader = TreeReader(
                file: target.output.file, root: root, reduction: copy.version.reader.reduction)
            trees.append(TreeVersion(id: copy.version.id, name: copy.version.name, reader: reader))
        }
        return trees
    }

    /// Writes, first of all, operations that make the trees and name those with entries: what tells whose the roots are where
    /// all root directories are lost. Nobody replays them otherwise.
    private func listTrees(in output: CommitBuffer) throws(StoreError) -> ChunkReference? {
        guard source.trees.count > 0 else { return nil }
        let payload = ByteBuffer()
        OperationChunk.begin(after: nil, in: payload)
        OperationChunk.append(listOf: Array(source.trees), to: payload)
        defer { extendLifetime(payload) }
        return try output.append(.operations, payload.view)
    }

    private func write(
        _ directory: RootDirectory, _ operations: ChunkReference?, to output: CommitBuffer
    ) throws(StoreError) -> CommitRecord {
        let encoded = output.file.complete(directory).encoded()
        var record = CommitRecord(
            .checkpoint, number: source.record.number, syncedEnd: output.start, time: source.record.time)
        record.operations = operations
        record.directory = try output.append(.directory, encoded.view)
        let offset = output.recordOffset(of: .checkpoint)
        record.checkpoint = offset
        record.replayAfter = offset
        record.liveBytes = directory.trees.reduce(0) { $0 &+ $1.root.summary.bytes }
        let bytes = output.end(with: &record)
        try output.parts?.finish()
        try fileCall { () throws(FileError) in
            unsafe try output.file.file.writeFully(bytes.buffer.view.buffer, at: bytes.start)
            try output.file.file.sync()
        }
        output.file.writtenEnd.store(record.end, ordering: .releasing)
        return record
    }

    // MARK: Approaching

    /// Catches up while others commit, until little is left or they have stayed ahead for many rounds.
    private func approach(_ follower: LogFollower) throws(StoreError) {
        for _ in 0..<Compaction.freeRounds {
            let goal = try withStore { (store) throws(StoreError) in
                if isShared {
                    try store.refresh()
                    try checkSource(store)
                }
                return store.state.record
            }
            guard try follower.distance(to: goal) > Compaction.heldDistance else { return }
            try follower.advance(to: goal)
        }
    }

    /// Runs `swap` while nobody can commit, once little is left.
    ///
    /// Where others commit faster than that, they are made to wait now and then, a little longer each time: however much they commit
    /// in between, this ends.
    private func arrive(
        _ follower: LogFollower, _ pace: CompactionPace,
        _ swap: (Store) throws(StoreError) -> FileSwap.Outcome
    ) throws(StoreError) -> FileSwap.Outcome {
        var rounds: UInt64 = 0
        while true {
            rounds += 1
            let limit = Compaction.heldDistance * (3 + rounds) / 4
            var held = 0.0
            let outcome: FileSwap.Outcome? = try holdingWriterLock { (store) throws(StoreError) in
                // No record of another file is a goal, and no other file is replaced by a copy of this one.
                try checkSource(store)
                // Who asks for the lock again at once may have had it for long, so what is left is known only now.
                let goal = store.state.record
                guard try follower.distance(to: goal) > limit else { return try swap(store) }
                let start = pace.seconds
                try follower.advance(to: goal, limit: limit)
                held = pace.seconds - start
                return nil
            }
            if let outcome { return outcome }
            // Who waits for the lock would not get it from this thread, which asks again at once. Less time each time, so that
            // writers don't stay ahead for ever.
            control.pause(held / Double(rounds))
        }
    }

    /// Bytes of log that are caught up with while writers wait, in the first round and in the pause.
    private static let heldDistance: UInt64 = 128 << 10
    /// Rounds before writers are slowed down.
    private static let freeRounds = 16

    private func withStore<R>(_ body: (Store) throws(StoreError) -> R) throws(StoreError) -> R {
        try control.check()
        guard let store else {
            throw StoreError(.cancelled, "\(files.path) was closed during its compaction.")
        }
        return try body(store)
    }

    /// Runs `body` while nobody can commit.
    private func holdingWriterLock<R>(_ body: (Store) throws(StoreError) -> R) throws(StoreError) -> R {
        while true {
            let result: R? = try withStore { (store) throws(StoreError) in
                guard store.acquireWriterLock(within: 0.1) else { return nil }
                defer { store.releaseWriterLock() }
                try store.acquireFile()
                defer { store.releaseFile() }
                return try body(store)
            }
            if let result { return result }
        }
    }
}

extension CompactionOptions {
    func factory(instead current: (any ChunkTransformFactory)?) -> (any ChunkTransformFactory)? {
        switch encryption {
        case .unchanged: current
        case .none: nil
        case .replaced(let factory): factory
        }
    }
}

// MARK: - CompactionControl

/// By which a running compaction is told to stop, and tells how far it is. Usable from any thread.
final class CompactionControl: Sendable {
    private let cancelled = Atomic<Bool>(false)
    private let wake = DispatchSemaphore(value: 0)
    private let work = Mutex<WorkUnderWay?>(nil)

    /// `nil` before it begins.
    var underWay: WorkUnderWay? { work.withLock { $0 } }

    /// The compaction begins at `time`, in microseconds since 1970.
    func begin(at time: UInt64, bytesTotal: UInt64) {
        work.withLock {
            $0 = WorkUnderWay(start: time, progress: WorkProgress(completed: 0, total: bytesTotal))
        }
    }

    func note(_ progress: WorkProgress) { work.withLock { $0?.progress = progress } }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() {
        cancelled.store(true, ordering: .releasing)
        wake.signal()
    }

    /// Waits for `seconds`, or until cancelled.
    func pause(_ seconds: Double) { _ = wake.wait(timeout: .now() + seconds) }

    /// - Throws: ``StoreError/Code/cancelled``
    func check() throws(StoreError) {
        guard !isCancelled else {
            throw StoreError(.cancelled, "The compaction was cancelled; the store is as it was.")
        }
    }
}

// MARK: - CompactionPace

/// Keeps a compaction within its speed, tells how far it is, and stops it when asked to.
final class CompactionPace {
    private let control: CompactionControl
    private let clock: any WallClock
    private let bytesPerSecond: Double?
    private let meter: ProgressMeter
    private let start: UInt64

    /// - Parameter bytesTotal: bytes that lived when the compaction began.
    init(
        control: CompactionControl, clock: any WallClock, bytesPerSecond: Int?, bytesTotal: UInt64,
        progress: ProgressHandler?
    ) {
        self.control = control
        self.clock = clock
        self.bytesPerSecond = bytesPerSecond.map { Double(max($0, 1)) }
        meter = ProgressMeter(total: bytesTotal, progress)
        start = clock.monotonic()
    }

    /// Notes a step of the copy: bytes read of what lives, and bytes written altogether. Waits if that was too fast.
    func copied(_ bytes: UInt64, writtenEnd: UInt64) throws(StoreError) {
        try control.check()
        try meter.advance(bytes)
        guard let bytesPerSecond else { return }
        let due = Double(writtenEnd) / bytesPerSecond
        while !control.isCancelled {
            let early = due - seconds
            guard early > 0 else { return }
            control.pause(min(early, 0.25))
        }
        try control.check()
    }

    /// Tells that the copy is complete.
    func finishedCopy() throws(StoreError) { try meter.complete() }

    /// Stops a cancelled compaction, without telling anybody anything: others may be waiting.
    func check() throws(StoreError) { try control.check() }

    /// Since the start.
    var seconds: Double { Double(clock.monotonic() &- start) / 1_000_000 }
}
