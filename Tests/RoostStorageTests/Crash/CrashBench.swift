import RoostCampaign
import RoostFile
import RoostSimulation

@testable import RoostStorage

/// A simulated machine with a store of numbered commits on it.
struct CrashBench {
    static let path = "store"
    let work: NumberedWork
    /// What the tree holds after each commit, none first.
    let models: [TreeModel]
    var options = StoreOptions()

    init(seed: UInt64, commits: Int, largestValue: Int = 20_000) {
        work = NumberedWork(seed: seed, largestValue: largestValue)
        var models = [TreeModel()]
        for number in 1...UInt64(commits) {
            models.append(models[models.count - 1])
            work.apply(number, to: &models[models.count - 1])
        }
        self.models = models
        options.nodeSize = 1024
        options.pendingLimit = 0
        options.logLimit = 0
        options.fewChanges = 0
        options.reductions = [.keyBytes]
    }

    func open(_ disk: SimulatedMedium) throws(StoreError) -> Store {
        let environment = Environment(
            medium: disk, clock: SimulatedClock(), randomness: SeededRandomness(seed: work.seed))
        return try Store.open(Self.path, options: options, environment: environment)
    }

    /// Makes commit `number`.
    func commit(_ number: Int, to store: Store) throws {
        try store.write { try work.apply(UInt64(number), to: $0) }
    }

    /// How many commits the store shows; `nil` when that is not what it looks like after any number of them.
    func commitsShown(by store: Store) throws -> Int? {
        let contents = try Contents.read(store.snapshot())
        if contents.trees.isEmpty { return 0 }
        return models.indices.contains { models[$0] == contents[work.name] }
            ? Int(NumberedWork.number(contents[work.name])) : nil
    }
}
