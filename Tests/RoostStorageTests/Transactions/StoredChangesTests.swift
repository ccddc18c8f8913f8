import RoostBytes
import RoostCampaign
import Testing

@testable import RoostStorage

/// A checkpoint writes of leaves that changed little what changed, and nobody can tell the difference.
@Suite struct StoredChangesTests {
    private let directory = try! TemporaryDirectory()
    private static let count: UInt64 = 20_000

    private func options(nodeSize: Int = 4096, transform: (any ChunkTransformFactory)? = nil) -> StoreOptions
    {
        var options = StoreOptions()
        options.durability = .relaxed(interval: 3600)
        options.compactsAutomatically = false
        options.nodeSize = nodeSize
        options.transform = transform
        options.reductions = [.sum]
        return options
    }

    private func checkpoint(_ store: Store) throws {
        let transaction = try store.beginWriting()
        if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
    }

    /// A store of many entries, all in the file.
    private func fill(_ options: StoreOptions) throws -> (store: Store, model: [String: Model]) {
        let store = try Store.open(directory.file("store"), options: options)
        var model: [String: Model] = ["plain": Model(), "summed": Model()]
        let trees = [try store.tree("plain"), try store.tree("summed", reduction: .sum)]
        try store.write { transaction in
            for number in 0..<Self.count {
                for (tree, name) in zip(trees, ["plain", "summed"]) {
                    let value = Array("value \(number % 7)".utf8)
                    try transaction.put(Key(number), value, in: tree)
                    model[name]?.put(Key(number), value)
                }
            }
        }
        try checkpoint(store)
        return (store, model)
    }

    /// Puts, replaces and deletes entries here and there.
    private func change(
        _ store: Store, _ model: inout [String: Model], _ count: Int, _ random: inout SplitMix64
    ) throws {
        let trees = [try store.tree("plain"), try store.tree("summed", reduction: .sum)]
        try store.write { transaction in
            for _ in 0..<count {
                let key = Key(UInt64.random(in: 0..<Self.count * 2, using: &random))
                let choice = Int.random(in: 0..<3, using: &random)
                let value = (0..<Int.random(in: 0...9, using: &random)).map { UInt8($0) }
                for (tree, name) in zip(trees, ["plain", "summed"]) {
                    if choice == 0 {
                        try transaction.delete(key, in: tree)
                        model[name]?.delete(key)
                    } else {
                        try transaction.put(key, value, in: tree)
                        model[name]?.put(key, value)
                    }
                }
            }
        }
    }

    /// The same with changes beside some leaves.
    private func changed(_ options: StoreOptions) throws -> (store: Store, model: [String: Model]) {
        var (store, model) = try fill(options)
        var random = SplitMix64(seed: 6)
        try change(store, &model, 60, &random)
        try checkpoint(store)
        return (store, model)
    }

    /// The chunks of changes that the file has, whether or not anything leads to them.
    private func storedChanges(_ store: Store, _ options: StoreOptions) throws -> [ChunkReference] {
        let file = store.state.file
        return try FileBytes(path: file.path).chunks(options).filter { $0.kind == .node }.map(\.chunk)
            .filter { try file.changes(at: $0) != nil }
    }

    private func expect(_ model: [String: Model], in store: Store) throws {
        #expect(try store.snapshot().contents() == model)
        #expect(try store.check().isClean)
    }

    @Test(arguments: [false, true], [1024, 4096])
    func entriesAreWhatTheyWereMade(isTransformed: Bool, nodeSize: Int) throws {
        let options = options(nodeSize: nodeSize, transform: isTransformed ? SimulatedCipher() : nil)
        var (store, model) = try fill(options)
        var random = SplitMix64(seed: 3)
        for _ in 0..<10 {
            try change(store, &model, 80, &random)
            try checkpoint(store)
            #expect(try store.snapshot().contents() == model)
        }
        #expect(try storedChanges(store, options).count > 100)
        try expect(model, in: store)
        try store.close()
        store = try Store.open(directory.file("store"), options: options)
        try expect(model, in: store)
        try change(store, &model, 80, &random)
        try store.compact()
        #expect(try storedChanges(store, options) == [])
        try expect(model, in: store)
    }

    /// A hundred entries that change in as many leaves take less than a third of their leaves to write.
    @Test func littleIsWrittenOfLeavesThatChangedLittle() throws {
        let options = options()
        var (store, model) = try fill(options)
        let before = try store.statistics()
        var random = SplitMix64(seed: 9)
        try change(store, &model, 50, &random)
        try checkpoint(store)
        let file = store.state.file
        let (changes, leaves) = try storedChanges(store, options).reduce((0, 0)) { sums, chunk in
            let leaf = try #require(try file.changes(at: chunk)?.leaf)
            return (sums.0 + Int(chunk.length), sums.1 + Int(leaf.length))
        }
        #expect(changes > 0 && changes < leaves / 4)
        let written = try store.statistics().fileBytes - before.fileBytes
        #expect(written < UInt64(leaves))
    }

    /// What was written while nodes were of one size is told apart while they are of another.
    @Test func theSizeOfNodesMayChange() throws {
        var (store, model) = try fill(options(nodeSize: 32_768))
        var random = SplitMix64(seed: 4)
        for nodeSize in [32_768, 512, 4096] {
            try store.close()
            let options = options(nodeSize: nodeSize)
            store = try Store.open(directory.file("store"), options: options)
            for _ in 0..<4 {
                try change(store, &model, 60, &random)
                try checkpoint(store)
            }
            try expect(model, in: store)
        }
    }

    /// A leaf of which most is deleted is joined with its neighbour, though the deletions take little.
    @Test func leavesThatLoseMostAreWrittenWhole() throws {
        var options = options()
        options.inlineLimit = 1024
        let store = try Store.open(directory.file("store"), options: options)
        let tree = try store.tree("wide")
        var random = SplitMix64(seed: 2)
        try store.write { transaction in
            for number in 0..<2000 as Range<UInt64> {
                let value = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
                try transaction.put(Key(number), value, in: tree)
            }
        }
        try checkpoint(store)
        let nodes = try #require(try store.inspect().trees.first).levels[0].nodes
        try store.write { transaction in
            for number in 0..<2000 as Range<UInt64> where number % 10 != 0 {
                try transaction.delete(Key(number), in: tree)
            }
        }
        try checkpoint(store)
        let left = try #require(try store.inspect().trees.first).levels[0].nodes
        #expect(left * 4 < nodes)
    }

    @Test func damageOfEitherChunkIsFound() throws {
        let options = options()
        let (store, model) = try changed(options)
        let chunk = try #require(try storedChanges(store, options).last)
        let leaf = try #require(try store.state.file.changes(at: chunk)?.leaf)
        try store.close()
        let path = directory.file("store")
        let bytes = FileBytes(path: path)
        let good = try bytes.read()
        for (name, damaged) in [("first", chunk), ("second", leaf)] {
            try bytes.flip(damaged.offset + UInt64(damaged.length) - 1)
            let findings = try Store.check(path, options: options).findings
            #expect(findings.contains { $0.offset == damaged.offset || $0.offset == chunk.offset })
            let opened = try Store.open(path, options: options)
            let error = #expect(throws: StoreError.self) { try opened.snapshot().contents() }
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("\(damaged.offset)") == true)
            try opened.close()
            let salvaged = directory.file(name)
            let report = try Store.salvage(path, to: salvaged, options: options)
            #expect(!report.isComplete)
            #expect(try Store.open(salvaged, options: options).snapshot().contents() == model)
            try bytes.write(good)
        }
    }

    /// Changes that lead to themselves or to other changes are damage, not a walk without end.
    @Test func changesThatLeadToChangesAreRefused() throws {
        let options = options()
        let (store, _) = try changed(options)
        let changes = try storedChanges(store, options)
        try store.close()
        let bytes = FileBytes(path: directory.file("store"))
        let good = try bytes.read()
        let last = try #require(changes.last)
        for target in [last, try #require(changes.first)] {
            try bytes.rewrite(last) { payload in
                // The leaf's length takes two bytes before and after.
                for index in 0..<6 {
                    payload[index] = UInt8(truncatingIfNeeded: target.offset >> (8 * UInt64(index)))
                }
                payload[6] = UInt8(target.length & 0x7f) | 0x80
                payload[7] = UInt8(target.length >> 7)
            }
            let opened = try Store.open(directory.file("store"), options: options)
            let error = #expect(throws: StoreError.self) { try opened.snapshot().contents() }
            #expect(error?.code == .damaged)
            #expect(try !Store.check(directory.file("store"), options: options).findings.isEmpty)
            try opened.close()
            try bytes.write(good)
        }
    }
}
