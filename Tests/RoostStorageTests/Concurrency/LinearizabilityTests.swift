import Dispatch
import RoostCampaign
import RoostFile
import RoostSimulation
import Synchronization
import Testing

@testable import RoostStorage

/// Transactions and snapshots of many threads, beside compactions, backups and other readers of the file, are as if they
/// had been made one after the other, in an order that real time allows.
@Suite struct LinearizabilityTests {
    private static let keys = 24

    private static func key(_ number: UInt64) -> Key { Key(number) }

    private static func contents(_ snapshot: Snapshot) throws -> [UInt64: [UInt8]] {
        guard let tree = snapshot.tree("cells") else { return [:] }
        var contents: [UInt64: [UInt8]] = [:]
        try snapshot[tree].forEach { key, value in
            contents[key.number ?? .max] = value
            return true
        }
        return contents
    }

    /// Reads a few cells and writes others, in one transaction.
    private static func write(
        _ store: Store, _ history: ConcurrentHistory, _ generator: inout SeededGenerator
    ) throws {
        let began = history.now()
        let transaction = try store.beginWriting()
        let tree = try transaction.tree("cells")
        var (read, wrote): ([UInt64: [UInt8]], [UInt64: [UInt8]?]) = ([:], [:])
        for _ in 0...generator.next(below: 3) {
            let cell = UInt64(1 + generator.next(below: keys))
            if wrote[cell] == nil { read[cell] = try transaction[tree].value(key(cell)) ?? [] }
            if generator.chance(0.2) {
                try transaction.delete(key(cell), in: tree)
                wrote[cell] = .some(nil)
            } else {
                let value =
                    Key(generator.next()).bytes + [UInt8](repeating: 0, count: generator.next(below: 600))
                try transaction.put(key(cell), value, in: tree)
                wrote[cell] = value
            }
        }
        // A commit without any change would have no number of its own.
        let value = Key(generator.next()).bytes
        try transaction.put(key(0), value, in: tree)
        wrote[0] = value
        if generator.chance(0.1) { return transaction.rollback() }
        let commit = try transaction.commit()
        history.add(.init(began: began, ended: history.now(), commit: commit, read: read, wrote: wrote))
    }

    private static func read(_ store: Store, _ history: ConcurrentHistory) throws {
        let began = history.now()
        let snapshot = store.snapshot()
        let ended = history.now()
        history.add(
            .init(
                began: began, ended: ended, commit: snapshot.commit.number, contents: try contents(snapshot)))
    }

    /// Runs `body` on `threads` threads until it answers `false`.
    private static func run(
        _ name: String, _ threads: Int, in group: DispatchGroup,
        _ body: @escaping @Sendable (Int, inout SeededGenerator) throws -> Bool
    ) {
        for thread in 0..<threads {
            DispatchQueue(label: "thread \(thread)").async(group: group) {
                var generator = SeededGenerator(seed: UInt64(thread), stream: 99)
                do {
                    while try body(thread, &generator) {}
                } catch {
                    Issue.record("the \(name): \(error)")
                }
            }
        }
    }

    @Test(arguments: [StoreOptions.Durability.full, .relaxed(interval: 1e9)])
    func whatThreadsSeeFitsOneOrder(durability: StoreOptions.Durability) throws {
        let disk = SimulatedMedium()
        let environment = Simulation.environment(of: disk)
        var options = StoreOptions()
        options.nodeSize = 1024
        options.pendingLimit = 0
        options.logLimit = 0
        options.cacheSize = 1 << 14
        options.compactsAutomatically = false
        options.durability = durability
        let store = try Store.open("store", options: options, environment: environment)
        _ = try store.tree("cells")
        let history = ConcurrentHistory()
        let group = DispatchGroup()
        let isDone = Atomic(false)
        let writers = Atomic(3)
        for writer in 0..<3 {
            DispatchQueue(label: "writer \(writer)").async(group: group) {
                var generator = SeededGenerator(seed: UInt64(writer))
                #expect(throws: Never.self) {
                    for _ in 0..<150 { try Self.write(store, history, &generator) }
                }
                if writers.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 {
                    isDone.store(true, ordering: .sequentiallyConsistent)
                }
            }
        }
        let reading = { @Sendable in !isDone.load(ordering: .sequentiallyConsistent) }
        Self.run("reader", 2, in: group) { _, _ in
            try Self.read(store, history)
            return reading()
        }
        Self.run("compaction", 1, in: group) { _, _ in
            try store.compact()
            return reading()
        }
        Self.run("backup", 1, in: group) { _, _ in
            try store.backup(to: "backup")
            return reading()
        }
        Self.run("follower", 1, in: group) { [options] _, _ in
            var following = options
            following.isReadOnly = true
            let began = history.now()
            let follower = try Store.open("store", options: following, environment: environment)
            let snapshot = follower.snapshot()
            let reading = ConcurrentHistory.Reading(
                began: began, ended: history.now(), commit: snapshot.commit.number,
                contents: try Self.contents(snapshot))
            // What is in the file may be ahead of what is acknowledged, and is never behind.
            history.add(reading)
            return !isDone.load(ordering: .sequentiallyConsistent)
        }
        group.wait()
        try Self.read(store, history)
        #expect(history.contradiction() == nil)
        #expect(history.counts.writes > 250)
        #expect(history.counts.readings > 2)
        #expect(try store.check().isClean)
        var copying = options
        copying.isReadOnly = true
        try store.backup(to: "backup")
        let copy = try Store.open("backup", options: copying, environment: environment)
        #expect(try Self.contents(copy.snapshot()) == Self.contents(store.snapshot()))
    }

    /// The check would notice: histories that no order explains.
    @Test func contradictionsAreNoticed() {
        func write(_ began: Int, _ ended: Int, _ commit: UInt64, read: [UInt64: [UInt8]] = [:])
            -> ConcurrentHistory.Write
        {
            .init(began: began, ended: ended, commit: commit, read: read, wrote: [1: [UInt8(commit)]])
        }
        func contradiction(
            _ writes: [ConcurrentHistory.Write], _ readings: [ConcurrentHistory.Reading] = []
        ) -> Bool {
            let history = ConcurrentHistory()
            for write in writes { history.add(write) }
            for reading in readings { history.add(reading) }
            return history.contradiction() != nil
        }
        #expect(!contradiction([write(1, 2, 5), write(3, 4, 6, read: [1: [5]])]))
        #expect(contradiction([write(1, 2, 6), write(3, 4, 5)]), "later, but with a lower number")
        #expect(contradiction([write(1, 2, 5), write(3, 4, 5)]), "the same number twice")
        #expect(contradiction([write(1, 2, 5), write(3, 4, 6, read: [1: []])]), "an update lost")
        let reading = ConcurrentHistory.Reading(began: 3, ended: 4, commit: 4, contents: [:])
        #expect(contradiction([write(1, 2, 5)], [reading]), "a snapshot that is behind")
        #expect(contradiction([write(5, 6, 4)], [reading]), "a snapshot that is ahead")
    }
}
