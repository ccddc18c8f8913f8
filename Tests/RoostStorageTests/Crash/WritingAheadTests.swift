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

    /// A commit fails while the writer lock is free: what others write ahead while it is cut out of the file stays there, where they
    /// are not refused.
    @Test func whatIsWrittenAheadIsNotCutOffWithACommitThatFails() throws {
        let disk = SimulatedMedium()
        var options = StoreOptions()
        options.partLength = 1 << 12
        let store = try Store.open("store", options: options, environment: Simulation.environment(of: disk))
        let tree = try store.tree("tree")
        let value = (0..<4000).map { UInt8(truncatingIfNeeded: $0 &* 97 >> 3) }
        func fill(_ transaction: StoreTransaction) throws {
            for number in 0..<40 as Range<UInt64> { try transaction.put(Key(number), value, in: tree) }
        }
        let first = try store.beginWriting()
        try first.put("first", [1], in: tree)
        let finish = try #require(try first.stage())
        disk.faults.fail(.write, at: disk.counts[.write] + 1)
        var next: StoreTransaction?
        disk.beginInterludes(SeededGenerator(seed: 1)) { kind in
            guard kind == .truncate, next == nil else { return }
            next = try? store.beginWriting()
            if let next { try? fill(next) }
        }
        #expect(throws: StoreError.self) { try finish() }
        do { try #require(next).commit() } catch { try store.write(fill) }
        let environment = Simulation.environment(of: disk.afterCrash(.losesAll))
        let view = try Store.open("store", options: StoreOptions(), environment: environment).snapshot()[tree]
        #expect(view.count == 40)
        for number in 0..<40 as Range<UInt64> { #expect(try view.value(Key(number)) == value) }
    }
}
