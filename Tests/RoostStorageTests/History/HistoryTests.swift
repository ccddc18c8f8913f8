import Testing

@testable import RoostStorage

/// Every commit of the file can be listed and opened, whatever came after it.
@Suite struct HistoryTests {
    @Test(arguments: [1 << 16, 1 << 26] as [UInt64]) func everyCommitCanBeOpened(logLimit: UInt64) throws {
        let directory = try TemporaryDirectory()
        var options = StoreOptions()
        options.nodeSize = 1024
        options.compactsAutomatically = false
        options.logLimit = logLimit
        options.pendingLimit = Int(logLimit)
        options.durability = .relaxed(interval: 60)
        var store = try Store.open(directory.file("store"), options: options)
        let tree = try store.tree("tree")
        var generator = SplitMix64(seed: 3)
        var model = Model()
        var models: [UInt64: Model] = [:]
        for _ in 0..<60 {
            try store.write { transaction in
                for _ in 0..<30 {
                    let key = Key("key-\(Int.random(in: 0..<1000, using: &generator))")
                    let value = [UInt8](repeating: 1, count: Int.random(in: 0..<200, using: &generator))
                    try transaction.put(key, value, in: tree)
                    model.put(key, value)
                }
                let gone = KeyRange(prefix: Key("key-\(Int.random(in: 10..<99, using: &generator))"))
                try transaction.delete(gone, in: tree)
                model.delete(gone)
            }
            models[store.snapshot().commit.number] = model
        }
        for _ in 0..<2 {
            let commits = try store.history.commits()
            #expect(commits.map(\.number) == (1...UInt64(commits.count)).reversed())
            #expect(commits.contains { $0.kind == .checkpoint } && commits.contains { $0.kind == .changes })
            for commit in commits {
                guard let expected = models[commit.number] else { continue }
                let snapshot = try store.snapshot(at: commit)
                #expect(snapshot.commit == commit)
                #expect(try snapshot.contents() == ["tree": expected])
            }
            try store.close()
            store = try Store.open(directory.file("store"), options: options)
        }
    }

    @Test func commitsTellTheirSizeAndKind() throws {
        let sample = try ExampleStore(commits: 3)
        let store = try Store.open(sample.path, options: sample.options)
        let commits = try store.history.commits()
        #expect(commits.first?.kind == .close)
        #expect(commits.last?.kind == .checkpoint)
        let size = try sample.file.read().count
        #expect(commits.reduce(0) { $0 + $1.size } == UInt64(size) - Format.firstCommit)
        #expect(try store.history.commits(limit: 2) == Array(commits.prefix(2)))
        #expect(try store.history.commit(number: 2)?.number == 2)
        #expect(try store.history.commit(number: 999) == nil)
        #expect(try store.history.last { $0.kind == .changes } == commits.first { $0.kind == .changes })
    }

    @Test func commitOfAnotherFileIsRefused() throws {
        let (one, other) = (try ExampleStore(commits: 3), try ExampleStore(commits: 4))
        let store = try Store.open(one.path, options: one.options)
        let foreign = try Store.open(other.path, options: other.options).history.commits()
        for commit in foreign {
            let error = #expect(throws: StoreError.self) { try store.snapshot(at: commit) }
            #expect(error?.code == .notFound)
        }
    }
}
