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

    private func open(_ disk: SimulatedMedium, _ options: StoreOptions, seed: UInt64 = 1) throws -> Store {
        try Store.open(
            "store", options: options,
            environment: Environment(
                medium: disk, clock: SimulatedClock(), randomness: SeededRandomness(seed: seed)))
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
