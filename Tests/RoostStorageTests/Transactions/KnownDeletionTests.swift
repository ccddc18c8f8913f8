import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// Deletions of entries that another tree says are there: their leaves are not read.
@Suite struct KnownDeletionTests {
    private let disk = SimulatedMedium()

    private func open() throws -> Store {
        var options = StoreOptions()
        options.cacheSize = 1 << 19
        options.valueAccess = .calls
        options.compactsAutomatically = false
        options.nodeSize = 1024
        options.fewChanges = 0
        return try Store.open("store", options: options, environment: Simulation.environment(of: disk))
    }

    /// A store with entries under all even numbers below 1,000, all of them written, and nothing in the cache.
    private func store() throws -> (Store, Tree) {
        let store = try open()
        let tree = try store.tree("tree")
        try store.write { transaction in
            for number in stride(from: 0, to: 1000, by: 2) as StrideTo<UInt64> {
                try transaction.put(Key(number), [1, 2, 3], in: tree)
            }
        }
        let transaction = try store.beginWriting()
        if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
        try store.close()
        return (try open(), tree)
    }

    private func delete(_ number: UInt64, _ transaction: StoreTransaction, _ tree: Tree) throws {
        try Key(number).bytes.withView { try transaction.deleteKnown($0, in: tree) }
    }

    @Test func theLeavesAreNotRead() throws {
        let (store, tree) = try store()
        // Branch nodes are.
        #expect(try store.snapshot()[tree].value(Key(500 as UInt64)) == [1, 2, 3])
        let before = disk.counts
        try store.write { transaction in
            for number in [2, 300, 302, 700, 998] as [UInt64] { try delete(number, transaction, tree) }
        }
        #expect((disk.counts - before)[.read] == 0)
        // One that is not known to be there is looked for.
        try store.write { try $0.delete(Key(850 as UInt64), in: tree) }
        #expect((disk.counts - before)[.read] > 0)
        let view = try store.snapshot()[tree]
        #expect(view.count == 494)
        for number in [2, 300, 302, 700, 998] as [UInt64] { #expect(try view.value(Key(number)) == nil) }
        #expect(try view.value(Key(304 as UInt64)) == [1, 2, 3])
        #expect(try store.check().findings.isEmpty)
        try store.close()
        #expect(try open().snapshot()[tree].count == 494)
    }

    @Test func whatTheTransactionPutBeforeIsDeletedToo() throws {
        let (store, tree) = try store()
        try store.write { transaction in
            for number in [501, 1001, 1003] as [UInt64] { try transaction.put(Key(number), [4], in: tree) }
            for number in [500, 501, 1001] as [UInt64] { try delete(number, transaction, tree) }
        }
        let view = try store.snapshot()[tree]
        #expect(view.count == 500)
        for number in [500, 501, 1001] as [UInt64] { #expect(try view.value(Key(number)) == nil) }
        #expect(try view.value(Key(1003 as UInt64)) == [4])
        #expect(try store.check().findings.isEmpty)
    }

    /// As it may be in a damaged file.
    @Test func whereNothingIsThereCountsAreRightAgainOnceTheLeafIsWritten() throws {
        let (store, tree) = try store()
        try store.write { try delete(501, $0, tree) }
        #expect(try store.snapshot()[tree].count == 499)
        let transaction = try store.beginWriting()
        if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
        #expect(try store.snapshot()[tree].count == 500)
        #expect(try store.check().findings.isEmpty)
    }

    /// A key of which pending changes hold more than leaves do, so that they are written soon.
    private func long(_ number: UInt64) -> Key {
        Key(Array("what all of the keys start with".utf8) + Key(number).bytes)
    }

    /// Leaves that were written by then have lost the entries, so the rest must be looked for when all is made again.
    @Test func deletionsThatFailedHalfWayAreNotCountedTwice() throws {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.cacheSize = 0
        options.valueAccess = .calls
        options.compactsAutomatically = false
        let store = try Store.open("small", options: options, environment: Simulation.environment(of: disk))
        let tree = try store.tree("tree")
        try store.write { transaction in
            for number in 0..<3000 as Range<UInt64> { try transaction.put(long(number), [1], in: tree) }
        }
        var failures = 0
        var left: UInt64 = 3000
        for round in 0..<10 as Range<UInt64> {
            let transaction = try store.beginWriting()
            for number in 0..<200 as Range<UInt64> {
                try long(round * 300 + number).bytes.withView { try transaction.deleteKnown($0, in: tree) }
            }
            left -= 200
            disk.faults.fail(.read, at: disk.counts[.read] + 2 * Int(round) + 1)
            if (try? transaction[tree].count) == nil { failures += 1 }
            disk.faults = FaultPlan()
            #expect(try transaction[tree].count == left)
            try transaction.commit()
            #expect(try store.snapshot()[tree].count == left)
        }
        #expect(failures > 0)
        #expect(try store.check().findings.isEmpty)
    }
}
