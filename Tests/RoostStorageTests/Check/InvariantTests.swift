import Testing

@testable import RoostBytes
@testable import RoostStorage

/// Trees in memory keep their form after every kind of change, before anything is written.
@Suite struct InvariantTests {
    @Test(arguments: 1...12)
    func treesInMemoryKeepTheirForm(seed: Int) throws {
        let directory = try TemporaryDirectory()
        var generator = SplitMix64(seed: UInt64(seed))
        var options = StoreOptions()
        options.nodeSize = 1024
        options.pendingLimit = seed % 3 == 0 ? 0 : 1 << 20
        options.inlineLimit = [0, 16, 128][seed % 3]
        options.durability = .relaxed(interval: 60)
        let store = try Store.open(directory.file("store"), options: options)
        for step in 0..<30 {
            let transaction = try store.beginWriting()
            let tree = try transaction.tree("tree")
            let what = try change(transaction, tree, &generator, long: seed % 2 == 1)
            let findings = try transaction.checkInvariants()
            #expect(findings == [], "step \(step): \(what)")
            if !findings.isEmpty { return }
            if Int.random(in: 0..<5, using: &generator) > 0 {
                try transaction.commit()
            } else {
                transaction.rollback()
            }
        }
    }

    /// The stored leaf may hold what is replayed already, because a checkpoint is written along with later commits.
    @Test func replayedLeafTakesThePlaceOfWhatIsStoredAlready() throws {
        let directory = try TemporaryDirectory()
        let store = try Store.open(directory.file("store"))
        let first = try store.beginWriting()
        let tree = try first.tree("tree")
        for number in 0..<20 as Range<UInt64> { try first.put(Key(number), [1], in: tree) }
        if let ticket = try first.stage(.always) { try first.queue.makeDurable(ticket) }
        let transaction = try store.beginWriting()
        defer { transaction.rollback() }
        let editor = try transaction.editor(tree)
        let nodes = editor.context.nodes
        for number in 10..<15 as Range<UInt64> {
            Key(number).bytes.withView { key in [2].withView { nodes.entries.add(key: key, .inline($0)) } }
        }
        let leaf = try nodes.leaf(0..<5, nil, .nothing)
        try editor.replay(.appendLeaf(leaf.chunk), from: ChunkReference(offset: leaf.chunk.end, length: 0))
        #expect(try transaction.checkInvariants() == [])
        var numbers: [UInt64?] = []
        try transaction[tree].forEach { key, _ in
            numbers.append(key.number)
            return true
        }
        #expect(numbers == (0..<15).map { $0 })
    }

    private func change(
        _ transaction: StoreTransaction, _ tree: Tree, _ generator: inout SplitMix64, long: Bool
    ) throws -> String {
        func key() -> Key {
            let number = Int.random(in: 0..<5_000, using: &generator)
            return long ? Key("document-\(number % 7)-\(number)") : Key(UInt64(number))
        }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            let (a, b) = (key(), key())
            try transaction.delete(KeyRange(lower: min(a, b), upper: max(a, b)), in: tree)
            return "range deletion"
        case 1:
            for _ in 0..<500 { try transaction.delete(key(), in: tree) }
            return "deletions"
        case 2:
            let start = Int.random(in: 5_000..<9_000, using: &generator)
            for number in start..<start + 300 {
                try transaction.put(Key(UInt64(number)), [1, 2, 3], in: tree)
            }
            return "appends"
        default:
            for _ in 0..<500 {
                let value = [UInt8](repeating: 7, count: Int.random(in: 0..<200, using: &generator))
                try transaction.put(key(), value, in: tree)
            }
            return "puts"
        }
    }
}
