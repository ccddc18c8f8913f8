import RoostBytes
import RoostCampaign
import RoostSimulation
import Testing

@testable import RoostStorage

/// Commits that are written together.
@Suite struct GroupCommitTests {
    /// The first of them may be one that needs no sync, such as the wait for all that were staged.
    @Test func aCommitIsSyncedWhateverTheFirstOfItsGroupNeeds() throws {
        let simulation = Simulation(seed: 8)
        let store = try Store.open("store", options: StoreOptions(), environment: simulation.environment)
        let tree = try store.tree("tree")
        let queue = try store.commitQueue()
        let base = try queue.base()
        let nothing = UnwrittenBytes(start: base.state.record.end, buffer: ByteBuffer())
        let first = try queue.enqueue(
            StagedCommit(bytes: nothing, state: base.state, needsSync: false), on: base)
        let transaction = try store.beginWriting()
        try transaction.put("key", [1], in: tree)
        let second = try #require(try transaction.stage(.always))
        let syncs = simulation.disk.counts[.sync]
        try queue.makeDurable(first)
        try queue.makeDurable(second)
        #expect(simulation.disk.counts[.sync] == syncs + 1, "both in one group")
        for seed in 0..<10 as Range<UInt64> {
            let after = try Store.open(
                "store", options: StoreOptions(), environment: simulation.crashed(seed: seed).environment)
            #expect(try after.snapshot()[try after.tree("tree")].value("key") == [1])
        }
    }
}
