import Dispatch
import RoostCampaign
import RoostFile
import RoostSimulation
import Synchronization
import Testing

@testable import RoostStorage

/// Commits of several threads, which share writes and syncs, and a crash amid them.
@Suite struct ConcurrentCrashTests {
    private static let threads = 4

    private func works() -> [NumberedWork] {
        (0..<Self.threads).map { NumberedWork(seed: UInt64($0), tree: "thread-\($0)", largestValue: 3_000) }
    }

    /// Lets every thread commit until the power goes; returns how many commits each was answered.
    private func run(_ store: Store) -> [UInt64] {
        let counts = Mutex([UInt64](repeating: 0, count: Self.threads))
        let works = works()
        DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
            for number in 1...200 as ClosedRange<UInt64> {
                guard (try? store.write { try works[thread].apply(number, to: $0) }) != nil else { return }
                counts.withLock { $0[thread] = number }
            }
        }
        return counts.withLock { $0 }
    }

    @Test(arguments: 1...12)
    func eachThreadKeepsWhatWasAcknowledged(round: Int) throws {
        let disk = SimulatedMedium(seed: UInt64(round), tearing: .bytes)
        var options = StoreOptions()
        options.nodeSize = 1024
        options.pendingLimit = 0
        options.logLimit = 0
        options.compactsAutomatically = false
        let store = try Store.open("store", options: options, environment: Simulation.environment(of: disk))
        disk.crash(atChange: disk.counts.changes + 7 * round)
        let acknowledged = run(store)
        #expect(disk.hasCrashed)
        for outcome in 0..<6 as Range<UInt64> {
            let crashed = Simulation.environment(of: disk.crashed(seed: outcome))
            let contents = try Contents.read(
                try Store.open("store", options: options, environment: crashed).snapshot())
            for (work, count) in zip(works(), acknowledged) {
                let number = NumberedWork.number(contents[work.name])
                #expect(count...count + 1 ~= number)
                #expect(contents[work.name] == work.model(after: number))
            }
        }
    }
}
