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

// MARK: - TreeTable

/// All trees of a store as of one moment, by number and by name. Copies share what they have in common, so that a commit
/// costs what it touches, however many trees there are.
struct TreeTable: Sendable {
    private var versions = PersistentMap<UInt64, TreeVersion>()
    private var names = PersistentMap<Key, Tree>()
    /// The number of the tree that is made next. Numbers are never used twice.
    private(set) var nextID: UInt64

    /// No trees.
    init(nextID: UInt64) { self.nextID = nextID }

    /// The `versions`, which have different numbers, below `nextID`, and different names.
    init(_ versions: some Sequence<TreeVersion>, nextID: UInt64) {
        self.nextID = nextID
        for version in versions { insert(version) }
    }

    /// The same trees in `file`, which is theirs under another handle. O(n).
    func reopened(_ file: DataFile) -> TreeTable { TreeTable(lazy.map { $0.reopened(file) }, nextID: nextID) }

    /// What the trees come to. O(1).
    var weight: TreeWeight { versions.weight }
    var count: Int { weight.count }

    subscript(id: UInt64) -> TreeVersion? {
        TreeVisits.note(1)
        return versions[id]
    }

    /// The tree of that name; names that differ in bytes are different.
    func tree(_ name: String) -> Tree? { names[Key(name)] }

    /// Names in the order of their bytes. O(n).
    var sortedNames: [String] {
        TreeVisits.note(count)
        return names.map(\.name)
    }

    /// Adds a tree, or puts it in the place of another version of itself.
    mutating func insert(_ version: TreeVersion) {
        TreeVisits.note(1)
        if versions[version.id] == nil {
            names.set(Tree(id: version.id, name: version.name), for: Key(version.name))
            nextID = Swift.max(nextID, version.id + 1)
        }
        versions.set(version, for: version.id)
    }

    mutating func remove(_ id: UInt64) {
        guard let version = versions[id] else { return }
        names.remove(Key(version.name))
        versions.remove(id)
    }

    /// The tree with the lowest number, from `id` on, that has changes in memory. O(log n).
    func firstChanged(from id: UInt64) -> TreeVersion? {
        TreeVisits.note(1)
        return versions.first(from: id) { $0.changed > 0 }
    }
}

/// In the order of the trees' numbers.
extension TreeTable: Sequence {
    func makeIterator() -> PersistentMap<UInt64, TreeVersion>.Iterator {
        TreeVisits.note(count)
        return versions.makeIterator()
    }
}

/// What trees come to.
struct TreeWeight: AdditiveArithmetic, Sendable {
    /// How many there are.
    var count = 0
    /// How many of them have changes in memory.
    var changed = 0
    /// Their entries, and the bytes of the chunks that they lead to.
    var summary = Summary()
    /// Bytes that pending changes take in memory.
    var pendingBytes = 0

    static var zero: TreeWeight { TreeWeight() }

    static func + (a: TreeWeight, b: TreeWeight) -> TreeWeight {
        TreeWeight(
            count: a.count + b.count, changed: a.changed + b.changed, summary: a.summary + b.summary,
            pendingBytes: a.pendingBytes + b.pendingBytes)
    }

    static func - (a: TreeWeight, b: TreeWeight) -> TreeWeight {
        TreeWeight(
            count: a.count - b.count, changed: a.changed - b.changed, summary: a.summary - b.summary,
            pendingBytes: a.pendingBytes - b.pendingBytes)
    }
}

extension Tree: Weighted {
    var weight: Int { 1 }
}
