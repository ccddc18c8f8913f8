import RoostCampaign
import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// Stores on one simulated disk that write one file by turns, as processes do.
@Suite struct TakingTurnsTests {
    private let disk = SimulatedMedium()

    private func options(logLimit: Int = 1 << 16, isEncrypted: Bool = false) -> StoreOptions {
        var options = StoreOptions()
        options.writers = .takingTurns
        options.nodeSize = 1024
        options.pendingLimit = logLimit
        options.logLimit = UInt64(logLimit)
        options.compactsAutomatically = false
        if isEncrypted { options.transform = SimulatedCipher() }
        return options
    }

    private func open(
        _ disk: SimulatedMedium, _ options: StoreOptions, seed: UInt64 = 1,
        clock: SimulatedClock = SimulatedClock()
    ) throws -> Store {
        try Store.open(
            "store", options: options,
            environment: Environment(medium: disk, clock: clock, randomness: SeededRandomness(seed: seed)))
    }

    @Test func eachBeginsWithWhatTheOtherCommitted() throws {
        let (first, second) = try (open(disk, options()), open(disk, options(), seed: 2))
        let tree = try first.tree("tree")
        for number in 0..<50 {
            try (number % 2 == 0 ? first : second).write { transaction in
                let before = try transaction[tree, "count"].flatMap { Key($0).number } ?? 0
                #expect(before == UInt64(number))
                try transaction.put("count", Key(before + 1).bytes, in: tree)
            }
        }
        #expect(try first.refresh())
        #expect(try !first.refresh())
        #expect(try first.snapshot()[tree, "count"] == Key(50).bytes)
        #expect(first.snapshot().commit.number == second.snapshot().commit.number)
    }

    @Test func aCommitWithoutARivalIsOneWriteAndOneSync() throws {
        let store = try open(disk, options())
        let tree = try store.tree("tree")
        let before = disk.counts
        for number in 0..<20 { try store.write { try $0.put(Key(UInt64(number)), [1], in: tree) } }
        let cost = disk.counts - before
        #expect(cost[.write] == 20)
        #expect(cost[.sync] == 20)
    }

    /// What the source was is then no longer in the file, as where another process has compacted it.
    @Test func aCompactionBesideASyncThatFailsTellsOfTheSync() throws {
        var options = options()
        options.durability = .unsynced
        let store = try open(disk, options)
        let tree = try store.tree("tree")
        try store.sync()
        try store.write { try $0.put("key", [1], in: tree) }
        disk.faults.fail(.sync, at: disk.counts[.sync] + 1)
        var syncing: StoreError?
        disk.beginInterludes(SeededGenerator(seed: 1)) { kind in
            guard kind == .write, syncing == nil else { return }
            do { try store.sync() } catch { syncing = error as? StoreError }
        }
        let failure = #expect(throws: StoreError.self) { try store.compact() }
        #expect(syncing?.code == .writerFailed)
        #expect(failure?.code == .writerFailed)
        #expect(throws: StoreError.self) { try store.beginWriting() }
    }

    /// However late it comes: who writes the first may be the thread that begins the second.
    @Test(arguments: [0, 1_000_000] as [UInt64])
    func aTransactionBeginsOnOneThatIsStaged(afterMicroseconds delay: UInt64) throws {
        let clock = SimulatedClock()
        let (first, second) = try (open(disk, options(), clock: clock), open(disk, options(), seed: 2))
        let tree = try first.tree("tree")
        let staged = try first.beginWriting()
        try staged.put("staged", [1], in: tree)
        let finish = try #require(try staged.stage())
        clock.advance(by: delay)
        let next = try first.beginWriting()
        #expect(try next[tree, "staged"] == [1])
        try next.put("next", [2], in: tree)
        try finish()
        // The turn goes on until the last of them is written.
        #expect(throws: StoreError.self) { try second.beginWriting() }
        try next.commit()
        #expect(try second.write { [try $0[tree, "staged"], try $0[tree, "next"]] } == [[1], [2]])
    }

    @Test func aStagedTransactionThatChangedNothingEndsTheTurn() throws {
        let (first, second) = try (open(disk, options()), open(disk, options(), seed: 2))
        let tree = try first.tree("tree")
        let finish = try first.beginWriting().stage()
        #expect(finish == nil)
        try second.write { try $0.put("key", [1], in: tree) }
        #expect(try first.write { try $0[tree, "key"] } == [1])
    }

    @Test func aRefusedTransactionEndsTheTurn() throws {
        let (first, second) = try (open(disk, options()), open(disk, options(), seed: 2))
        let tree = try first.tree("tree")
        let refused = try first.beginWriting()
        try refused.put("key", [1], in: tree)
        refused.rollbackAwaitingBase()
        try second.write { try $0.put("key", [2], in: tree) }
        #expect(try first.write { try $0[tree, "key"] } == [2])
    }

    // MARK: Media that fail

    /// Commits whose sync failed must not be built upon: a later sync, of whichever process, need not make up for it.
    @Test func whatCouldNotBeSyncedIsTakenBack() throws {
        for seed in 0..<20 as Range<UInt64> {
            let disk = SimulatedMedium(seed: seed)
            var relaxed = options()
            relaxed.durability = .relaxed(interval: 1e9)
            let first = try open(disk, relaxed)
            let tree = try first.tree("tree")
            try first.sync()
            for number in 0..<5 { try first.write { try $0.put(Key(UInt64(number)), [1], in: tree) } }
            disk.faults.fail(.sync, at: disk.counts[.sync] + 1)
            #expect(code { try first.sync() } == .writerFailed)
            #expect(code { try first.write { try $0.put("late", [1], in: tree) } } == .writerFailed)
            let second = try open(disk, options(), seed: 2)
            #expect(try second.snapshot()[tree].count == 0)
            try second.write { try $0.put("key", [2], in: tree) }
            let third = try open(disk.crashed(seed: seed), options(), seed: 3)
            #expect(try third.snapshot()[tree].entries().map(\.value) == [[2]], "seed \(seed)")
        }
    }

    /// Who catches up with commits that their writer has not synced makes them durable before building on them, whatever it
    /// takes, or builds nothing.
    @Test(arguments: [1, 2])
    func whatAnotherLeftUnsyncedIsMadeDurable(failures: Int) throws {
        for seed in 0..<20 as Range<UInt64> {
            let disk = SimulatedMedium(seed: seed)
            var relaxed = options()
            relaxed.durability = .relaxed(interval: 1e9)
            let (first, second) = try (open(disk, relaxed), open(disk, options(), seed: 2))
            let tree = try first.tree("tree")
            try second.refresh()
            for number in 0..<5 { try first.write { try $0.put(Key(UInt64(number)), [1], in: tree) } }
            for number in 1...failures { disk.faults.fail(.sync, at: disk.counts[.sync] + number) }
            let put = { try second.write { try $0.put("key", [2], in: tree) } }
            if failures == 1 {
                try put()
            } else {
                #expect(code(put) == .writerFailed)
                #expect(code(put) == .writerFailed)
            }
            let third = try open(disk.crashed(seed: seed, .losesAll), options(), seed: 3)
            let expected: [[UInt8]] = Array(repeating: [1], count: 5) + [[2]]
            if failures == 1 {
                #expect(try third.snapshot()[tree].entries().map(\.value) == expected, "seed \(seed)")
            }
            #expect(try third.check().isClean, "seed \(seed)")
        }
    }

    @Test func aTransactionCanBeSyncedAround() throws {
        var relaxed = options()
        relaxed.durability = .relaxed(interval: 1e9)
        let (first, second) = try (open(disk, relaxed), open(disk, options(), seed: 2))
        let tree = try first.tree("tree")
        try first.write { try $0.put("a", [1], in: tree) }
        let transaction = try first.beginWriting()
        try transaction.put("b", [2], in: tree)
        try first.sync()
        #expect(try open(disk.crashed(seed: 1, .losesAll), options()).snapshot()[tree].count == 1)
        try transaction.commit()
        // The sync has left the file to others.
        #expect(try second.write { try $0[tree, "b"] } == [2])
    }

    @Test(.timeLimit(.minutes(1))) func relaxedCommitsAreSyncedBeforeLong() async throws {
        var relaxed = options()
        relaxed.durability = .relaxed(interval: 0.001)
        let store = try open(disk, relaxed)
        try Self.put("key", into: store)
        var count: UInt64 = 0
        while count == 0 {
            try Task.checkCancellation()
            await Task.yield()
            let found = try open(disk.crashed(seed: 1, .losesAll), options()).snapshot()
            count = try found.tree("tree").map { try found[$0].count } ?? 0
        }
        #expect(count == 1)
    }

    private static func put(_ key: Key, into store: Store) throws {
        let tree = try store.tree("tree")
        try store.write { try $0.put(key, [1], in: tree) }
    }

    /// Leaves that opening made of the log are bound to their place; what is cut off after them must not change that.
    @Test func whatOpeningMadeOfTheLogOutlivesARollback() throws {
        let options = options(logLimit: 1 << 20, isEncrypted: true)
        var store = try open(disk, options)
        let tree = try store.tree("tree")
        for number in 0..<200 {
            try store.write { try $0.put(Key(UInt64(number)), [UInt8](repeating: 1, count: 100), in: tree) }
        }
        try store.close()
        store = try open(disk, options, seed: 2)
        #expect(!store.state.replayed.isEmpty)
        let large = try store.beginWriting()
        for number in 0..<40 {
            try large.put(Key(UInt64(number)), [UInt8](repeating: 2, count: 100_000), in: tree)
        }
        large.rollback()
        try store.beginWriting().commitCheckpoint()
        try store.write { try $0.put("key", [3], in: tree) }
        #expect(try store.check().isClean)
        let again = try open(disk, options, seed: 3).snapshot()
        #expect(try again[tree].count == 201)
        #expect(try again[tree].value(Key(7)) == [UInt8](repeating: 1, count: 100))
    }

    /// A crash amid the renaming may leave the compacted file under both names.
    @Test func theSecondNameOfACompactedFileIsTakenAway() throws {
        var second = 0
        for seed in 0..<20 as Range<UInt64> {
            let disk = SimulatedMedium(seed: seed)
            let store = try open(disk, options())
            let tree = try store.tree("tree")
            try store.write { try $0.put("key", [1], in: tree) }
            disk.faults.fail(.syncDirectory, at: disk.counts[.syncDirectory] + 1)
            #expect(throws: StoreError.self) { try store.compact() }
            let after = disk.crashed(seed: seed)
            if after.contents(of: "store.compact") == after.contents(of: "store") { second += 1 }
            let (third, fourth) = try (open(after, options()), open(after, options(), seed: 4))
            #expect(after.contents(of: "store.compact") == nil, "seed \(seed)")
            try fourth.compact()
            #expect(try third.write { try $0[tree, "key"] } == [1])
        }
        #expect(second > 0)
    }

    /// Random transactions of three stores: committed, rolled back, large and small, with compactions; snapshots that are
    /// kept show for ever what they showed; now and then the power fails, or a store is opened anew.
    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8], [false, true])
    func theyActAsOne(seed: UInt64, isEncrypted: Bool) throws {
        var random = SplitMix64(seed: seed)
        let options = options(logLimit: [1 << 12, 1 << 15, 1 << 20][Int(seed % 3)], isEncrypted: isEncrypted)
        var disk = disk
        var stores = try (0..<3).map { try open(disk, options, seed: UInt64($0) &+ seed) }
        let tree = try stores[0].tree("tree")
        var model = Model()
        var kept: [(snapshot: Snapshot, model: Model)] = []
        for step in 0..<150 {
            let index = Int.random(in: 0..<stores.count, using: &random)
            let store = stores[index]
            var changed = model
            let transaction = try store.beginWriting()
            for _ in 0..<Int.random(in: 1...(step % 10 == 0 ? 200 : 12), using: &random) {
                let key = Key(UInt64.random(in: 0..<600, using: &random))
                if Int.random(in: 0..<4, using: &random) == 0 {
                    try transaction.delete(key, in: tree)
                    changed.delete(key)
                } else {
                    let length = Int.random(in: 0..<(step % 10 == 0 ? 3000 : 200), using: &random)
                    let value = [UInt8](repeating: UInt8(step & 255), count: length)
                    try transaction.put(key, value, in: tree)
                    changed.put(key, value)
                }
            }
            switch Int.random(in: 0..<20, using: &random) {
            case 0: transaction.rollback()
            case 1:
                transaction.rollback()
                try store.compact()
            case 2:
                try transaction.commit()
                model = changed
                // The power fails: what is acknowledged is there afterwards.
                disk = disk.crashed(seed: random.next())
                stores = try (0..<3).map { try open(disk, options, seed: random.next() &+ UInt64($0)) }
                kept = []
            case 3:
                try transaction.commit()
                model = changed
                try store.close()
                stores[index] = try open(disk, options, seed: random.next())
            default:
                try transaction.commit()
                model = changed
            }
            if Int.random(in: 0..<8, using: &random) == 0 {
                let reader = stores[Int.random(in: 0..<stores.count, using: &random)]
                try reader.refresh()
                kept.append((reader.snapshot(), model))
            }
            if step % 25 == 24 {
                for (snapshot, model) in kept {
                    let found = try snapshot[tree].entries()
                    #expect(found.map(\.key) == model.sorted.map(\.key), "seed \(seed), step \(step)")
                    #expect(found.map(\.value) == model.sorted.map(\.value), "seed \(seed), step \(step)")
                }
            }
        }
        for store in stores {
            try store.refresh()
            let found = try store.snapshot()[tree].entries()
            #expect(found.map(\.key) == model.sorted.map(\.key), "seed \(seed)")
            #expect(found.map(\.value) == model.sorted.map(\.value), "seed \(seed)")
            #expect(try store.check().isClean, "seed \(seed)")
        }
    }

    /// Whatever change of the disk is the last before the power fails, those who come after go on with all that was
    /// acknowledged.
    @Test func aPowerFailureLosesNothingAcknowledged() throws {
        for change in 1..<60 {
            let disk = SimulatedMedium()
            let (first, second) = try (open(disk, options(logLimit: 1 << 12)), open(disk, options(), seed: 2))
            let tree = try first.tree("tree")
            try second.refresh()
            var acknowledged = 0
            disk.crash(atChange: change)
            do {
                for number in 0..<20 {
                    try first.write {
                        try $0.put(Key(UInt64(number)), [UInt8](repeating: 1, count: 500), in: tree)
                    }
                    acknowledged = number + 1
                }
            } catch {}
            let after = disk.crashed(seed: UInt64(change))
            let (third, fourth) = try (open(after, options()), open(after, options(), seed: 4))
            let found = Int(try third.snapshot()[tree].count)
            #expect(acknowledged...acknowledged + 1 ~= found, "change \(change)")
            try fourth.write { try $0.put(Key(1000), [2], in: tree) }
            try third.write { try $0.put(Key(1001), [2], in: tree) }
            #expect(Int(try third.snapshot()[tree].count) == found + 2, "change \(change)")
            #expect(try fourth.check().isClean)
        }
    }

    @Test func whatStandsAfterTheLastCommitIsCutOff() throws {
        let (first, second) = try (open(disk, options()), open(disk, options(), seed: 2))
        let tree = try first.tree("tree")
        try second.refresh()
        // Half of a commit, as a killed process leaves it.
        let end = first.state.record.end
        let file = try disk.open("store", .readWrite)
        let torn = [UInt8](repeating: 0xA5, count: 3 * Format.blockSize)
        try unsafe torn.withUnsafeBytes { try unsafe file.writeFully($0, at: end) }
        try second.write { try $0.put("key", [1], in: tree) }
        #expect(try disk.open("store", .readOnly).size() < end + UInt64(torn.count))
        #expect(try first.write { try $0[tree, "key"] } == [1])
        #expect(try first.check().isClean)
    }
}
