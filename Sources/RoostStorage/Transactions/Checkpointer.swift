import Synchronization

/// Decides when trees are written, and spreads the work over commits so that none of them waits long.
///
/// Once the log or the pending changes reach three quarters of their bounds, a sweep begins: each commit takes some
/// leaves along, in key order, tree after tree. When the end is reached, the branch nodes follow, and the roots: the
/// checkpoint. Leaves that changed again meanwhile are brought up to date by replaying the log from where the sweep
/// began. Of the sweep, a commit does the part that it takes of the room which was left to a bound at the beginning, so
/// the sweep is over when the bound would be reached, however large the trees are and however small the commits; should
/// it be reached all the same, the next commit does the rest.
final class Checkpointer: Sendable {
    private let pendingLimit: Int
    private let logLimit: UInt64
    private let sweep = Mutex<Sweep?>(nil)

    private struct Sweep {
        /// The last commit before the sweep: the trees hold all of its operations in the end.
        var replayAfter: UInt64
        /// ``StoreState/logBytes`` after that commit.
        let logBefore: UInt64
        /// Bytes of changes that were pending then.
        let pending: Int
        /// What was left to the bounds then, in bytes.
        let pendingRoom: Int
        let logRoom: Int
        /// Commits that had failed by then; after another one the sweep's leaves may be missing from the file.
        var setbacks: Int
        /// Where to go on.
        var tree: UInt64 = 0
        var position: [UInt8] = []
        /// No other commit came between start and end.
        var isFirstCommit = true

        /// How many bytes of changes a commit is to write that makes `taking` more pending and logs `logged`.
        func share(taking: Int, logged: Int) -> Int {
            let part = max(Double(taking) / Double(pendingRoom), Double(logged) / Double(logRoom))
            return max(Int(min(part, 1) * Double(pending)), 1)
        }
    }

    enum Outcome {
        case none
        /// The directory to write. `replayAfter` is `nil` when the trees contain the commit itself; `logBefore` is how
        /// much of the log then need not be replayed any more.
        case complete(RootDirectory, replayAfter: UInt64?, logBefore: UInt64)
    }

    init(pendingLimit: Int, logLimit: UInt64) {
        self.pendingLimit = pendingLimit
        self.logLimit = logLimit
    }

    /// Forgets a sweep whose leaves did not reach the medium.
    func reset() { sweep.withLock { $0 = nil } }

    /// Does the share of one commit, whose operations have all been applied and add `logged` bytes to the log.
    func advance(
        _ trees: TreeSet, logged: UInt64, _ base: CommitQueue.Base,
        _ policy: StoreTransaction.CheckpointPolicy
    ) throws(StoreError) -> Outcome {
        let state = base.state
        let log = state.logBytes + logged
        let pending = trees.pendingBytes
        var current = sweep.withLock { $0 }
        // One that is under way would leave the commits since its beginning to be replayed.
        if policy == .always || current?.setbacks != base.setbacks { current = nil }
        if current == nil, policy == .always || pending > pendingLimit / 4 * 3 || log > logLimit / 4 * 3 {
            current = Sweep(
                replayAfter: state.record.offset, logBefore: state.logBytes, pending: pending,
                pendingRoom: max(pendingLimit - pending, 1),
                logRoom: max(Int(clamping: logLimit) - Int(clamping: log), 1), setbacks: base.setbacks)
        }
        guard var sweep = current else { return .none }
        let isDue = policy == .always || pending > pendingLimit || log > logLimit
        var budget =
            isDue ? .max : sweep.share(taking: pending - state.pendingBytes, logged: Int(clamping: logged))
        let isComplete = try write(trees, &sweep, &budget)
        guard isComplete else {
            sweep.isFirstCommit = false
            self.sweep.withLock { $0 = sweep }
            return .none
        }
        // The trees hold the whole commit only if no change was made after their leaves were written.
        let isWhole = sweep.isFirstCommit && trees.deferredCount == 0
        try trees.makeDeferred()
        reset()
        return .complete(
            try directory(trees), replayAfter: isWhole ? nil : sweep.replayAfter,
            logBefore: sweep.logBefore)
    }

    /// Writes leaves in which at least `budget` bytes of changes are pending.
    private func write(_ trees: TreeSet, _ sweep: inout Sweep, _ budget: inout Int) throws(StoreError) -> Bool
    {
        let versions = trees.versions
        while let id = versions.firstChanged(from: sweep.tree)?.id, let editor = try trees.editor(id) {
            if id > sweep.tree { sweep.position = [] }
            sweep.tree = id
            if let position = try editor.writeLeaves(from: sweep.position, budget: &budget) {
                sweep.position = position
                return false
            }
            sweep.tree = id + 1
            sweep.position = []
        }
        return true
    }

    private func directory(_ trees: TreeSet) throws(StoreError) -> RootDirectory {
        let versions = trees.versions
        var directory = RootDirectory(nextTreeID: versions.nextID, trees: [])
        for version in versions {
            var root = version.root
            if case .memory = root, let editor = try trees.editor(version.id) {
                root = try editor.checkpoint()
            }
            directory.trees.append(
                RootDirectory.Tree(
                    id: version.id, name: version.name, reduction: version.reduction, root: root))
        }
        return directory
    }
}
