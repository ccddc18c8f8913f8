/// Everything that is true as of one commit: the file, its last record, and all trees. Immutable; snapshots hold one.
final class StoreState: Sendable {
    let file: DataFile
    /// The commit that this is the state after.
    let record: CommitRecord
    let trees: TreeTable
    /// Bytes that a reopening would read to replay what the checkpoint lacks: records, operations, and the leaves that
    /// these name.
    let logBytes: UInt64
    /// Nodes that replaying made and that are in no file; kept while a state refers to them. A commit after this state
    /// begins with them.
    let replayed: [ReplayedNodes]
    /// Whether this is what a closed store shows: nothing.
    let isClosed: Bool

    init(
        file: DataFile, record: CommitRecord, trees: TreeTable, logBytes: UInt64,
        replayed: [ReplayedNodes] = [], isClosed: Bool = false
    ) {
        self.file = file
        self.record = record
        self.trees = trees
        self.logBytes = logBytes
        self.replayed = replayed
        self.isClosed = isClosed
    }

    /// Where the functions of the trees' reductions are found.
    var reductions: ReductionRegistry {
        trees.lazy.compactMap { $0.reader.reduction?.registry }.first ?? ReductionRegistry()
    }

    /// The same trees after a commit that changed none of them.
    func with(record: CommitRecord) -> StoreState {
        StoreState(
            file: file, record: record, trees: trees, logBytes: logBytes, replayed: replayed)
    }

    /// The same state, keeping `nodes` in memory with it.
    func keeping(_ nodes: ReplayedNodes) -> StoreState {
        StoreState(
            file: file, record: record, trees: trees, logBytes: logBytes, replayed: replayed + [nodes])
    }

    /// What a store shows once it is closed: the newest commit's number and no tree, without cache and key.
    func closed() -> StoreState {
        StoreState(
            file: DataFile(file: file.file, header: file.header, transform: nil, cacheLimit: 0),
            record: record, trees: TreeTable(nextID: trees.nextID), logBytes: logBytes, isClosed: true)
    }

    /// Refuses to read what a closed store shows.
    func checkOpen() throws(StoreError) {
        guard !isClosed else { throw StoreError(.closed, "\(file.path) was closed.") }
    }

    /// For a reader beside a writing process: lets mapped reads reach as far as the newest commit vouches for, which no
    /// writer cuts off again.
    func mapSyncedValues() {
        file.mapped?.extend(to: min(record.syncedEnd, record.end))
    }

    /// Binds what is written after this state to another number than what was written there and given up. Not where nodes
    /// that opening made are bound to the present one.
    func renewHistory() {
        if replayed.isEmpty { file.codec.history.renew(at: record.end) }
    }

    var liveBytes: UInt64 { trees.weight.summary.bytes }
    var pendingBytes: Int { trees.weight.pendingBytes }
}

/// Nodes that replaying the log has made and that exist in memory only: for a reader under offsets beyond any file's end,
/// for a writer at the file's end, where the first commit puts them. Forgotten with the last state that uses them.
final class ReplayedNodes: Sendable {
    private let file: DataFile
    let bytes: UnwrittenBytes

    init(file: DataFile, bytes: UnwrittenBytes) {
        self.file = file
        self.bytes = bytes
    }

    deinit {
        let gone = bytes
        file.unwritten.withLock { list in list.removeAll { $0 === gone } }
    }
}
