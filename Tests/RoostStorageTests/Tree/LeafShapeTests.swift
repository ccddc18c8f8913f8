import Testing

@testable import RoostStorage

/// Leaves keep their shape where nothing grows.
@Suite struct LeafShapeTests {
    /// Nodes of a load in order are full; entries that are replaced by others of their size must not split them.
    @Test func replacedEntriesLeaveFullLeavesWhole() throws {
        let directory = try TemporaryDirectory()
        var options = StoreOptions()
        options.durability = .relaxed(interval: 3600)
        options.compactsAutomatically = false
        let store = try Store.open(directory.file("store"), options: options)
        let tree = try store.tree("entries")
        func key(_ number: Int) -> Key { Key("a common beginning and \(100_000 + number * 7)") }
        func put(_ numbers: [Int], _ byte: UInt8) throws {
            try store.write { transaction in
                for number in numbers {
                    try transaction.put(key(number), [UInt8](repeating: byte, count: 12), in: tree)
                }
            }
            let transaction = try store.beginWriting()
            if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
        }
        try put(Array(0..<20_000), 1)
        let loaded = try store.inspect().trees.first { $0.name == "entries" }?.levels.first?.nodes
        var generator = SplitMix64(seed: 1)
        try put((0..<5_000).map { _ in Int.random(in: 0..<20_000, using: &generator) }, 2)
        let updated = try store.inspect().trees.first { $0.name == "entries" }?.levels.first?.nodes
        #expect(try #require(loaded) > 50)
        #expect(updated == loaded)
    }
}
