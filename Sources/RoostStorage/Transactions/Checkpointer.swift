import Synchronization

/// Decides when trees are written, and spreads the work over commits so that none of them waits long.
///
/// Once the log or the pending changes reach half their bounds, each commit takes some leaves along, in key order,
/// tree after tree. When the end is reached, the inner nodes follow, and the roots: the checkpoint. Leaves that
/// changed again meanwhile are brought up to date by replaying the log from where the sweep began. Should the bounds
/// be reached all the same, the next commit does the rest at once.
final class Checkpointer: Sendable {
    private let pendingLimit: Int
    private let logLimit: UInt64
    private let sweep = Mutex<Sweep?>(nil)

    private struct Sweep {
        /// The last commit before the sweep: the trees hold all of its operations in the end.
        var replayAfter: UInt64
        /// Commits that had failed by then; after another one the sweep's leaves may be missing from the file.
        var setbacks: Int
        /// Where to go on.
        var tree: UInt64 = 0
        var position: [UInt8] = []
        /// No other commit came between start and end.
        var isFirstCommit = true
    }

    enum Outcome {
        case none
        /// The directory to write. `replayAfter` is `nil` when the trees contain the commit itself.
        case complete(RootDirectory, replayAfter: UInt64?)
    }

    init(pendingLimit: Int, logLimit: UInt64) {
        self.pendingLimit = pendingLimit
        self.logLimit = logLimit
    }

    /// Forgets a sweep whose leaves did not reach the medium.
    func reset() { sweep.withLock { $0 = nil } }

    /// Does the share of one commit, whose operations have all been applied.
    func advance(
        _ trees: TreeSet, _ output: CommitBuffer, _ base: CommitQueue.Base,
        _ policy: WriteTransaction.CheckpointPolicy
    ) throws(StoreError) -> Outcome {
        let state = base.state
        let log = state.record.end - state.logStart + UInt64(output.count)
        let pending = trees.pendingBytes
        var current = sweep.withLock { $0 }
        if current?.setbacks != base.setbacks { current = nil }
        if current == nil, policy == .always || pending > pendingLimit / 2 || log > logLimit / 2 {
            current = Sweep(replayAfter: state.record.offset, setbacks: base.setbacks)
        }
        guard var sweep = current else { return .none }
        var budget = Checkpointer.share + output.count
        if policy == .always || pending > pendingLimit || log > logLimit { budget = .max }
        let isComplete = try write(trees, &sweep, &budget)
        guard isComplete else {
            sweep.isFirstCommit = false
            self.sweep.withLock { $0 = sweep }
            return .none
        }
        reset()
        return .complete(try directory(trees), replayAfter: sweep.isFirstCommit ? nil : sweep.replayAfter)
    }

    /// What each commit writes of the sweep beyond its own size, in bytes.
    private static let share = 128 << 10

    private func write(_ trees: TreeSet, _ sweep: inout Sweep, _ budget: inout Int) throws(StoreError) -> Bool
    {
        for id in trees.sortedIdentifiers where id >= sweep.tree {
            guard case .memory? = trees.version(id)?.root, let editor = try trees.editor(id) else { continue }
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
        var directory = RootDirectory(nextTreeID: trees.nextTreeID, trees: [])
        for id in trees.sortedIdentifiers {
            guard let version = trees.version(id) else { continue }
            var root = version.root
            if case .memory = root, let editor = try trees.editor(id) { root = try editor.checkpoint() }
            directory.trees.append(
                RootDirectory.Tree(id: id, name: version.name, reduction: version.reduction, root: root))
        }
        return directory
    }
}
