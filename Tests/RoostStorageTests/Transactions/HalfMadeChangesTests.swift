import RoostCampaign
import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// Changes that fail half way, in transactions that go on.
@Suite struct HalfMadeChangesTests {
    private static let options: StoreOptions = {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.cacheSize = 1 << 14
        options.pendingLimit = 0
        options.logLimit = 0
        return options
    }()

    private func open(_ disk: SimulatedMedium) throws -> Store {
        try Store.open("store", options: Self.options, environment: Simulation.environment(of: disk))
    }

    /// The log has the whole of a change of which the tree may have a part.
    @Test(arguments: [false, true]) func whatReadersSeeIsWhatTheNextOpeningFinds(isRange: Bool) throws {
        let origin = SimulatedMedium()
        let store = try open(origin)
        let tree = try store.tree("tree")
        try store.write { transaction in
            for number in 0..<400 as Range<UInt64> {
                try transaction.put(Key(number), [UInt8](repeating: 1, count: 90), in: tree)
            }
        }
        try store.close()
        var (failures, refusals) = (0, 0)
        for number in 1...12 {
            let disk = origin.crashed(seed: 1, .keepsAll)
            let store = try open(disk)
            let transaction = try store.beginWriting()
            disk.faults.fail(.read, at: disk.counts[.read] + number)
            do {
                if isRange {
                    try transaction.delete(KeyRange(lower: Key(33), upper: Key(377)), in: tree)
                } else {
                    for key in stride(from: 3, to: 400, by: 9) {
                        try transaction.delete(Key(UInt64(key)), in: tree)
                    }
                    _ = try transaction[tree].count
                }
            } catch {
                failures += 1
                let isCommitted = (try? transaction.commit()) != nil
                if !isCommitted { refusals += 1 }
            }
            disk.faults = FaultPlan()
            transaction.rollback()
            let reopened = try open(disk.crashed(seed: 1, .keepsAll))
            #expect(try Contents.read(store.snapshot()) == Contents.read(reopened.snapshot()))
        }
        #expect(failures > 0)
        // What fails to be made late, for a reader, is made when it is tried again.
        #expect(isRange ? refusals > 0 : refusals == 0)
    }
}
