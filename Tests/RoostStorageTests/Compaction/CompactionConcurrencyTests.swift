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
        do {
            defer {
                isDone.store(true, ordering: .relaxed)
                threads.wait()
            }
            for _ in 0..<6 { try store.compact() }
        }
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

    // MARK: What was caught up with

    /// Leaves that changes were caught up with in are written by the store's next checkpoint, at the latest when it is closed.
    @Test func whatIsCaughtUpWithStaysInTheLogUntilClosing() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        let store = try Self.compactedBesideUpdates(path)
        #expect(store.state.record.kind == .cleanShutdown)
        #expect(store.state.logBytes > 256 << 10)
        #expect(store.state.trees.weight.pendingBytes > 0)
        try Self.expectUpdates(in: store.snapshot())
        try store.close()
        let again = try Store.open(path, options: Self.options())
        #expect(again.state.logBytes < 1024)
        #expect(again.ending.isClean)
        try Self.expectUpdates(in: again.snapshot())
        #expect(try again.check().findings.isEmpty)
    }

    /// As after a power failure: the log of the new file is replayed.
    @Test func whatIsCaughtUpWithIsThereWithoutClosing() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.compactedBesideUpdates(directory.file("store"))
        let copy = directory.file("copy")
        try FileManager.default.copyItem(atPath: store.path, toPath: copy)
        let again = try Store.open(copy, options: Self.options())
        #expect(again.state.logBytes >= store.state.logBytes)
        try Self.expectUpdates(in: again.snapshot())
        try store.write { try $0.put(Key(UInt64(0)), [7], in: try $0.tree("tree")) }
        #expect(
            try store.snapshot()[try #require(store.snapshot().tree("tree"))].value(Key(UInt64(0))) == [7])
        #expect(try store.check().findings.isEmpty)
    }

    private static let keys = 5_000

    private static func update(_ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100)
    }

    private static func options() -> StoreOptions {
        var options = StoreOptions()
        options.durability = .relaxed(interval: 60)
        options.compactsAutomatically = false
        return options
    }

    /// A store that was compacted while every key got another value.
    private static func compactedBesideUpdates(_ path: String) throws -> Store {
        let store = try Store.open(path, options: options())
        try put(in: store) { _ in [UInt8](repeating: 1, count: 300) }
        let hasUpdated = Mutex(false)
        try store.compact { progress in
            let isFirst = hasUpdated.withLock { hasUpdated in
                defer { hasUpdated = true }
                return !hasUpdated
            }
            if isFirst { #expect(throws: Never.self) { try put(in: store, update) } }
            return true
        }
        return store
    }

    private static func put(in store: Store, _ value: (Int) -> [UInt8]) throws {
        let tree = try store.tree("tree")
        for start in stride(from: 0, to: keys, by: 100) {
            try store.write { transaction in
                for number in start..<start + 100 {
                    try transaction.put(Key(UInt64(number)), value(number), in: tree)
                }
            }
        }
    }

    private static func expectUpdates(in snapshot: Snapshot) throws {
        let tree = try snapshot[#require(snapshot.tree("tree"))]
        #expect(tree.count == UInt64(keys))
        for number in 0..<keys { #expect(try tree.value(Key(UInt64(number))) == update(number)) }
    }
}
