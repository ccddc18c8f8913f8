import RoostSimulation
import Testing

@testable import RoostStorage

/// What a store of many trees costs: commits go by the trees that they touch, and not by those that there are.
@Suite struct ManyTreesTests {
    private static let many = 10_000

    private func store(
        _ disk: SimulatedMedium, trees count: Int, options: StoreOptions = StoreOptions()
    ) throws -> (Store, [Tree]) {
        let store = try Store.open("store", options: options, environment: Simulation.environment(of: disk))
        let trees = try store.write { transaction in
            try (0..<count).map { try transaction.tree("tree \($0)") }
        }
        return (store, trees)
    }

    private func put(_ number: Int, _ trees: [Tree], _ store: Store) throws {
        try store.write { transaction in
            for tree in trees { try transaction.put(Key(UInt64(number)), [1, 2, 3], in: tree) }
        }
    }

    @Test func aCommitVisitsTheTreesThatItTouches() throws {
        var visits: [Int] = []
        var written: [UInt64] = []
        for count in [10, Self.many] {
            let disk = SimulatedMedium()
            let (store, trees) = try store(disk, trees: count)
            let before = disk.counts
            visits.append(
                try TreeVisits.count {
                    for number in 0..<20 { try put(number, [trees[number % 3], trees[9]], store) }
                })
            let cost = disk.counts - before
            #expect(cost[.write] == 20)
            #expect(cost[.sync] == 20)
            written.append(UInt64(cost.bytesWritten))
        }
        #expect(visits[0] == visits[1])
        #expect(visits[1] < 20 * 2 * 10)
        #expect(written[0] == written[1])
    }

    /// Whichever of them it was asked for before.
    @Test func aSnapshotTellsItsTreesApart() throws {
        let (store, trees) = try store(SimulatedMedium(), trees: 40)
        for (number, tree) in trees.enumerated() { try put(number, [tree], store) }
        let snapshot = store.snapshot()
        for _ in 0..<2 {
            for (number, tree) in trees.enumerated() {
                #expect(try snapshot[tree].last()?.key == Key(UInt64(number)))
            }
        }
        try store.write { try $0.drop(trees[3]) }
        let error = #expect(throws: StoreError.self) { try store.snapshot()[trees[3]] }
        #expect(error?.code == .notFound)
        #expect(try snapshot[trees[3]].count == 1)
    }

    @Test func makingAndDroppingATreeVisitsFew() throws {
        let disk = SimulatedMedium()
        let (store, trees) = try store(disk, trees: Self.many)
        let visits = try TreeVisits.count {
            let tree = try store.tree("another")
            try store.write { try $0.drop(trees[5]) }
            try put(1, [tree], store)
        }
        #expect(visits < 50)
        let snapshot = store.snapshot()
        #expect(snapshot.tree("tree 5") == nil)
        #expect(snapshot.tree("another") != nil)
        #expect(snapshot.treeNames.count == Self.many)
    }

    @Test func aSweepVisitsTheTreesThatHaveChanges() throws {
        let disk = SimulatedMedium()
        var options = StoreOptions()
        options.pendingLimit = 1 << 16
        options.compactsAutomatically = false
        let (store, trees) = try store(disk, trees: Self.many, options: options)
        let checkpoint = store.state.record.checkpoint
        var commits = 0
        var visits: [Int] = []
        while store.state.record.checkpoint == checkpoint {
            visits.append(
                try TreeVisits.count { try put(commits * 7919 % 100_003, [trees[commits % 5]], store) })
            commits += 1
        }
        // The checkpoint itself writes the directory of all trees.
        #expect(visits.dropLast().max() ?? 0 < 100)
        #expect(commits > 100)
    }

    @Test func openingFindsThemAll() throws {
        let disk = SimulatedMedium()
        let (store, trees) = try store(disk, trees: Self.many)
        for number in 0..<3 { try put(number, [trees[number * 1000], trees[9_999]], store) }
        try store.close()
        let again = try Store.open(
            "store", options: StoreOptions(), environment: Simulation.environment(of: disk))
        let snapshot = again.snapshot()
        #expect(snapshot.treeNames == trees.map(\.name).sorted())
        #expect(try snapshot[trees[9_999]].count == 3)
        #expect(try snapshot[trees[1000]].count == 1)
        let visits = TreeVisits.count { _ = again.snapshot() }
        #expect(visits == 0)
    }

    @Test func aTransactionOverManyTreesKeepsWithinItsMemory() throws {
        let disk = SimulatedMedium()
        var options = StoreOptions()
        options.pendingLimit = 1 << 20
        let (store, trees) = try store(disk, trees: 300, options: options)
        let transaction = try store.beginWriting()
        var most = 0
        for number in 0..<60 {
            for tree in trees {
                try transaction.put(
                    Key(UInt64(number * 7919 % 1009)), [UInt8](repeating: 3, count: 100), in: tree)
            }
            most = max(
                most,
                transaction.trees.editors.values.reduce(0) { $0 + $1.pendingBytes + $1.log.buffer.count })
        }
        try transaction.commit()
        // What the trees take at least, with the limit on top.
        #expect(most < 5 << 20)
        for tree in trees { #expect(try store.snapshot()[tree].count == 60) }
    }

    @Test func namesThatDifferInBytesAreDifferent() throws {
        let store = try Store.open(
            "store", options: StoreOptions(), environment: Simulation.environment(of: SimulatedMedium()))
        let (composed, decomposed) = try (store.tree("\u{E9}"), store.tree("e\u{301}"))
        #expect(composed != decomposed)
        try put(1, [composed], store)
        #expect(try store.snapshot()[decomposed].count == 0)
    }
}
