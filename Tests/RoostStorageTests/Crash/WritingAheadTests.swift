import Dispatch
import RoostCampaign
import RoostSimulation
import Testing

@testable import RoostStorage

/// A large transaction that is written ahead in parts while the commit before it is still on its way to the medium.
@Suite struct WritingAheadTests {
    @Test func theCommitBeforeLeavesWhatIsWrittenAheadAlone() throws {
        let disk = SimulatedMedium()
        let gate = GatedMedium(disk)
        let store = try Store.open(
            "store", options: StoreOptions(), environment: Simulation.environment(of: gate))
        let tree = try store.tree("tree")
        try store.write { try $0.put("first", [1], in: tree) }
        gate.close()
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            try? store.write { try $0.put("second", [1], in: tree) }
        }
        gate.waitForVisitor()
        // The fourth small commit takes zeros along, which prepare space for those after it.
        let fourth = try store.beginWriting()
        try fourth.put("small", [1], in: tree)
        let small = HandedTransaction(fourth)
        DispatchQueue.global().async(group: group) { _ = try? small.transaction.commit() }
        let large = [UInt8](repeating: 7, count: 3 << 20)
        let transaction = try store.beginWriting()
        for number in 10..<14 as Range<UInt64> { try transaction.put(Key(number), large, in: tree) }
        gate.open()
        group.wait()
        try transaction.commit()
        let environment = Simulation.environment(of: disk.afterCrash(.losesAll))
        let view = try Store.open("store", options: StoreOptions(), environment: environment).snapshot()[tree]
        #expect(try view.value("small") == [1])
        for number in 10..<14 as Range<UInt64> { #expect(try view.value(Key(number)) == large) }
    }
}
