import RoostCampaign
import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// Calls that fail while the machine stays up: nothing acknowledged is lost, what was refused stays away, and errors
/// say what to do.
@Suite struct FailingMediumTests {
    private let disk = SimulatedMedium(seed: 3)
    private let bench = CrashBench(seed: 3, commits: 40, largestValue: 2_000)

    private func failNext(_ kind: CallKind, with fault: FaultPlan.Fault = .error(.inputOutput)) {
        var plan = FaultPlan()
        plan.fail(kind, at: disk.counts[kind] + 1, with: fault)
        disk.faults = plan
    }

    @Test func aFailedSyncEndsWritingUntilTheStoreIsOpenedAgain() throws {
        var store = try bench.open(disk)
        for number in 1...5 { try bench.commit(number, to: store) }
        failNext(.sync)
        #expect(code { try bench.commit(6, to: store) } == .writerFailed)
        #expect(code { try bench.commit(6, to: store) } == .writerFailed)
        #expect(code { try store.sync() } == .writerFailed)
        #expect(try bench.commitsShown(by: store) == 5)
        #expect(code { try store.close() } == .writerFailed)
        store = try bench.open(disk)
        #expect(try bench.commitsShown(by: store) == 5)
        for number in 6...12 { try bench.commit(number, to: store) }
        for seed in 0..<20 as Range<UInt64> {
            #expect(try bench.commitsShown(by: try bench.open(disk.crashed(seed: seed))) == 12)
        }
    }

    /// A transaction that is under way when the commit before it fails may still put nodes of that into the cache; what is
    /// committed next takes their places in the file.
    @Test func nodesOfAFailedCommitAreNotFoundInTheCache() throws {
        let store = try bench.open(disk)
        try bench.commit(1, to: store)
        let (cache, end) = (store.state.file.cache, store.state.record.end)
        failNext(.write)
        #expect(code { try bench.commit(2, to: store) } == .inputOutput)
        [UInt8](repeating: 0, count: 8).withView { cache.insert(copyOf: $0, at: end) }
        #expect(cache.find(end, cache.reclaimer.readers.pin()) != nil)
        let transaction = try store.beginWriting()
        #expect(cache.find(end, cache.reclaimer.readers.pin()) == nil)
        transaction.rollback()
    }

    @Test(arguments: [false, true])
    func whatBeganOnAFailedCommitFailsToo(isStaged: Bool) throws {
        #expect(try isRefusedAfterAFailedCommit(isStaged: isStaged))
    }

    #if ROOST_FAILPOINTS
        @Test func aSetbackThatIsForgottenIsNoticed() throws {
            let isRefused = try Failpoint.$active.withValue(.forgottenSetback) {
                try isRefusedAfterAFailedCommit(isStaged: false)
            }
            #expect(!isRefused)
        }
    #endif

    /// Whether a transaction is refused that began on a commit which was not written yet, and then failed: it builds on
    /// what will never be.
    ///
    /// - Parameter isStaged: Whether it was complete when that failed.
    private func isRefusedAfterAFailedCommit(isStaged: Bool) throws -> Bool {
        let store = try bench.open(disk)
        try bench.commit(1, to: store)
        let tree = try store.tree("rows")
        let first = try store.beginWriting()
        try first.put("a", [1], in: tree)
        let finishFirst = try #require(try first.stage())
        let second = try store.beginWriting()
        try second.put("b", [2], in: tree)
        let finishSecond = isStaged ? try second.stage() : nil
        failNext(.write)
        #expect(code { try finishFirst() } == .inputOutput)
        let outcome = code { if let finishSecond { try finishSecond() } else { _ = try second.commit() } }
        guard outcome == .inputOutput, try store.snapshot()[tree].count == 0 else { return false }
        try store.write { try $0.put("c", [3], in: tree) }
        return try bench.open(disk.crashed(seed: 1)).snapshot()[tree].count == 1
    }

    /// What is written in the place of a commit that failed, and of a large one that was begun on it, has one number all through.
    @Test func whatTakesThePlaceOfFailedCommitsIsReadAgain() throws {
        var bench = bench
        bench.options.transform = SimulatedCipher()
        let store = try bench.open(disk)
        let tree = try store.tree("rows")
        var random = SeededGenerator(seed: 5)
        func values() -> [[UInt8]] {
            (0..<100).map { _ in (0..<5_000).map { _ in UInt8(random.next(below: 256)) } }
        }
        for _ in 0..<3 {
            let first = try store.beginWriting()
            try first.put("first", [UInt8](repeating: 1, count: 9_000), in: tree)
            let finishFirst = try #require(try first.stage())
            let second = try store.beginWriting()
            for (number, value) in values().enumerated() {
                try second.put(Key(UInt64(number)), value, in: tree)
            }
            failNext(.write)
            #expect(code { try finishFirst() } == .inputOutput)
            #expect(code { _ = try second.commit() } == .inputOutput)
            second.rollback()
        }
        let kept = values()
        try store.write { transaction in
            for (number, value) in kept.enumerated() {
                try transaction.put(Key(UInt64(number)), value, in: tree)
            }
        }
        let found = try bench.open(disk.afterCrash(.losesAll)).snapshot()[tree]
        for (number, value) in kept.enumerated() { #expect(try found.value(Key(UInt64(number))) == value) }
    }

    /// Between a failed sync and the cut that follows the process is killed. What the system then shows of the commits may never
    /// get to the medium, whatever sync comes later.
    @Test(arguments: [StoreOptions.Durability.full, .relaxed(interval: 1e9)])
    func aKillAfterAFailedSyncLosesNothingThatIsCommittedLater(durability: StoreOptions.Durability) throws {
        var bench = bench
        bench.options.durability = durability
        for seed in 0..<20 as Range<UInt64> {
            let disk = SimulatedMedium(seed: seed)
            let store = try bench.open(disk)
            for number in 1...5 { try bench.commit(number, to: store) }
            var plan = FaultPlan()
            plan.fail(.sync, at: disk.counts[.sync] + 1)
            plan.fail(.truncate, from: 1)
            disk.faults = plan
            #expect(
                code {
                    try bench.commit(6, to: store)
                    try store.sync()
                } == .writerFailed)
            let next = disk.afterProcessDeath()
            let again = try bench.open(next)
            let shown = try #require(try bench.commitsShown(by: again))
            for number in shown + 1...12 { try bench.commit(number, to: again) }
            try again.sync()
            let crashed = next.afterCrash(.losesAll)
            #expect(try bench.commitsShown(by: try bench.open(crashed)) == 12, "seed \(seed)")
        }
    }

    @Test func aFailedSyncIsNotRepeatedByRelaxedStoresEither() throws {
        var bench = bench
        bench.options.durability = .relaxed(interval: 1e9)
        let store = try bench.open(disk)
        for number in 1...5 { try bench.commit(number, to: store) }
        failNext(.sync)
        #expect(code { try store.sync() } == .writerFailed)
        #expect(code { try store.sync() } == .writerFailed)
        #expect(code { try store.close() } == .writerFailed)
        let again = try bench.open(disk)
        let shown = try #require(try bench.commitsShown(by: again))
        for number in shown + 1...20 { try bench.commit(number, to: again) }
        try again.sync()
        for seed in 0..<20 as Range<UInt64> {
            #expect(try bench.commitsShown(by: try bench.open(disk.crashed(seed: seed))) == 20)
        }
    }

    /// The file then ends with what is on the medium. Who still sees what was committed after that is told what became of it.
    @Test func whatAFailedSyncHasTakenIsNoDamage() throws {
        var bench = bench
        bench.options.durability = .unsynced
        let store = try bench.open(disk)
        let tree = try store.tree("values")
        try store.sync()
        var random = SeededGenerator(seed: 1)
        try store.write { transaction in
            for number in 0..<20 as Range<UInt64> {
                let value = (0..<5_000).map { _ in UInt8(random.next(below: 256)) }
                try transaction.put(Key(number), value, in: tree)
            }
        }
        let values = try store.snapshot()[tree]
        failNext(.sync)
        #expect(code { try store.sync() } == .writerFailed)
        for number in 0..<20 as Range<UInt64> {
            #expect(code { _ = try values.value(Key(number)) } == .writerFailed)
        }
        #expect(code { try store.close() } == .writerFailed)
        #expect(try bench.open(disk).snapshot().tree("values") != nil)
    }

    @Test func aFailedWriteLeavesNothingAndTheNextCommitWorks() throws {
        let store = try bench.open(disk)
        for number in 1...40 {
            failNext(.write)
            #expect(code { try bench.commit(number, to: store) } == .inputOutput)
            disk.faults = FaultPlan()
            #expect(
                try bench.commitsShown(by: try bench.open(disk.crashed(seed: 1, .keepsAll))) == number - 1)
            try bench.commit(number, to: store)
        }
        #expect(try bench.commitsShown(by: store) == 40)
        #expect(try store.check().isClean)
    }

    @Test func aFullDiskRefusesCommitsUntilThereIsSpaceAgain() throws {
        let store = try bench.open(disk)
        var number = 1
        disk.faults.capacity = 30 * 4096
        var refusal: StoreError?
        while refusal == nil, number <= 40 {
            do {
                try bench.commit(number, to: store)
                number += 1
            } catch {
                refusal = error as? StoreError
            }
        }
        #expect(refusal?.code == .noSpace)
        #expect(refusal?.message.contains("the disk is full") == true)
        #expect(try bench.commitsShown(by: store) == number - 1)
        disk.faults.capacity = nil
        while number <= 40 {
            try bench.commit(number, to: store)
            number += 1
        }
        #expect(try bench.commitsShown(by: try bench.open(disk.afterCrash(.losesAll))) == 40)
    }

    @Test func theLastBlocksOfADiskCanBeUsed() throws {
        let disk = SimulatedMedium()
        let store = try Store.open(
            "store", options: StoreOptions(), environment: Simulation.environment(of: disk))
        let tree = try store.tree("tree")
        disk.faults.capacity = 100 * 4096
        var commits = 0
        while code({ try store.write { try $0.put(Key(UInt64(commits)), [1], in: tree) } }) == nil {
            commits += 1
        }
        // The header and its copy, the first commit, the tree's, the lock file; all others hold a commit each.
        #expect(commits >= 100 - 6)
    }

    @Test func shortAndInterruptedCallsAreNotNoticed() throws {
        for kind in [CallKind.read, .write] {
            disk.faults.fail(kind, probability: 0.4, with: .short)
            disk.faults.fail(kind, probability: 0.3, with: .error(.interrupted))
        }
        let store = try bench.open(disk)
        for number in 1...40 { try bench.commit(number, to: store) }
        try store.close()
        #expect(try bench.commitsShown(by: try bench.open(disk)) == 40)
    }

    @Test func everyFailingCallOfACreationLeavesTheNextOneToSucceed() throws {
        for number in 1...30 {
            for kind in [CallKind.create, .write, .sync, .rename, .syncDirectory, .lock, .open, .read, .size]
            {
                let disk = SimulatedMedium(seed: UInt64(number))
                disk.faults.fail(kind, at: number)
                let store = try? bench.open(disk)
                disk.faults = FaultPlan()
                let opened = try store ?? bench.open(disk)
                try bench.commit(1, to: opened)
                #expect(
                    try bench.commitsShown(by: try bench.open(disk.afterCrash(.losesAll))) == 1,
                    "\(kind) \(number)")
            }
        }
    }

    /// The process that makes the store dies before the store's name is durable, and the next process's sync of the directory fails.
    /// No later sync brings back a name that is lost then.
    @Test func aNameWhoseSyncFailedIsGivenOnceMore() throws {
        var hasFailed = false
        for seed in 0..<40 as Range<UInt64> {
            let disk = SimulatedMedium(seed: seed)
            disk.crash(atChange: disk.counts.changes + 1 + Int(seed) % 8)
            _ = try? bench.open(disk)
            disk.crash()
            let next = disk.afterProcessDeath()
            next.faults.fail(.syncDirectory, at: next.counts[.syncDirectory] + 1)
            if code({ try bench.commit(1, to: try bench.open(next)) }) != nil { hasFailed = true }
            next.faults = FaultPlan()
            let store = try bench.open(next)
            for number in (try bench.commitsShown(by: store) ?? 0) + 1...3 {
                try bench.commit(number, to: store)
            }
            for outcome in 0..<5 as Range<UInt64> {
                let again = try bench.open(next.crashed(seed: outcome, .losesAll))
                #expect(try bench.commitsShown(by: again) == 3, "seed \(seed)")
            }
        }
        #expect(hasFailed)
    }
}
