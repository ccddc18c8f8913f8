import RoostBytes

/// Changes that become visible and durable together, or not at all.
///
/// A store has one at a time: ``Store/write(_:)`` and ``Store/beginWriting()`` wait for the writer lock. It reads what it
/// has written. Use it from one thread at a time. When it goes without ``commit()``, nothing of it remains.
public final class StoreTransaction {
    let store: Store
    let queue: CommitQueue
    let trees: TreeSet
    private let base: CommitQueue.Base
    /// The longest value that stands in its leaf.
    let inlineLimit: Int
    /// How many bytes of changes may wait in memory.
    private let pendingLimit: Int
    let output: CommitBuffer
    /// How many of the commit's bytes were there before the transaction's own: leaves that opening the file made.
    private let replayedCount: Int
    private var treeOperations = ByteBuffer()
    private var lastOperations: ChunkReference?
    /// Bytes of log since the checkpoint, this transaction's included, once it is complete.
    private var logBytes: UInt64 = 0
    private var hasEnded = false
    /// Whether the file is kept from other processes for the transaction.
    private var holdsFile = true
    /// Whether the commit is complete in memory, for a thread that will write it.
    private var isStaged = false
    /// What kept a change from being made as a whole: the log may say more than the trees have.
    private var failure: StoreError?
    /// The commit of another file that this one repeats: it gets the same number and time.
    var repeated: CommitRecord?

    init(store: Store, queue: CommitQueue, base: CommitQueue.Base, owner: UInt64) {
        self.store = store
        self.queue = queue
        self.base = base
        let options = store.options
        (inlineLimit, pendingLimit) = (options.inlineLimitInRange, options.pendingLimitInRange)
        output = CommitBuffer(
            file: base.state.file, start: base.state.record.end, compression: options.compression,
            pool: store.bufferPool)
        for nodes in base.state.replayed { output.begin(with: nodes.bytes) }
        replayedCount = output.count
        trees = TreeSet(
            base: base.state, reductions: store.options.reductions,
            context: TreeEditor.Context(
                owner: owner, file: base.state.file, output: output, nodeSize: options.nodeSizeInRange))
    }

    deinit {
        rollback()
        releaseFile()
    }

    var file: DataFile { base.state.file }

    /// The number of the commit that the transaction builds on.
    package var baseNumber: UInt64 { base.state.record.number }

    /// Gives up everything that the transaction did and releases the writer lock.
    public func rollback() {
        guard !hasEnded else { return }
        discard()
        releaseFile()
    }

    /// Gives up everything that the transaction did and lets others of this process write.
    private func discard() {
        hasEnded = true
        output.release()
        // Where the next one begins, which is further back if what this one built on has failed.
        if output.parts != nil { queue.tip.renewHistory() }
        file.cache.removeAll(from: output.start)
        store.releaseWriterLock()
    }

    /// Lets other processes write, once nothing of the transaction is on its way any more.
    private func releaseFile() {
        guard holdsFile else { return }
        holdsFile = false
        unstage()
        store.releaseFile()
    }

    /// Notes that the commit, if it was staged, is being written, so that whoever waits for the file gets it soon.
    private func unstage() {
        guard isStaged else { return }
        isStaged = false
        store.writerFileLock?.unstage()
    }

    /// Gives up everything that the transaction did, and returns when the state that it began with is as durable as was
    /// asked for and can be read: whoever was refused because of that state finds it when trying again.
    package func rollbackAwaitingBase() {
        guard !hasEnded else { return }
        let nothing = UnwrittenBytes(start: base.state.record.end, buffer: ByteBuffer())
        let commit = StagedCommit(bytes: nothing, state: base.state, needsSync: false)
        // Enqueued with the writer lock, and waited for without it. Other processes wait: finishing publishes the state
        // that the transaction began with, which must not come after one that they made.
        let ticket = try? queue.enqueue(commit, on: base)
        discard()
        defer { releaseFile() }
        // What fails before this fails for those who wait for it.
        if let ticket { try? queue.makeDurable(ticket) }
    }

    func checkOpen() throws(StoreError) {
        guard !hasEnded else { throw StoreError(.closed, "The transaction has ended; begin another one.") }
    }

    func editor(_ tree: Tree) throws(StoreError) -> TreeEditor {
        try checkOpen()
        guard let editor = try trees.editor(tree.id) else { throw tree.missing(in: file.path) }
        return editor
    }

    /// Changes a tree and keeps what waits in memory within bounds. Where that fails, nothing of the transaction can be committed.
    func change(
        _ tree: Tree, _ body: (TreeEditor) throws(StoreError) -> Void
    ) throws(StoreError) {
        let editor = try editor(tree)
        do throws(StoreError) {
            try body(editor)
            try relieve(editor)
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    // MARK: Trees

    /// The tree `name`, made if there is none.
    ///
    /// - Parameters:
    ///   - name: 1 to 255 bytes of UTF-8.
    ///   - reduction: the reduction that a new tree keeps; its function is known from now on.
    public func tree(_ name: String, reduction: Reduction? = nil) throws(StoreError) -> Tree {
        if let reduction { store.options.reductions.add(reduction) }
        return try tree(name, reductionName: reduction?.name ?? "")
    }

    /// The tree `name`, made if there is none, with a reduction whose function may come later.
    func tree(_ name: String, reductionName: String) throws(StoreError) -> Tree {
        try checkOpen()
        if let tree = trees.trees.tree(name) { return tree }
        try Tree.check(name: name, reduction: reductionName)
        let operation = try trees.create(name, reduction: reductionName)
        operation.encode(to: treeOperations)
        guard let tree = trees.trees.tree(name) else { preconditionFailure("the tree was just made") }
        return tree
    }

    /// Deletes the tree with all its entries. O(1); the space comes back with the next compaction.
    public func drop(_ tree: Tree) throws(StoreError) {
        try checkOpen()
        guard trees.trees[tree.id] != nil else { throw tree.missing(in: file.path) }
        trees.apply(.drop(id: tree.id))
        TreeOperation.drop(id: tree.id).encode(to: treeOperations)
    }

    /// Repeats an operation on the set of trees from another file's log.
    func repeatOperation(_ operation: TreeOperation, from chunk: ChunkReference) throws(StoreError) {
        try trees.apply(operation, from: chunk)
        operation.encode(to: treeOperations)
    }

    /// The names of all trees, in the order of their bytes. O(n).
    public var treeNames: [String] { trees.trees.sortedNames }

    // MARK: Memory

    /// Called after each change: keeps what waits in memory within bounds, however large the transaction gets.
    func relieve(_ editor: TreeEditor) throws(StoreError) {
        if editor.log.buffer.count > StoreTransaction.largestLog {
            try trees.makeDeferred()
            try writeOperations()
        }
        guard trees.grown(by: editor) > pendingLimit else { return }
        try trees.makeDeferred()
        for editor in trees.ordered(where: { _ in true }) {
            var budget = Int.max
            _ = try editor.writeLeaves(from: [], budget: &budget)
        }
        try writeOperations()
        trees.noteRelief()
    }

    /// Operations of one tree are written to a chunk when they exceed this many bytes.
    private static let largestLog = 1 << 20

    /// Writes what was logged since the last chunk of operations, if there is any.
    private func writeOperations() throws(StoreError) {
        let payload = ByteBuffer()
        OperationChunk.begin(after: lastOperations, in: payload)
        let empty = payload.count
        if treeOperations.count > 0 {
            OperationChunk.append(section: OperationChunk.treeSection, treeOperations.view, to: payload)
            treeOperations.reset()
        }
        for editor in trees.ordered(where: { !$0.log.isEmpty }) {
            OperationChunk.append(section: editor.id, editor.log.buffer.view, to: payload)
            // What is still to be made is read there.
            if editor.deferredCount == 0 { editor.log.reset() }
        }
        guard payload.count > empty else { return }
        let chunk = try output.append(.operations, payload.view)
        output.countLogged(Int(chunk.length))
        lastOperations = chunk
    }

    // MARK: Committing

    /// Makes the changes durable and visible; returns when they are on the medium (see ``StoreOptions/durability``).
    ///
    /// - Throws: ``StoreError`` when nothing of the transaction was committed: the medium is full or failed, or a part of
    ///   the file that a change needs to read is damaged. What a change threw for such a reason, committing throws again. After ``StoreError/Code/writerFailed`` the store must be opened
    ///   again.
    /// - Returns: the number of the commit; the present one when nothing was changed.
    @discardableResult
    public func commit() throws(StoreError) -> UInt64 {
        guard let ticket = try stage(.ifNeeded, leavingDeferred: true) else {
            return base.state.record.number
        }
        defer { releaseFile() }
        do throws(StoreError) {
            let areMany = trees.deferredCount > store.options.fewChanges
            let changes =
                hasEnded
                ? nil : CommitQueue.Changes(areMany: areMany) { self.makeDeferred(of: ticket.commit) }
            try queue.makeDurable(ticket, making: changes)
        } catch {
            // Only now that the commit is out of the file may another one be made in its place.
            if !hasEnded { end() }
            throw error
        }
        store.bufferPool.give(ticket.commit.bytes.buffer)
        store.compactor.consider(try ticket.commit.state, of: store)
        return ticket.commit.record.number
    }

    /// The first half of ``commit()``: completes the commit in memory and lets the next transaction begin on it.
    ///
    /// - Returns: the second half, which puts it on the medium, or throws; `nil` when nothing was changed.
    package func stage() throws(StoreError) -> (() throws(StoreError) -> Void)? {
        // Before the lock is released: whoever gets it must know.
        store.writerFileLock?.stage()
        isStaged = true
        let ticket: CommitQueue.Ticket?
        do throws(StoreError) {
            ticket = try stage(.ifNeeded)
        } catch {
            unstage()
            throw error
        }
        guard let ticket else { return nil }
        return { [queue] () throws(StoreError) in
            defer { self.releaseFile() }
            self.unstage()
            try queue.makeDurable(ticket)
        }
    }

    /// As ``commit()``, with a checkpoint, also where nothing was changed.
    func commitCheckpoint() throws(StoreError) {
        defer { releaseFile() }
        if let ticket = try stage(.always) { try queue.makeDurable(ticket) }
    }

    /// When a commit writes a checkpoint.
    enum CheckpointPolicy { case ifNeeded, always }

    /// Completes the commit in memory and releases the writer lock; `nil` when there is nothing to commit.
    ///
    /// - Parameter leavesDeferred: whether changes that wait may be left to be made while the commit is synced. Then the
    ///   lock is still the transaction's afterwards.
    func stage(
        _ policy: CheckpointPolicy, leavingDeferred leavesDeferred: Bool = false
    ) throws(StoreError) -> CommitQueue.Ticket? {
        try checkOpen()
        do throws(StoreError) {
            if let failure { throw failure }
            if !leavesDeferred || store.options.durability != .full { try trees.makeDeferred() }
            for editor in trees.ordered(where: { !$0.fullLeaves.isEmpty }) { try editor.writeFullLeaves() }
            for editor in trees.editors.values { try editor.logTail() }
            let hasChanges =
                lastOperations != nil || treeOperations.count > 0 || output.count > replayedCount
                || trees.editors.values.contains { !$0.log.isEmpty }
            guard hasChanges || policy == .always else {
                rollback()
                return nil
            }
            let logged =
                trees.editors.values.reduce(output.loggedBytes) { $0 + UInt64($1.log.buffer.count) }
            let checkpoint = try store.checkpointer.advance(trees, logged: logged, base, policy)
            try writeOperations()
            let commit = try stagedCommit(checkpoint)
            let ticket = try queue.enqueue(commit, on: base)
            if trees.deferredCount == 0 { end() }
            return ticket
        } catch {
            store.checkpointer.reset()
            rollback()
            throw error
        }
    }

    private func end() {
        hasEnded = true
        store.releaseWriterLock()
    }

    /// Makes the changes that wait, once the commit's bytes are on their way.
    private func makeDeferred(of commit: StagedCommit) {
        do throws(StoreError) {
            try trees.seal(dividing: trees.deferredCount >= store.options.manyChanges)
            queue.noteApplied(commit, with: .success(state(after: commit.record)), on: base)
            end()
        } catch {
            queue.noteApplied(commit, with: .failure(error), on: base)
        }
    }

    private func state(after record: CommitRecord) -> StoreState {
        StoreState(
            file: file, record: record, trees: trees.versions, logBytes: logBytes)
    }

    private func stagedCommit(_ checkpoint: Checkpointer.Outcome) throws(StoreError) -> StagedCommit {
        let last = base.state.record
        guard last.number < CommitRecord.largestNumber else {
            throw StoreError(
                .limitExceeded,
                "\(file.path) has no number left for a commit. Salvage writes its content into a new file.")
        }
        var record = CommitRecord(
            .log, after: last, syncedEnd: base.syncedEnd, time: store.environment.clock.now())
        if let repeated {
            (record.number, record.time) = (max(record.number, repeated.number), repeated.time)
        }
        record.operations = lastOperations
        output.countLogged(CommitRecord.size)
        logBytes = base.state.logBytes + output.loggedBytes
        if case .complete(let directory, let replayAfter, let logBefore) = checkpoint {
            record.kind = .checkpoint
            let encoded = file.complete(directory).encoded()
            record.directory = try output.append(.directory, encoded.view)
            let offset = output.recordOffset(of: .checkpoint)
            record.checkpoint = offset
            record.replayAfter = replayAfter ?? offset
            logBytes = replayAfter == nil ? 0 : logBytes - logBefore
        }
        record.liveBytes = trees.liveBytes
        let bytes = output.end(with: &record)
        return trees.deferredCount == 0
            ? StagedCommit(bytes: bytes, parts: output.parts, state: state(after: record))
            : StagedCommit(bytes: bytes, parts: output.parts, file: file, record: record)
    }
}
