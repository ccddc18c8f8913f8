import Testing

@testable import RoostStorage

/// Keys that have much in common take little room in a leaf, until one comes that has not: then each takes its whole
/// length where they are merged, which no page may have room for.
@Suite struct CommonPrefixTests {
    private let directory: TemporaryDirectory
    private let store: Store
    private let tree: Tree

    init() throws {
        directory = try TemporaryDirectory()
        var options = StoreOptions()
        options.durability = .relaxed(interval: 3600)
        options.compactsAutomatically = false
        options.inlineLimit = 2048
        store = try Store.open(directory.file("store"), options: options)
        tree = try store.tree("entries")
    }

    private func key(_ number: Int, prefix: Int = 300) -> Key {
        Key(String(repeating: "/directory", count: prefix / 10) + String(100_000 + number))
    }

    private func put(_ pairs: [(Key, [UInt8])], checkpoint: Bool = true) throws {
        try store.write { transaction in
            for (key, value) in pairs { try transaction.put(key, value, in: tree) }
        }
        guard checkpoint else { return }
        if let ticket = try store.beginWriting().stage(.always) {
            try store.commitQueue().makeDurable(ticket)
        }
    }

    private func expect(_ expected: [(Key, [UInt8])]) throws {
        let view = try store.snapshot()[tree]
        let cursor = view.cursor()
        for (key, value) in expected.sorted(by: { $0.0 < $1.0 }) {
            try #require(try cursor.next())
            #expect(cursor.key == key)
            #expect(try cursor.value() == value)
        }
        #expect(try !cursor.next())
        for index in stride(from: expected.count - 1, through: 0, by: -97) {
            #expect(try view.rank(expected[index].0) == index)
        }
        try store.close()
        let path = directory.file("store")
        #expect(try Store.check(path).findings.isEmpty)
    }

    @Test(arguments: [true, false])
    func keyWithoutWhatTheOthersStartWith(first: Bool) throws {
        var pairs = (0..<3_000).map { (key($0), [UInt8(truncatingIfNeeded: $0)]) }
        // Leaves that are appended to are closed before their keys' beginnings are known to be the same.
        try put(pairs.reversed())
        let stranger: (Key, [UInt8]) = (Key(first ? "!" : "~"), [1, 2, 3])
        try put([stranger], checkpoint: false)
        pairs.insert(stranger, at: first ? 0 : pairs.count)
        try expect(pairs)
    }

    /// Large values in the front part of the last leaf push its small entries into what would stay in memory.
    @Test func lastLeafSplitAtItsEnd() throws {
        var pairs = (0..<450).map { (key($0), [UInt8(truncatingIfNeeded: $0)]) }
        try put(pairs.reversed())
        for index in 0..<6 { pairs[index].1 = [UInt8](repeating: 7, count: 1_400) }
        pairs.append((key(450), [1]))
        try put(Array(pairs[0..<3]) + [pairs[450]] + Array(pairs[3..<6]), checkpoint: false)
        try expect(pairs)
    }

    /// One leaf becomes many, whose separators are long.
    @Test func leafThatFallsApart() throws {
        var pairs: [(Key, [UInt8])] = (0..<400).map { (key($0, prefix: 4_000), [2]) }
        try put(pairs.reversed())
        // Each has less in common with the keys that are there.
        for length in stride(from: 3_990, through: 10, by: -20) {
            pairs.append((Key(String(repeating: "/directory", count: 399).prefix(length) + "~"), [3]))
        }
        try put(Array(pairs[400...]), checkpoint: false)
        pairs.sort { $0.0 < $1.0 }
        try expect(pairs)
    }

    /// Leaves are full in the file, though their entries took many times as much room in memory.
    @Test func leavesThatGrowAtTheEndAreFull() throws {
        let pairs = (0..<6_000).map { (key($0), [UInt8(truncatingIfNeeded: $0)]) }
        for start in stride(from: 0, to: pairs.count, by: 1_000) {
            try put(Array(pairs[start..<start + 1_000]), checkpoint: false)
        }
        let leaves = try store.inspect().trees.first { $0.name == "entries" }?.levels.first
        // An entry takes some 16 bytes of a leaf of 8 KiB, so that 12 leaves could hold all; 65,535 bytes of memory hold 210.
        #expect(try #require(leaves).nodes < 40)
        try expect(pairs)
    }

    @Test func pagesAreFullDespiteAStranger() throws {
        let builder = LeafBuilder()
        for number in 0..<600 {
            key(number).bytes.withView { builder.add(key: $0, .inline(.empty)) }
        }
        [UInt8]("~".utf8).withView { builder.add(key: $0, .inline(.empty)) }
        #expect(builder.cuts(nodeSize: 8192, packing: true).map(\.count).last == 1)
        #expect(builder.cuts(nodeSize: 8192, packing: true).count == 2)
        let cuts = builder.cuts(nodeSize: 8192, packing: false)
        #expect(cuts.count <= 4)
        for cut in cuts { #expect(builder.build(cut).page.count <= 8192) }
    }
}
