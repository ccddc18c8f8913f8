import Dispatch
import RoostBytes
import RoostFile
import Synchronization

/// Puts commits on the medium: those that arrive while one is being synced share the next write and sync.
///
/// The first to arrive leads: it writes all that waits in one contiguous write, syncs once, publishes, and hands the
/// lead to the next that waits. Nobody else runs in between, so there is no thread to manage.
///
/// A commit's bytes need the operations alone, so while they are written and synced the leader makes the changes that its
/// transaction left for then, and lets go of the state before.
final class CommitQueue: Sendable {
    private let durability: StoreOptions.Durability
    private let publish: @Sendable (StoreState) -> Void
    private let syncLater: @Sendable () -> Void
    /// Where the record stands after which the first commit comes.
    private let opened: UInt64
    private let shared: Mutex<Shared>
    private let writer: BatchWriter

    private struct Shared {
        var waiting: [StagedCommit] = []
        var isLed = false
        /// The newest commit, written or not: what the next transaction starts from.
        var tip: StoreState
        /// The newest commit that is written, and synced where that is asked for.
        var written: StoreState
        /// The one before, kept so that what nobody else refers to is released while the medium is busy.
        var replaced: StoreState?
        /// All bytes of the file before this are known to be on the medium.
        var syncedEnd: UInt64
        /// Makes the file's name durable; done with the first sync.
        var nameSync: NameSync?
        /// Set for good when the medium failed in a way that leaves its content unknown.
        var failure: StoreError?
        /// Counts failed writes: a transaction that was built on one of them must fail too.
        var setbacks = 0
        /// A transaction that was under way when a commit failed may have put nodes of that one into the cache.
        var mayCacheFailed = false
        var isSyncScheduled = false
    }

    typealias NameSync = @Sendable () throws(FileError) -> Void

    /// - Parameters:
    ///   - nameSync: makes the file's name durable where that is not known. It takes part in the first sync rather than in
    ///     opening, which would wait for others who write to the same file system.
    ///   - publish: shows readers a state that was committed.
    ///   - syncLater: calls ``syncNow()``, when relaxed commits have waited long enough.
    init(
        state: StoreState, syncedEnd: UInt64, durability: StoreOptions.Durability, nameSync: NameSync? = nil,
        publish: @escaping @Sendable (StoreState) -> Void, syncLater: @escaping @Sendable () -> Void = {}
    ) {
        self.durability = durability
        self.publish = publish
        self.syncLater = syncLater
        opened = state.record.offset
        shared = Mutex(Shared(tip: state, written: state, syncedEnd: syncedEnd, nameSync: nameSync))
        writer = BatchWriter(from: state.record.end)
    }

    /// What a transaction builds on.
    struct Base {
        let state: StoreState
        let syncedEnd: UInt64
        let setbacks: Int
    }

    /// The newest state. Only the holder of the writer lock may ask.
    func base() throws(StoreError) -> Base {
        try checkFailure()
        let (base, mayCacheFailed) = shared.withLock { shared in
            defer { shared.mayCacheFailed = false }
            let base = Base(state: shared.tip, syncedEnd: shared.syncedEnd, setbacks: shared.setbacks)
            return (base, shared.mayCacheFailed)
        }
        // What comes next takes the place in the file that the failed commit had, and nobody reads of that any more.
        if mayCacheFailed { base.state.file.cache.removeAll(from: base.state.record.end) }
        return base
    }

    /// Whether somebody is writing commits.
    var isLed: Bool { shared.withLock { $0.isLed } }

    /// What the next transaction builds on.
    var tip: StoreState { shared.withLock { $0.tip } }

    /// Adds a commit to those that wait. It becomes the new tip once its changes are made. Only the holder of the
    /// writer lock may do so; the lock may be released after that, before ``makeDurable(_:making:)``.
    func enqueue(_ commit: StagedCommit, on base: Base) throws(StoreError) -> Ticket {
        let state = try commit.stateIfMade
        let ticket: Result<Ticket, StoreError> = shared.withLock { shared in
            if let failure = shared.failure { return .failure(failure) }
            guard shared.setbacks == base.setbacks else {
                return .failure(
                    StoreError(
                        .inputOutput, "The transaction follows one that could not be written. Try it again."))
            }
            shared.waiting.append(commit)
            if let state { shared.tip = state }
            let leads = !shared.isLed
            shared.isLed = true
            return .success(Ticket(commit: commit, leads: leads))
        }
        return try ticket.get()
    }

    struct Ticket {
        let commit: StagedCommit
        fileprivate let leads: Bool
    }

    /// Makes a commit's changes where they are not made yet.
    struct Changes {
        /// Whether another thread is to write and sync meanwhile. To hand that over costs about as much as making a few changes.
        let areMany: Bool
        let make: () -> Void
    }

    /// Says that the changes of an enqueued commit were made, or why they could not be.
    func noteApplied(_ commit: StagedCommit, with outcome: Result<StoreState, StoreError>, on base: Base) {
        if case .success(let state) = outcome {
            shared.withLock { if $0.setbacks == base.setbacks { $0.tip = state } }
            if Failpoint.earlyPublication.isActive { publish(state) }
        }
        commit.noteApplied(with: outcome)
    }

    /// Returns when the commit is durable, or as durable as the options ask for.
    ///
    /// - Parameter changes: what is still to be made, while the medium is busy. Where the commit fails it may not be made.
    func makeDurable(_ ticket: Ticket, making changes: Changes? = nil) throws(StoreError) {
        if ticket.leads { return try lead(making: changes) }
        changes?.make()
        switch ticket.commit.wait() {
        case .done: return
        case .failed(let error): throw error
        case .lead: try lead(making: nil)
        }
    }

    /// Whether there was a commit. Only the holder of the writer lock may ask.
    var hasCommitted: Bool {
        get throws(StoreError) { try base().state.record.offset != opened }
    }

    /// Returns when everything enqueued is written. Only the holder of the writer lock may ask.
    func drain() throws(StoreError) -> StoreState {
        let base = try base()
        let nothing = UnwrittenBytes(start: base.state.record.end, buffer: ByteBuffer())
        try makeDurable(
            try enqueue(StagedCommit(bytes: nothing, state: base.state, needsSync: false), on: base))
        return base.state
    }

    /// Throws why no commit is taken any more, if the medium failed in such a way.
    func checkFailure() throws(StoreError) {
        if let failure = shared.withLock({ $0.failure }) { throw failure }
    }

    /// Takes no commit any more, but answers `failure`.
    func refuse(_ failure: StoreError) { shared.withLock { $0.failure = failure } }

    /// Writes all that waits; the leader's own commit is the first of it.
    private func lead(making changes: Changes?) throws(StoreError) {
        let batch = shared.withLock { shared in
            let batch = shared.waiting
            shared.waiting.removeAll(keepingCapacity: true)
            return batch
        }
        let failures = put(batch, making: changes)
        for (commit, failure) in zip(batch, failures).dropFirst() {
            commit.acknowledge(failure.map { .failed($0) } ?? .done)
        }
        passLead()
        if let failure = failures.first, let failure { throw failure }
    }

    private func passLead() {
        let next = shared.withLock { shared in
            shared.isLed = !shared.waiting.isEmpty
            return shared.waiting.first
        }
        next?.acknowledge(.lead)
    }

    /// Puts the batch on the medium and publishes it; returns for each of its commits why that failed, if it did.
    private func put(_ batch: [StagedCommit], making changes: Changes?) -> [StoreError?] {
        guard let last = batch.last else { return [] }
        do throws(StoreError) {
            try put(batch, in: last.file, making: changes)
        } catch {
            fail(batch, error)
            return batch.map { _ in error }
        }
        // Only the changes of the last one, whose transaction still has the writer lock, may have had to wait.
        do throws(StoreError) {
            publishBatch(batch, through: try last.state)
            return batch.map { _ in nil }
        } catch {
            let sound = batch.dropLast()
            if let state = try? sound.last?.state { publishBatch(sound, through: state) }
            fail([last], error)
            return sound.map { _ in nil } + [error]
        }
    }

    /// Whether the batch is to be on the medium before it is published.
    private func syncs(_ batch: some Collection<StagedCommit>) -> Bool {
        durability == .full && batch.contains(where: \.needsSync)
    }

    /// Writes the batch, and makes changes while the medium is busy with it.
    private func put(
        _ batch: [StagedCommit], in file: DataFile, making changes: Changes?
    ) throws(StoreError) {
        // A store that is never synced promises nothing beyond its handle, and may have lost its name on purpose.
        if durability != .unsynced { try requireName(of: file) }
        // Changes are left only to commits that are synced.
        if let changes, changes.areMany {
            return try file.file.perform { [self] () throws(StoreError) in
                try writer.write(batch, to: file)
                try sync(file)
            } beside: {
                changes.make()
                releaseReplaced()
            }
        }
        try writer.write(batch, to: file)
        if let changes {
            BatchWriter.startWriteback(of: batch, in: file)
            changes.make()
            releaseReplaced()
        }
        if syncs(batch) { try sync(file) }
    }

    /// Why nothing more may be written, if so.
    var failure: StoreError? { shared.withLock { $0.failure } }

    /// Refuses to write to a file that was removed while it was open: what is written there would be gone when it is closed.
    private func requireName(of file: DataFile) throws(StoreError) {
        guard !file.file.hasName else { return }
        let failure = StoreError(
            .writerFailed,
            "\(file.file.path) was removed while it was open, and nothing can be stored in it any more. Close it."
        )
        shared.withLock { $0.failure = failure }
        throw failure
    }

    /// Lets go of the state before the newest, with the versions of nodes that it alone has.
    private func releaseReplaced() {
        let gone = shared.withLock { $0.replaced.take() }
        withExtendedLifetime(gone) {}
    }

    /// Publishes what is on the medium.
    private func publishBatch(_ batch: some Collection<StagedCommit>, through state: StoreState) {
        if syncs(batch) { noteSync(through: state) }
        let file = state.file
        file.writtenEnd.store(state.record.end, ordering: .releasing)
        file.unwritten.withLock { list in
            list.removeAll { bytes in batch.contains { $0.bytes === bytes } }
        }
        let released = shared.withLock { shared in
            defer { (shared.replaced, shared.written) = (shared.written, state) }
            return shared.replaced
        }
        publish(state)
        withExtendedLifetime(released) {}
        if durability != .full { scheduleSync() }
    }

    /// Makes everything that was written durable. A failed sync is never repeated: what the medium then holds is unknown.
    private func sync(_ file: DataFile) throws(StoreError) {
        try checkFailure()
        do throws(FileError) {
            if let nameSync = shared.withLock({ $0.nameSync }) {
                if !Failpoint.unsyncedName.isActive { try nameSync() }
                shared.withLock { $0.nameSync = nil }
            }
            if !Failpoint.skippedSync.isActive { try file.file.sync() }
        } catch {
            let failure = StoreError(syncFailed: error)
            shared.withLock { $0.failure = failure }
            throw failure
        }
    }

    /// Notes that everything up to `state` is on the medium.
    private func noteSync(through state: StoreState) {
        state.file.mapped?.extend(to: state.record.end)
        shared.withLock { $0.syncedEnd = max($0.syncedEnd, state.record.end) }
    }

    /// Takes the tip back to what is written, so that no later transaction builds on what failed, and fails the
    /// commits that did so already.
    private func fail(_ batch: [StagedCommit], _ error: StoreError) {
        // Before another transaction can begin on what is written, and write to the same place.
        for commit in batch { commit.parts?.abandon() }
        let written = shared.withLock { $0.written }
        written.renewHistory()
        cutFailed(after: written)
        let stranded = shared.withLock { shared in
            if !Failpoint.forgottenSetback.isActive { shared.setbacks += 1 }
            shared.mayCacheFailed = true
            shared.tip = written
            let stranded = shared.waiting
            shared.waiting.removeAll()
            for commit in stranded { commit.parts?.abandon() }
            return stranded
        }
        written.file.unwritten.withLock { list in
            list.removeAll { bytes in (batch + stranded).contains { $0.bytes === bytes } }
        }
        written.file.cache.removeAll(from: written.record.end)
        for commit in stranded { commit.acknowledge(.failed(error)) }
    }

    /// Takes what failed out of the file, as far as the medium lets it: a commit that was refused must not turn up when
    /// the file is opened again, and after a failed sync the system shows bytes as written that may never get to the
    /// medium, so that nothing may be built on them.
    private func cutFailed(after written: StoreState) {
        let (failure, syncedEnd) = shared.withLock { ($0.failure, $0.syncedEnd) }
        let end = failure == nil ? written.record.end : syncedEnd
        writer.cut(written.file, at: end, becauseOf: failure)
    }

    /// Syncs what relaxed commits have written so far. Where other processes write, too, the caller keeps them from it.
    func syncNow() throws(StoreError) {
        let state = shared.withLock { shared in
            shared.isSyncScheduled = false
            return shared.written
        }
        do throws(StoreError) {
            try sync(state.file)
            noteSync(through: state)
        } catch {
            cutFailed(after: state)
            throw error
        }
    }

    /// Syncs what relaxed commits have written, if anything. The caller has the writer lock.
    func syncRest() throws(StoreError) {
        if shared.withLock({ $0.syncedEnd < $0.written.record.end }) { try syncNow() }
    }

    /// What makes the file's name durable, where that is still to be done.
    var pendingNameSync: NameSync? { shared.withLock { $0.nameSync } }

    /// Ends the commits: notes the clean shutdown where there were any, and gives preallocated space back.
    func close(at time: UInt64) throws(StoreError) {
        if try hasCommitted {
            if durability != .full { try syncNow() }
            try noteCleanShutdown(at: time)
        }
        trim(shared.withLock { $0.tip })
    }

    /// Notes in the file that everything before was synced, as a clean shutdown does. Without a sync of its own: if the note is lost, recovery merely
    /// has more to check.
    func noteCleanShutdown(at time: UInt64) throws(StoreError) {
        let base = try base()
        let (state, last) = (base.state, base.state.record)
        guard last.kind != .cleanShutdown, last.number < CommitRecord.largestNumber else { return }
        let output = CommitBuffer(file: state.file, start: last.end, compression: 0, pool: nil)
        // Commits in flight may share this one's write, so it must not vouch for them.
        var record = CommitRecord(.cleanShutdown, after: last, syncedEnd: base.syncedEnd, time: time)
        let bytes = output.end(with: &record)
        let commit = StagedCommit(bytes: bytes, state: state.with(record: record), needsSync: false)
        try makeDurable(try enqueue(commit, on: base))
    }

    /// Gives space after `state`, the newest, back: what was prepared, and what a large transaction that was rolled
    /// back left there.
    func trim(_ state: StoreState) {
        writer.trim(state.file, to: state.record.end)
    }

    private func scheduleSync() {
        guard case .relaxed(let interval) = durability else { return }
        let isFirst = shared.withLock { shared in
            defer { shared.isSyncScheduled = true }
            return !shared.isSyncScheduled
        }
        guard isFirst else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self else { return }
            shared.withLock { $0.isSyncScheduled = false }
            syncLater()
        }
    }
}
