import Testing

@testable import RoostStorage

/// Checkpoints are spread over commits, and come as often as what they save is worth.
@Suite struct CheckpointerTests {
    private let directory = try! TemporaryDirectory()

    private func store(pendingLimit: Int, logLimit: UInt64) throws -> (Store, Tree) {
        var options = StoreOptions()
        options.durability = .relaxed(interval: 3600)
        options.compactsAutomatically = false
        options.pendingLimit = pendingLimit
        options.logLimit = logLimit
        let store = try Store.open(directory.file("store"), options: options)
        let tree = try store.tree("entries")
        try store.write { transaction in
            for number in 0..<40_000 as Range<UInt64> {
                try transaction.put(Key(number), [UInt8](repeating: 0, count: 30), in: tree)
            }
        }
        let transaction = try store.beginWriting()
        if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
        return (store, tree)
    }

    @Test func halfAsMuchAsTheCacheMayWait() {
        var options = StoreOptions()
        #expect(options.pendingLimitInRange == 64 << 20 && options.logLimitInRange == 64 << 20)
        options.cacheSize = 512 << 20
        #expect(options.pendingLimitInRange == 256 << 20 && options.logLimitInRange == 256 << 20)
        options.cacheSize = 0
        #expect(options.pendingLimitInRange == 64 << 20 && options.logLimitInRange == 64 << 20)
        options.pendingLimit = 0
        options.logLimit = 1 << 20
        #expect(options.pendingLimitInRange == 4096 && options.logLimitInRange == 1 << 20)
    }

    /// Commits random updates and returns the file's growth with each.
    private func update(_ store: Store, _ tree: Tree, commits: Int) throws -> [UInt64] {
        var generator = SplitMix64(seed: store.state.record.number)
        return try (0..<commits).map { _ in
            let before = store.state.record.end
            try store.write { transaction in
                for _ in 0..<20 {
                    let number = UInt64.random(in: 0..<40_000, using: &generator)
                    try transaction.put(Key(number), [UInt8](repeating: 1, count: 30), in: tree)
                }
            }
            return store.state.record.end - before
        }
    }

    /// The tree takes about 2 MB, so a checkpoint at once would show as a commit of that size.
    @Test func noCommitWritesAWholeCheckpoint() throws {
        let (store, tree) = try store(pendingLimit: 256 << 10, logLimit: 64 << 20)
        let checkpoint = store.state.record.checkpoint
        let growth = try update(store, tree, commits: 800)
        #expect(store.state.record.checkpoint > checkpoint)
        #expect(try #require(growth.max()) < 512 << 10)
        #expect(store.state.pendingBytes < 256 << 10)
    }

    /// What checkpoints write themselves is no log: otherwise a tree larger than the limit would be swept for ever.
    @Test func checkpointsDoNotCallForTheNext() throws {
        let (store, tree) = try store(pendingLimit: 64 << 20, logLimit: 256 << 10)
        let growth = try update(store, tree, commits: 1000)
        let commits = try store.history.commits()
        let logged: UInt64 = 1000 * 20 * 50
        #expect(commits.count > 900)
        // Each 256 KiB of log bring one checkpoint of 2 MB at most.
        #expect(growth.reduce(0, +) < 1000 * 4096 + (logged / (192 << 10) + 1) * (3 << 20))
        #expect(store.state.logBytes <= 256 << 10)
    }

    /// What is counted as pending is what the leaves in memory take, however often they were copied.
    @Test func pendingBytesAreThoseOfTheLeaves() throws {
        let (store, tree) = try store(pendingLimit: 64 << 20, logLimit: 64 << 20)
        _ = try update(store, tree, commits: 200)
        let version = try #require(store.state.trees[tree.id])
        guard case .memory(let root) = version.root else { throw StoreError(.notFound, "no changes") }
        #expect(version.pendingBytes == bytes(of: root))
        #expect(version.pendingBytes > 200 * 20 * 40)
    }

    private func bytes(of node: MemoryNode) -> Int {
        if let leaf = node as? LeafNode { return leaf.pendingBytes }
        guard let inner = node as? BranchNode else { return 0 }
        return (0..<inner.count).reduce(0) { $0 + (inner.memory($1).map(bytes) ?? 0) }
    }

    /// Closing while a sweep is under way leaves nothing to replay.
    @Test func aClosedStoreHasNoLogToReplay() throws {
        let (store, tree) = try store(pendingLimit: 64 << 20, logLimit: 1 << 20)
        // The sweep begins with three quarters of the limit and takes the last quarter.
        for _ in 0..<2000 where store.state.logBytes < 800 << 10 { _ = try update(store, tree, commits: 1) }
        #expect(store.state.logBytes >= 800 << 10)
        try store.close()
        let reopened = try Store.open(directory.file("store"))
        #expect(try reopened.statistics().logBytes < 1024)
        #expect(try reopened.snapshot()[tree].count == 40_000)
    }
}
