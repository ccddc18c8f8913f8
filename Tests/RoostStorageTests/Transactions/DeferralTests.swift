import Dispatch
import Synchronization
import Testing

@testable import RoostStorage

/// Changes that a transaction leaves to be made while its commit is synced.
@Suite struct DeferralTests {
    private let directory = try! TemporaryDirectory()
    private var path: String { directory.file("store") }

    private var options: StoreOptions {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.compactsAutomatically = false
        return options
    }

    private func value(_ number: UInt64) -> [UInt8] { [UInt8](repeating: UInt8(number % 251), count: 20) }

    /// A store with a tree of `count` numbers, all of it written.
    private func store(_ count: UInt64, _ options: StoreOptions) throws -> (Store, Tree) {
        let store = try Store.open(path, options: options)
        let tree = try store.tree("numbers")
        try store.write { transaction in
            for number in 0..<count { try transaction.put(Key(number), value(number), in: tree) }
        }
        let transaction = try store.beginWriting()
        if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
        return (store, tree)
    }

    private func pending(_ transaction: StoreTransaction, _ tree: Tree) throws -> Int {
        try transaction.editor(tree).deferredCount
    }

    @Test func changesWaitUntilTheCommitAndAreThereAfterwards() throws {
        let (store, tree) = try store(1000, options)
        let transaction = try store.beginWriting()
        for number in stride(from: 0, to: 1000, by: 3) as StrideTo<UInt64> {
            try transaction.put(Key(number), [1], in: tree)
            try transaction.delete(Key(number + 1), in: tree)
        }
        #expect(try pending(transaction, tree) > 600)
        try transaction.commit()
        let kept = try store.snapshot()[tree]
        for isClosed in [false, true] {
            if isClosed { try store.close() }
            let view = try Store.open(path, options: reading).snapshot()[tree]
            for snapshot in [kept, view] {
                #expect(snapshot.count == 667)
                for number in 0..<1000 as Range<UInt64> {
                    let expected = [[1], nil, value(number)][Int(number % 3)]
                    #expect(try snapshot.value(Key(number)) == expected)
                }
            }
        }
    }

    /// A single put waits as well. The one after it shows whether keys are being appended.
    @Test func aPutWaitsForTheNextOneAtMost() throws {
        let (store, tree) = try store(1000, options)
        let transaction = try store.beginWriting()
        try transaction.put(Key(500), [1], in: tree)
        #expect(try pending(transaction, tree) == 1)
        try transaction.delete(Key(600), in: tree)
        #expect(try pending(transaction, tree) == 2)
        try transaction.put(Key(400), [2], in: tree)
        #expect(try pending(transaction, tree) == 1, "the next one had those before made")
        try transaction.put(Key(300), [3], in: tree)
        #expect(try pending(transaction, tree) == 2)
        try transaction.commit()
        try store.write { try $0.put(Key(200), [4], in: tree) }
        let view = try store.snapshot()[tree]
        #expect(try [500, 600, 400, 300, 200].map { try view.value(Key($0)) } == [[1], nil, [2], [3], [4]])
    }

    @Test func keysThatGrowAreAppendedFromTheSecondOneOn() throws {
        let store = try Store.open(path, options: options)
        let tree = try store.tree("numbers")
        for start in [0, 5000] as [UInt64] {
            let transaction = try store.beginWriting()
            try transaction.put(Key(start), value(start), in: tree)
            #expect(try pending(transaction, tree) == 1)
            for number in start + 1..<start + 5000 {
                try transaction.put(Key(number), value(number), in: tree)
                #expect(try pending(transaction, tree) == 0)
            }
            try transaction.commit()
        }
        let view = try store.snapshot()[tree]
        #expect(view.count == 10_000)
        for number in 0..<10_000 as Range<UInt64> { #expect(try view.value(Key(number)) == value(number)) }
        #expect(try store.check().isClean)
    }

    /// Making changes that wait can open the last leaf for appending and then put greater keys there.
    @Test(arguments: (430..<450).map { UInt64($0) * 2 })
    func aKeyBelowThoseThatWaitedStaysInOrder(end: UInt64) throws {
        let (store, tree) = try store(100, options)
        try store.write { transaction in
            try transaction.put(Key(0), value(0), in: tree)
            for number in stride(from: 100, through: end, by: 2) as StrideThrough<UInt64> {
                try transaction.put(Key(number), value(number), in: tree)
            }
            #expect(try pending(transaction, tree) > 300)
            try transaction.editor(tree).makeDeferred()
            try transaction.put(Key(end - 1), value(end - 1), in: tree)
        }
        let view = try store.snapshot()[tree]
        #expect(try view.value(Key(end - 1)) == value(end - 1))
        #expect(try view.value(Key(end)) == value(end))
        #expect(try store.check().findings == [])
    }

    private var reading: StoreOptions {
        var options = options
        options.isReadOnly = true
        return options
    }

    @Test func lookingUpOtherKeysLetsChangesWait() throws {
        let (store, tree) = try store(1000, options)
        let transaction = try store.beginWriting()
        for number in stride(from: 900, to: 0, by: -1) as StrideTo<UInt64> {
            #expect(try transaction[tree, Key(number)] == value(number))
            try transaction.put(Key(number), [1], in: tree)
        }
        #expect(try pending(transaction, tree) > 500)
        #expect(try transaction[tree, Key(900)] == [1])
        #expect(try transaction[tree, Key(5)] == [1])
        #expect(try pending(transaction, tree) == 0, "a key that waited was looked up")
        try transaction.put(Key(17), [2], in: tree)
        #expect(try transaction[tree].value(Key(17)) == [2])
        try transaction.put(Key(17), [3], in: tree)
        #expect(try pending(transaction, tree) == 0, "a view shows all, so what follows is made at once")
        transaction.rollback()
        #expect(try store.snapshot()[tree].value(Key(17)) == value(17))
    }

    /// What is appended is logged after what waits, so the two must not be about the same key.
    @Test func whatIsAppendedNeverWaitsBehindOrOvertakes() throws {
        let (store, tree) = try store(100, options)
        let transaction = try store.beginWriting()
        for number in 100..<400 as Range<UInt64> {
            try transaction.put(Key(number), [1], in: tree)
            if number % 2 == 0 { try transaction.delete(Key(number - 60), in: tree) }
            if number % 10 == 0 { try transaction.delete(Key(number), in: tree) }
            if number % 20 == 0 { try transaction.put(Key(number), [2], in: tree) }
            if number % 5 == 0 { try transaction.delete(Key(number + 1), in: tree) }
        }
        try transaction.commit()
        try store.close()
        let view = try Store.open(path, options: options).snapshot()[tree]
        for number in 0..<400 as Range<UInt64> {
            var expected = number < 100 ? value(number) : [1]
            if number >= 100, number % 20 == 0 { expected = [2] }
            let isDeleted =
                number % 2 == 0 && (40...338).contains(number) || number > 338 && number % 20 == 10
            #expect(try view.value(Key(number)) == (isDeleted ? nil : expected), "\(number)")
        }
    }

    /// All changes of a commit in one leaf: more than a page holds, when no leaf can be written any more.
    @Test(arguments: [10, 400])
    func aLeafThatOverflowsIsDivided(length: Int) throws {
        let (store, tree) = try store(20, options)
        let start = [UInt8](repeating: 7, count: length)
        let keys = (0..<3000 as Range<UInt64>).map { Key([0, 0, 1] + start + Key($0 * 7919 % 3000).bytes) }
        let transaction = try store.beginWriting()
        for key in keys { try transaction.put(key, value(1), in: tree) }
        #expect(try pending(transaction, tree) > 2000)
        try transaction.commit()
        let view = try store.snapshot()[tree]
        #expect(view.count == 3020)
        for key in keys { #expect(try view.value(key) == value(1)) }
        #expect(try store.check().isClean)
        try store.write { try $0.put(Key(UInt64(3)), [9], in: tree) }
        #expect(try overfull(store, tree) == 0)
        try store.close()
        let again = try Store.open(path, options: options)
        #expect(try again.snapshot()[tree].count == 3020)
        #expect(try again.check().isClean)
    }

    /// How many leaves have more pending changes than a node holds.
    private func overfull(_ store: Store, _ tree: Tree) throws -> Int {
        func count(_ node: MemoryNode) -> Int {
            if let leaf = node as? LeafNode {
                return leaf.base != nil && leaf.delta.used > options.nodeSize ? 1 : 0
            }
            guard let inner = node as? BranchNode else { return 0 }
            return (0..<inner.count).reduce(0) { $0 + (inner.memory($1).map(count) ?? 0) }
        }
        guard case .memory(let root)? = store.state.trees[tree.id]?.root else { return 0 }
        return count(root)
    }

    @Test func theNextTransactionWritesLeavesThatWereFoundFull() throws {
        let (store, tree) = try store(5000, options)
        var generator = SplitMix64(seed: 1)
        var seen = 0
        for _ in 0..<60 {
            try store.write { transaction in
                for _ in 0..<100 {
                    let number = UInt64.random(in: 0..<5000, using: &generator)
                    try transaction.put(Key(number), value(number), in: tree)
                }
            }
            seen += try overfull(store, tree)
            let before = store.state.trees[tree.id]?.fullLeaves.count ?? 0
            #expect(try overfull(store, tree) <= before)
        }
        #expect(seen > 0)
        try store.write { try $0.put(Key(UInt64(1)), [1], in: tree) }
        #expect(try overfull(store, tree) == 0)
        #expect(try store.check().isClean)
    }

    /// Commits that share syncs, each of which makes its changes beside the others' syncs.
    @Test func manyThreadsMakeTheirChangesBesideSyncs() throws {
        let store = try Store.open(path, options: options)
        let trees = try (0..<4).map { try store.tree("tree \($0)") }
        let failures = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 5) { thread in
            do {
                guard thread < 4 else { return try Self.follow(store, trees) }
                for round in 0..<30 as Range<UInt64> {
                    try store.write { transaction in
                        for number in 0..<60 as Range<UInt64> {
                            let key = Key(number &* 7919 % 97)
                            try transaction.put(key, Key(round).bytes, in: trees[thread])
                        }
                    }
                }
            } catch {
                failures.add(1, ordering: .relaxed)
            }
        }
        #expect(failures.load(ordering: .relaxed) == 0)
        for tree in trees {
            #expect(try store.snapshot()[tree].count == 60)
            try store.snapshot()[tree].forEach { _, value in
                #expect(value == Key(UInt64(29)).bytes)
                return true
            }
        }
        #expect(try store.check().isClean)
    }

    /// Each snapshot shows whole commits.
    private static func follow(_ store: Store, _ trees: [Tree]) throws {
        for _ in 0..<200 {
            let snapshot = store.snapshot()
            for tree in trees {
                var values: Set<[UInt8]> = []
                try snapshot[tree].forEach { _, value in
                    values.insert(value)
                    return true
                }
                #expect(values.count <= 1)
            }
        }
    }

    /// The leaf turns out to be damaged when the commit's bytes are already on their way: written by this thread where the changes
    /// are few, else by another one.
    @Test(arguments: [0, 5, 100] as [UInt64])
    func aChangeThatCannotBeMadeTakesItsCommitBack(others: UInt64) throws {
        var options = options
        options.cacheSize = 0
        var (store, tree) = try store(2000, options)
        try store.close()
        let file = FileBytes(path: path)
        let leaf = try leaf(holding: 1500, in: tree, file)
        let sound = try file.read()
        try file.flip(leaf.offset + UInt64(leaf.length) / 2)
        store = try Store.open(path, options: options)
        let commit = store.state.record.number
        let outcome = code {
            try store.write { transaction in
                for number in 0..<others { try transaction.put(Key(number * 7), [1], in: tree) }
                try transaction.put(Key(UInt64(1500)), [1], in: tree)
                // The first put was made by the second.
                #expect(try pending(transaction, tree) == max(Int(others), 1))
            }
        }
        #expect(outcome == .damaged)
        #expect(store.state.record.number == commit)
        #expect(try mended(leaf, as: sound).state.record.number == commit)
        #expect(try store.snapshot()[tree].value(Key(UInt64(7))) == value(7))
        // Others can still be made, and take the refused one's place.
        try store.write { transaction in
            for number in 0..<100 as Range<UInt64> { try transaction.put(Key(number * 5), [2], in: tree) }
        }
        try store.close()
        store = try mended(leaf, as: sound)
        #expect(store.state.record.number > commit)
        let view = try store.snapshot()[tree]
        for number in 0..<2000 as Range<UInt64> {
            let isChanged = number < 500 && number % 5 == 0
            #expect(try view.value(Key(number)) == (isChanged ? [2] : value(number)))
        }
        #expect(try store.check().isClean)
    }

    /// A copy of the store as it is now, with `leaf` as it was in `sound`.
    private func mended(_ leaf: ChunkReference, as sound: [UInt8]) throws -> Store {
        var bytes = try FileBytes(path: path).read()
        bytes.replaceSubrange(Int(leaf.offset)..<Int(leaf.end), with: sound[Int(leaf.offset)..<Int(leaf.end)])
        let copy = FileBytes(path: directory.file("copy"))
        try copy.write(bytes)
        return try Store.open(copy.path, options: options)
    }

    /// The stored leaf with `number`.
    private func leaf(holding number: UInt64, in tree: Tree, _ file: FileBytes) throws -> ChunkReference {
        let data = try file.open(options)
        let replayer = Replayer(file: data, reductions: [], nodeSize: 1024)
        let checkpoint = try #require(try file.commits().last { $0.kind == .checkpoint })
        guard case .stored(var child, var level)? = try replayer.load(checkpoint).trees[tree.id]?.root else {
            throw StoreError(.notFound, "no stored root")
        }
        while level > 0 {
            let payload = try data.payload(.node, child.chunk)
            child = try payload.withView { bytes in
                let page = try #require(PageView(bytes))
                return try page.child(Key(number).bytes.withView { page.childIndex($0) })
            }
            level -= 1
        }
        return child.chunk
    }
}
