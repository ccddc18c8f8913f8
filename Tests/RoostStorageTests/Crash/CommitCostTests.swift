import RoostSimulation
import Testing

@testable import RoostStorage

/// What a commit asks of the medium.
@Suite struct CommitCostTests {
    private let disk = SimulatedMedium()
    private let store: Store
    private let tree: Tree

    init() throws {
        store = try Store.open(
            "store", options: StoreOptions(), environment: Simulation.environment(of: disk))
        tree = try store.tree("tree")
    }

    private func put(_ number: Int) throws {
        try store.write { try $0.put(Key(UInt64(number)), [UInt8](repeating: 7, count: 300), in: tree) }
    }

    @Test func oneDurableSmallPutIsOneBlockAndOneSync() throws {
        let before = disk.counts
        try put(1)
        let cost = disk.counts - before
        #expect(cost[.write] == 1)
        #expect(cost[.sync] == 1)
        #expect(cost.total == 2)
        #expect(cost.bytesWritten == 4096)
    }

    @Test func manySmallPutsAreOneWriteAndOneSyncEach() throws {
        let before = disk.counts
        for number in 0..<500 { try put(number) }
        let cost = disk.counts - before
        #expect(cost[.write] == 500)
        #expect(cost[.sync] == 500)
        #expect(cost.total == 1000)
        let length = try #require(disk.contents(of: "store")).count
        #expect(length < 2 * 500 * 4096)
    }

    @Test func relaxedCommitsDoNotSync() throws {
        var options = StoreOptions()
        options.durability = .relaxed(interval: 1e9)
        let disk = SimulatedMedium()
        let store = try Store.open("store", options: options, environment: Simulation.environment(of: disk))
        let tree = try store.tree("tree")
        let before = disk.counts
        for number in 0..<50 { try store.write { try $0.put(Key(UInt64(number)), [1], in: tree) } }
        #expect((disk.counts - before)[.sync] == 0)
        try store.sync()
        #expect((disk.counts - before)[.sync] == 1)
    }

    @Test func openingACleanlyClosedStoreSyncsNoData() throws {
        try put(1)
        try store.close()
        let before = disk.counts
        let again = try Store.open(
            "store", options: StoreOptions(), environment: Simulation.environment(of: disk))
        let cost = disk.counts - before
        #expect(cost[.sync] == 0)
        #expect(cost[.write] == 0)
        #expect(again.state.record.kind == .cleanShutdown)
    }
}
