import Dispatch
import RoostFile
import RoostSimulation
import RoostStorage
import Synchronization

/// One seed's run of processes that write one store by turns, and compact it, on one simulated disk.
///
/// Each process is a thread, of which one runs at a time: the seed decides at every call to the disk which one goes on. In the end
/// the store must hold everything that was acknowledged to any of them, and nothing in part.
package final class TurnsCampaign: Sendable {
    private let seed: UInt64
    private let simulation: Simulation
    private let baton: Baton
    private let outcome = Mutex(Outcome())

    private struct Outcome {
        var statistics = CampaignStatistics()
        var acknowledged = [UInt64](repeating: 0, count: TurnsCampaign.processes)
        var finding: CampaignFinding?
    }

    private static let path = "store"
    private static let processes = 2
    private static let steps = 16

    package init(seed: UInt64) {
        self.seed = seed
        simulation = Simulation(seed: seed)
        var generator = simulation.choices(stream: 30)
        let chance = [0.02, 0.1, 0.4][generator.next(below: 3)]
        baton = Baton(Self.processes, generator, chance: chance)
    }

    /// Runs to the end.
    package func run() -> CampaignReport {
        #if ROOST_FAILPOINTS
            let planted = Failpoint.active
        #endif
        for process in 0..<Self.processes {
            DispatchQueue(label: "roost.turns.\(process)").async { [self] in
                baton.begin(process)
                #if ROOST_FAILPOINTS
                    Failpoint.$active.withValue(planted) { work(as: process) }
                #else
                    work(as: process)
                #endif
                baton.end(process)
            }
        }
        baton.run()
        do { try verify() } catch { note("the store in the end: \(error)", step: Self.steps) }
        let outcome = outcome.withLock { $0 }
        return CampaignReport(
            seed: seed, statistics: outcome.statistics, traceHash: simulation.disk.traceHash,
            finding: outcome.finding)
    }

    private func note(_ what: String, step: Int) {
        outcome.withLock { outcome in
            if outcome.finding == nil {
                outcome.finding = CampaignFinding(seed: seed, step: step, what: "by turns: \(what)")
            }
        }
    }

    // MARK: A process

    private func work(as process: Int) {
        var step = 0
        do {
            var generator = simulation.choices(stream: 31 + UInt64(process))
            var store = try open(process)
            var number: UInt64 = 0
            while step < Self.steps {
                step += 1
                outcome.withLock { $0.statistics.steps += 1 }
                switch generator.next(below: 10) {
                case 0:
                    try store.close()
                    store = try open(process)
                case 1...4:
                    // One that another process keeps from compacting tries again.
                    for _ in 0...generator.next(below: 4) where try !compact(store) {}
                default:
                    number += 1
                    try commit(number, process, to: store)
                }
            }
            try store.close()
        } catch {
            note("process \(process): \(error)", step: step)
        }
    }

    private func open(_ process: Int) throws(StoreError) -> Store {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.compactsAutomatically = false
        options.writers = .takingTurns
        return try Store.open(
            Self.path, options: options,
            environment: Environment(
                medium: TurnsMedium(base: simulation.disk, baton: baton, process: process),
                clock: simulation.clock, randomness: simulation.randomness))
    }

    private static func work(of process: Int) -> NumberedWork {
        NumberedWork(seed: 11 + UInt64(process), tree: "process-\(process)", largestValue: 2000)
    }

    /// Commits numbered work, and one more in a count that all processes share.
    private func commit(_ number: UInt64, _ process: Int, to store: Store) throws {
        try store.write { transaction in
            let count = try transaction.tree("count")
            let before = try transaction[count, "count"].flatMap { Key($0).number } ?? 0
            try transaction.put("count", Key(before + 1).bytes, in: count)
            try Self.work(of: process).apply(number, to: transaction)
        }
        outcome.withLock { outcome in
            outcome.acknowledged[process] = number
            outcome.statistics.commits += 1
        }
    }

    /// Compacts; `false` where another process is at it.
    private func compact(_ store: Store) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try store.compact()
            return true
        } catch {
            guard error.code == .locked else { throw error }
            return false
        }
    }

    // MARK: The end

    private func verify() throws {
        let names = try simulation.disk.list("/")
        if names != [Self.path] { note("left \(names.sorted())", step: Self.steps) }
        let store = try Store.open(Self.path, options: StoreOptions(), environment: simulation.environment)
        let contents = try Contents.read(store.snapshot())
        var total: UInt64 = 0
        for (process, acknowledged) in outcome.withLock({ $0.acknowledged }).enumerated() {
            let work = Self.work(of: process)
            let tree = contents[work.name]
            total += acknowledged
            if tree != work.model(after: acknowledged) {
                note(
                    "process \(process) made \(acknowledged) commits, of which \(NumberedWork.number(tree)) are there",
                    step: Self.steps)
            }
        }
        let count = try store.snapshot().tree("count").flatMap { tree in
            try store.snapshot()[tree, "count"].flatMap { Key($0).number }
        }
        if (count ?? 0) != total { note("\(count ?? 0) of \(total) commits were counted", step: Self.steps) }
        if try !store.check().isClean { note("the store is damaged", step: Self.steps) }
        outcome.withLock { $0.statistics.comparisons += 1 }
    }
}
