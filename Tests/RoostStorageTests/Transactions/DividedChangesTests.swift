import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// Changes that are made by two threads while their commit is synced.
@Suite struct DividedChangesTests {
    private let directory = try! TemporaryDirectory()
    private var path: String { directory.file("store") }

    private var options: StoreOptions {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.compactsAutomatically = false
        options.manyChanges = 2
        options.fewChanges = 0
        return options
    }

    private func value(_ number: UInt64) -> [UInt8] { [UInt8](repeating: UInt8(number % 251), count: 20) }

    /// Trees of `count` numbers each, all of them written.
    private func fill(_ store: Store, _ names: [String], _ count: UInt64) throws -> [Tree] {
        let trees = try names.map { try store.tree($0) }
        try store.write { transaction in
            for tree in trees {
                for number in 0..<count { try transaction.put(Key(number), value(number), in: tree) }
            }
        }
        let transaction = try store.beginWriting()
        if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
        return trees
    }

    private func parts(_ transaction: StoreTransaction, _ tree: Tree) throws -> Int {
        try transaction.editor(tree).parts().count
    }

    /// What the changes pending in a tree take, counted leaf by leaf.
    private func pendingBytes(_ node: MemoryNode?) -> Int {
        if let leaf = node as? LeafNode { return leaf.pendingBytes }
        guard let branch = node as? BranchNode else { return 0 }
        return (0..<branch.count).reduce(0) { $0 + pendingBytes(branch.memory($1)) }
    }

    /// Each node's separators are in order.
    private func expectOrder(_ node: MemoryNode) {
        guard let branch = node as? BranchNode else { return }
        let separators = (0..<branch.count).map { branch.separators.key($0).array }
        #expect(zip(separators, separators.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        for index in 0..<branch.count {
            if let child = branch.memory(index) { expectOrder(child) }
        }
    }

    private func expectSoundness(_ store: Store, _ tree: Tree) throws {
        let version = try #require(try store.commitQueue().tip.trees[tree.id])
        if case .memory(let node) = version.root {
            #expect(version.pendingBytes == pendingBytes(node))
            expectOrder(node)
        }
        #expect(try store.check().findings == [])
    }

    @Test(arguments: [100, 700, 20_000] as [UInt64]) func treesOfAnyHeightAreDivided(count: UInt64) throws {
        let store = try Store.open(path, options: options)
        let trees = try fill(store, ["one", "two"], count)
        for round in 0..<4 as Range<UInt64> {
            let transaction = try store.beginWriting()
            for tree in trees {
                for number in stride(from: round, to: count, by: 4) {
                    let key = number * 7919 % count
                    if number % 3 == 0 {
                        try transaction.delete(Key(key), in: tree)
                    } else {
                        try transaction.put(Key(key), [UInt8(round)] + value(number), in: tree)
                    }
                }
                #expect(try parts(transaction, tree) > 1)
            }
            try transaction.commit()
            for tree in trees { try expectSoundness(store, tree) }
        }
        let kept = store.snapshot()
        for isReopened in [false, true] {
            if isReopened { try store.close() }
            let snapshot = try isReopened ? Store.open(path, options: options).snapshot() : kept
            for tree in trees {
                var left: UInt64 = 0
                for number in 0..<count {
                    let found = try snapshot[tree].value(Key(number * 7919 % count))
                    #expect(found == (number % 3 == 0 ? nil : [UInt8(number % 4)] + value(number)))
                    if found != nil { left += 1 }
                }
                let total = try snapshot[tree].count
                #expect(total == left, "\(total) \(left)")
            }
        }
    }

    /// Leaves that have no room for all that comes at one place are divided as well, and the nodes above them.
    @Test(arguments: [100, 700] as [UInt64]) func whatGrowsBelowTheRootBecomesSeveralChildren(count: UInt64)
        throws
    {
        let store = try Store.open(path, options: options)
        let tree = try fill(store, ["tree"], count)[0]
        let transaction = try store.beginWriting()
        var keys: [[UInt8]] = []
        for number in 0..<2000 as Range<UInt64> {
            // Between two of the keys that are there, and not in their order.
            keys.append(Key(count / 2).bytes + Key(number * 7919 % 2000).bytes)
            try transaction.put(Key(keys[keys.count - 1]), [UInt8](repeating: 1, count: 120), in: tree)
        }
        for number in 0..<count { try transaction.put(Key(number), [2], in: tree) }
        #expect(try parts(transaction, tree) > 1)
        try transaction.commit()
        try expectSoundness(store, tree)
        try store.write { transaction in
            for key in keys.prefix(1000) { try transaction.put(Key(key), [3], in: tree) }
        }
        try expectSoundness(store, tree)
        try store.close()
        let view = try Store.open(path, options: options).snapshot()[tree]
        #expect(view.count == count + 2000)
        for (index, key) in keys.enumerated() {
            let expected = index < 1000 ? [3] : [UInt8](repeating: 1, count: 120)
            #expect(try view.value(Key(key)) == expected)
        }
    }

    /// One part that fails fails the commit, and nothing of it stays.
    @Test func aPartThatFailsLeavesNothing() throws {
        var options = options
        options.cacheSize = 0
        options.valueAccess = .calls
        let disk = SimulatedMedium()
        let environment = Simulation.environment(of: disk)
        let first = try Store.open("store", options: options, environment: environment)
        let tree = try fill(first, ["tree"], 3000)[0]
        try first.close()
        var failures = 0
        for call in stride(from: 3, to: 60, by: 4) {
            let store = try Store.open("store", options: options, environment: environment)
            _ = try store.snapshot()[tree].value(Key(5 as UInt64))
            let transaction = try store.beginWriting()
            for number in stride(from: 0, to: 3000, by: 7) as StrideTo<UInt64> {
                try transaction.put(Key(number), [UInt8(call)], in: tree)
            }
            #expect(try parts(transaction, tree) > 1)
            disk.faults.fail(.read, at: disk.counts[.read] + call)
            let isCommitted = (try? transaction.commit()) != nil
            disk.faults = FaultPlan()
            if !isCommitted { failures += 1 }
            let number = isCommitted ? UInt8(call) : value(7)[0]
            let found = try store.snapshot()[tree].value(Key(7 as UInt64))
            if isCommitted { #expect(found == [number]) } else { #expect(found != [UInt8(call)]) }
            try store.write { try $0.put(Key(1 as UInt64), [UInt8(call)], in: tree) }
            try expectSoundness(store, tree)
            #expect(try store.snapshot()[tree].count == 3000)
            try store.close()
        }
        #expect(failures > 5)
    }
}
