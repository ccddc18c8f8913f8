import Dispatch
import Foundation
import RoostFile
import RoostSimulation
import Synchronization
import Testing

@testable import RoostStorage

/// A compaction beside writers that commit more than it catches up with, whenever it has caught up with something.
@Suite struct OutrunCompactionTests {
    /// Commits made each time, and the bytes of each, which are more than a compaction makes writers wait for in the beginning.
    private static let burst = 3
    private static let size = 150_000
    /// Commits after which the writer gives up.
    private static let limit = 900

    @Test func itEndsAllTheSame() throws {
        let medium = NotingMedium(SimulatedMedium())
        var options = StoreOptions()
        options.durability = .relaxed(interval: 3600)
        options.compactsAutomatically = false
        let store = try Store.open(
            "store", options: options,
            environment: Environment(
                medium: medium, clock: SimulatedClock(), randomness: SeededRandomness(seed: 1)))
        let tree = try store.tree("tree")
        try store.write { try $0.put(Key(UInt64(0)), [UInt8](repeating: 0, count: 100), in: tree) }

        let count = Atomic<Int>(0)
        let isDone = Atomic(false)
        let writer = DispatchGroup()
        writer.enter()
        Thread.detachNewThread {
            defer { writer.leave() }
            while true {
                medium.synced.wait()
                guard !isDone.load(ordering: .acquiring) else { return }
                for _ in 0..<Self.burst where count.load(ordering: .relaxed) < Self.limit {
                    #expect(throws: Never.self) {
                        let number = count.load(ordering: .relaxed) + 1
                        try store.write { transaction in
                            try transaction.put(
                                Key(UInt64(number % 10)), [UInt8](repeating: 1, count: Self.size), in: tree)
                        }
                        count.store(number, ordering: .relaxed)
                    }
                }
                medium.answered.signal()
            }
        }
        try store.compact()
        let committed = count.load(ordering: .relaxed)
        isDone.store(true, ordering: .releasing)
        medium.synced.signal()
        writer.wait()
        // It was outrun, and ended before the writer gave up.
        #expect(committed > 30)
        #expect(committed < Self.limit)
        #expect(try store.check().findings.isEmpty)
    }
}

/// Tells when the new file of a compaction has been synced, as it is after each commit that was repeated there.
private final class NotingMedium: ForwardingMedium {
    let base: any Medium
    let synced = DispatchSemaphore(value: 0)
    /// Waited for after a sync, so that writers get their turn; in vain while they wait for the compaction.
    let answered = DispatchSemaphore(value: 0)

    init(_ base: SimulatedMedium) { self.base = base }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        let file = try base.open(path, mode)
        return path == "store.compact" ? NotingFile(file, self) : file
    }
}

private final class NotingFile: ForwardingFile {
    let base: any File
    private let medium: NotingMedium

    init(_ base: any File, _ medium: NotingMedium) { (self.base, self.medium) = (base, medium) }

    func sync() throws(FileError) {
        try base.sync()
        medium.synced.signal()
        _ = medium.answered.wait(timeout: .now() + .milliseconds(50))
    }
}
