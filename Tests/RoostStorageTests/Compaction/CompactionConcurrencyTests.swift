import Foundation
import Synchronization
import Testing

@testable import RoostStorage

/// Compactions beside threads that write and read.
@Suite struct CompactionConcurrencyTests {
    /// Each writer counts up the number under its own key, so that a lost or doubled commit shows.
    @Test func writersAndReadersGoOn() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        var options = StoreOptions()
        options.durability = .relaxed(interval: 60)
        options.nodeSize = 1024
        options.compactsAutomatically = false
        let store = try Store.open(path, options: options)
        let tree = try store.tree("counters")
        let filler = try store.tree("filler")
        let counts = Mutex<[UInt64]>([0, 0, 0])
        let isDone = Atomic(false)
        let threads = DispatchGroup()
        for writer in 0..<3 {
            threads.enter()
            Thread.detachNewThread {
                defer { threads.leave() }
                while !isDone.load(ordering: .relaxed) {
                    let next = Self.count(of: writer, in: store.snapshot(), tree) + 1
                    #expect(throws: Never.self) {
                        try store.write { transaction in
                            try transaction.put(Key(UInt64(writer)), Key(next).bytes, in: tree)
                            try transaction.put(
                                Key(next % 500), [UInt8](repeating: 1, count: 300), in: filler)
                        }
                    }
                    counts.withLock { $0[writer] = next }
                }
            }
        }
        threads.enter()
        Thread.detachNewThread {
            defer { threads.leave() }
            var last: [UInt64] = [0, 0, 0]
            while !isDone.load(ordering: .relaxed) {
                let snapshot = store.snapshot()
                let now = (0..<3).map { Self.count(of: $0, in: snapshot, tree) }
                #expect(zip(last, now).allSatisfy { $0 <= $1 })
                last = now
            }
        }
        for _ in 0..<6 { try store.compact() }
        isDone.store(true, ordering: .relaxed)
        threads.wait()
        #expect((0..<3).map { Self.count(of: $0, in: store.snapshot(), tree) } == counts.withLock { $0 })
        let number = store.snapshot().commit.number
        try store.close()
        let again = try Store.open(path, options: options)
        #expect((0..<3).map { Self.count(of: $0, in: again.snapshot(), tree) } == counts.withLock { $0 })
        #expect(again.snapshot().commit.number >= number)
    }

    private static func count(of writer: Int, in snapshot: Snapshot, _ tree: Tree) -> UInt64 {
        (try? snapshot[tree, Key(UInt64(writer))]).flatMap { $0 }.flatMap { Key($0).number } ?? 0
    }
}
