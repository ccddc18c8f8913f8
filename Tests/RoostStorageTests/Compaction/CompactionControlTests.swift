import Foundation
import RoostFile
import RoostSimulation
import Synchronization
import Testing

@testable import RoostStorage

/// Cancelling, limiting and starting compactions.
@Suite struct CompactionControlTests {
    private static func options() -> StoreOptions {
        var options = StoreOptions()
        options.durability = .relaxed(interval: 60)
        options.compactsAutomatically = false
        return options
    }

    /// Writes `count` values of 10,000 bytes, all of them anew in each round.
    private static func fill(_ store: Store, rounds: Int, count: Int = 100) throws {
        let tree = try store.tree("tree")
        for round in 0..<rounds {
            try store.write { transaction in
                for number in 0..<count {
                    let value = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: 10_000)
                    try transaction.put(Key(UInt64(number)), value, in: tree)
                }
            }
        }
    }

    private static func waitUntil(_ condition: () -> Bool) -> Bool {
        for _ in 0..<2_000 {
            if condition() { return true }
            usleep(10_000)
        }
        return condition()
    }

    @Test func cancellingLeavesNothingBehind() throws {
        let directory = try TemporaryDirectory()
        let store = try Store.open(directory.file("store"), options: Self.options())
        try Self.fill(store, rounds: 3)
        let before = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        let file = store.state.file
        var calls = 0
        let error = #expect(throws: StoreError.self) {
            try store.compact { _ in
                calls += 1
                return calls < 2
            }
        }
        #expect(error?.code == .cancelled)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == before)
        #expect(store.state.file === file)
        try Self.fill(store, rounds: 1)
        try store.compact()
        #expect(store.state.file !== file)
    }

    @Test func cancellingFromOutsideStopsIt() throws {
        let directory = try TemporaryDirectory()
        let store = try Store.open(directory.file("store"), options: Self.options())
        try Self.fill(store, rounds: 1)
        let error = #expect(throws: StoreError.self) {
            try store.compact { _ in
                store.cancelCompaction()
                return true
            }
        }
        #expect(error?.code == .cancelled)
    }

    @Test func aSecondOneIsRefused() throws {
        let directory = try TemporaryDirectory()
        let store = try Store.open(directory.file("store"), options: Self.options())
        try Self.fill(store, rounds: 1)
        var refusal: StoreError?
        try store.compact { _ in
            if refusal == nil { refusal = #expect(throws: StoreError.self) { try store.compact() } }
            return true
        }
        #expect(refusal?.code == .compacting)
    }

    @Test func readOnlyAndClosedStoresRefuse() throws {
        let directory = try TemporaryDirectory()
        let store = try Store.open(directory.file("store"), options: Self.options())
        try store.close()
        #expect(#expect(throws: StoreError.self) { try store.compact() }?.code == .closed)
        var options = Self.options()
        options.isReadOnly = true
        let reader = try Store.open(directory.file("store"), options: options)
        #expect(#expect(throws: StoreError.self) { try reader.compact() }?.code == .readOnly)
    }

    @Test func closingEndsARunningCompaction() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        let store = try Store.open(path, options: Self.options())
        try Self.fill(store, rounds: 2)
        let started = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let code = Mutex<StoreError.Code?>(nil)
        Thread.detachNewThread {
            var options = CompactionOptions()
            options.bytesPerSecond = 300_000
            options.memory = 1 << 20
            do {
                try store.compact(options) { _ in
                    started.signal()
                    return true
                }
            } catch { code.withLock { $0 = (error as? StoreError)?.code } }
            ended.signal()
        }
        started.wait()
        try store.close()
        ended.wait()
        #expect(code.withLock { $0 } == .cancelled)
        #expect(!FileManager.default.fileExists(atPath: path + ".compact"))
        let again = try Store.open(path, options: Self.options())
        #expect(try again.snapshot()[try #require(again.snapshot().tree("tree"))].count == 100)
    }

    @Test func theSpeedLimitHolds() throws {
        let simulation = Simulation(seed: 1)
        let store = try Store.open("store", options: Self.options(), environment: simulation.environment)
        try Self.fill(store, rounds: 1)
        var options = CompactionOptions()
        options.memory = 1 << 20
        options.bytesPerSecond = 100_000
        // The simulated clock hardly moves by itself, so that the limit is what the compaction waits for.
        let result = Mutex<CompactionResult?>(nil)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [options] in
            let done = try? store.compact(options)
            result.withLock { $0 = done }
            ended.signal()
        }
        var steps = 0
        while ended.wait(timeout: .now() + 0.01) == .timedOut {
            steps += 1
            simulation.clock.advance(by: 500_000)
        }
        let done = try #require(result.withLock { $0 })
        #expect(done.duration >= Double(done.bytesLive) / 100_000 * 0.9)
        #expect(steps > 5)
    }

    // MARK: By itself

    @Test func startsByItselfWhenLittleLives() throws {
        let directory = try TemporaryDirectory()
        var options = Self.options()
        options.compactsAutomatically = true
        let store = try Store.open(directory.file("store"), options: options)
        let file = store.state.file
        try Self.fill(store, rounds: 8)
        #expect(Self.waitUntil { store.state.file !== file })
        #expect(try store.snapshot()[try #require(store.snapshot().tree("tree"))].count == 100)
        #expect(store.state.record.end < 4 << 20)
    }

    /// Whoever asks for it finds it done, however much would have to lie before it begins by itself.
    @Test func isDoneAtOnceWhenAskedFor() throws {
        let directory = try TemporaryDirectory()
        var options = Self.options()
        options.compactsAutomatically = true
        options.compactionThreshold = 0.01
        let store = try Store.open(directory.file("store"), options: options)
        try Self.fill(store, rounds: 8)
        let before = store.state.record
        #expect(before.end > 4 << 20 && Double(before.liveBytes) < 0.5 * Double(before.end))
        try store.compact(below: 0.01)
        #expect(store.state.record.end == before.end)
        try store.compact(below: 0.5)
        #expect(store.state.record.end < before.end / 2)
        #expect(try store.snapshot()[try #require(store.snapshot().tree("tree"))].count == 100)
    }

    @Test func doesNotStartWhereEnoughLives() throws {
        let directory = try TemporaryDirectory()
        var options = Self.options()
        options.compactsAutomatically = true
        let store = try Store.open(directory.file("store"), options: options)
        let file = store.state.file
        try Self.fill(store, rounds: 1, count: 800)
        usleep(300_000)
        #expect(store.state.file === file)
    }

    @Test func doesNotLoopWhereItDoesNotHelp() throws {
        let directory = try TemporaryDirectory()
        var options = Self.options()
        options.compactsAutomatically = true
        options.compactionThreshold = 2  // never satisfied
        let store = try Store.open(directory.file("store"), options: options)
        var generation = store.state.file.header.generation
        try Self.fill(store, rounds: 1, count: 600)
        #expect(Self.waitUntil { store.state.file.header.generation == generation + 1 })
        generation += 1
        for _ in 0..<5 { try Self.fill(store, rounds: 1, count: 10) }
        usleep(300_000)
        #expect(store.state.file.header.generation == generation)
        try Self.fill(store, rounds: 2, count: 600)
        #expect(Self.waitUntil { store.state.file.header.generation == generation + 1 })
    }

    /// Without ``Store/close()`` the lock goes with the last reference, which the compaction may hold for a moment.
    private static func openOnceFree(_ path: String, _ options: StoreOptions) throws -> Store {
        var store: Store?
        #expect(
            waitUntil {
                store = try? Store.open(path, options: options)
                return store != nil
            })
        return try #require(store)
    }

    @Test func aStoreCanGoWhileItCompacts() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        var options = Self.options()
        options.compactsAutomatically = true
        for _ in 0..<5 {
            let store = try Self.openOnceFree(path, options)
            try Self.fill(store, rounds: 8)
        }
        let store = try Self.openOnceFree(path, options)
        #expect(try store.snapshot()[try #require(store.snapshot().tree("tree"))].count == 100)
    }
}
