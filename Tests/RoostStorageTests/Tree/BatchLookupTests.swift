import RoostSimulation
import Testing

@testable import RoostStorage

/// Looking up many keys in one walk.
@Suite struct BatchLookupTests {
    private let disk = SimulatedMedium()

    private func open(cacheSize: Int = 1 << 20) throws -> Store {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.cacheSize = cacheSize
        options.valueAccess = .calls
        return try Store.open("store", options: options, environment: Simulation.environment(of: disk))
    }

    @Test(arguments: [UInt64(1), 2, 3]) func itFindsWhatSingleLookUpsFind(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let store = try open()
        let tree = try store.tree("tree")
        for _ in 0..<6 {
            try store.write { transaction in
                for _ in 0..<400 {
                    let key = Key(UInt64.random(in: 0..<2000, using: &random))
                    if Bool.random(using: &random), Bool.random(using: &random) {
                        try transaction.delete(key, in: tree)
                    } else {
                        let length = Int.random(in: 0..<300, using: &random)
                        try transaction.put(
                            key, [UInt8](repeating: UInt8(length & 255), count: length), in: tree)
                    }
                }
                let keys = (0..<300).map { _ in Key(UInt64.random(in: 0..<2100, using: &random)) }
                let view = try transaction[tree]
                #expect(
                    try view.values(keys) == keys.map { try view.value($0) }, "seed \(seed), in a transaction"
                )
            }
            // In memory, partly in memory, and stored.
            let view = try store.snapshot()[tree]
            let keys = (0..<500).map { _ in Key(UInt64.random(in: 0..<2100, using: &random)) }
            #expect(try view.values(keys) == keys.map { try view.value($0) }, "seed \(seed)")
        }
        let keys = (0..<2100).map { Key(UInt64($0)) }
        try store.close()
        let again = try open()
        let view = try again.snapshot()[tree]
        #expect(try view.values(keys.reversed()) == keys.reversed().map { try view.value($0) })
        #expect(try view.values([]).isEmpty)
        #expect(try view.values([keys[7], keys[7]]) == [view.value(keys[7]), view.value(keys[7])])
    }

    @Test func eachNodeIsReadOnce() throws {
        let filled = try open()
        let tree = try filled.tree("tree")
        try filled.write { transaction in
            for number in 0..<4000 {
                try transaction.put(Key(UInt64(number)), [UInt8](repeating: 1, count: 60), in: tree)
            }
        }
        try filled.compact()
        try filled.close()
        // Without a cache every visit of a node is a read of the medium.
        let store = try open(cacheSize: 0)
        let view = try store.snapshot()[tree]
        let keys = (0..<4000).map { Key(UInt64($0)) }
        let single = disk.counts
        _ = try view.value(keys[2000])
        let one = (disk.counts - single)[.read]
        let before = disk.counts
        #expect(try view.values(keys).count { $0 != nil } == 4000)
        let reads = (disk.counts - before)[.read]
        let levels = try #require(try store.inspect().trees.first { $0.name == "tree" }).levels
        let nodes = levels.reduce(0) { $0 + Int($1.nodes) }
        #expect(nodes > 100)
        // One look-up reads a node of each level.
        #expect(reads * levels.count <= nodes * one)
    }
}
