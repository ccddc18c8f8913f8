import Dispatch
import Foundation
import RoostCampaign
import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// Large transactions, whose parts another thread writes while the rest is being made.
@Suite struct WritingBehindTests {
    private let disk = SimulatedMedium()
    private let gate: GatedMedium
    private let store: Store
    private let tree: Tree

    /// Longer than a part.
    private static let large = [UInt8](repeating: 7, count: 300_000)
    private static let other = [UInt8](repeating: 9, count: 300_000)

    init() throws {
        gate = GatedMedium(disk)
        store = try Store.open(
            "store", options: StoreOptions(), environment: Simulation.environment(of: gate))
        tree = try store.tree("tree")
        try store.write { try $0.put("before", [1], in: tree) }
    }

    /// What the disk holds after a power failure that takes everything unsynced.
    private func reopened() throws -> TreeView {
        let environment = Simulation.environment(of: disk.afterCrash(.losesAll))
        let store = try Store.open("store", options: StoreOptions(), environment: environment)
        #expect(try store.check().isClean)
        return try store.snapshot()[tree]
    }

    /// A transaction of which another thread is writing a part until the gate opens.
    private func beginWithAPartOnItsWay() throws -> StoreTransaction {
        gate.close(before: .write)
        let transaction = try store.beginWriting()
        try transaction.put("large", Self.large, in: tree)
        gate.waitForVisitor()
        return transaction
    }

    /// Runs `body` on a thread of its own, because the pool's may all be waiting at gates, and signals when it is done.
    private func onThread(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            body()
            done.signal()
        }
        return done
    }

    @Test func aPartOnItsWayIsReadFromMemory() throws {
        let transaction = try beginWithAPartOnItsWay()
        #expect(try transaction[tree, "large"] == Self.large)
        gate.open()
        try transaction.commit()
        #expect(try store.snapshot()[tree, "large"] == Self.large)
        #expect(try reopened().value("large") == Self.large)
    }

    @Test func aCommitIsAcknowledgedOnlyWhenItsPartsAreThere() throws {
        let transaction = try beginWithAPartOnItsWay()
        let committed = onThread { [handed = HandedTransaction(transaction)] in
            _ = try? handed.transaction.commit()
        }
        #expect(committed.wait(timeout: .now() + 0.2) == .timedOut)
        gate.open()
        committed.wait()
        #expect(try reopened().value("large") == Self.large)
    }

    /// A part that came late would lie over what the next transaction wrote in its place.
    @Test func rollingBackWaitsForAPartOnItsWay() throws {
        let transaction = try beginWithAPartOnItsWay()
        let written = onThread { [store, tree, handed = HandedTransaction(transaction)] in
            handed.transaction.rollback()
            _ = try? store.write { try $0.put("other", Self.other, in: tree) }
        }
        #expect(written.wait(timeout: .now() + 0.2) == .timedOut)
        gate.open()
        written.wait()
        let view = try reopened()
        #expect(try view.value("other") == Self.other)
        #expect(try view.value("large") == nil)
    }

    @Test func aPartThatFailsFailsTheCommitAlone() throws {
        let transaction = try beginWithAPartOnItsWay()
        gate.open(failing: FileError(.noSpace, operation: "write", path: "store"))
        #expect(throws: StoreError.self) { try transaction.commit() }
        #expect(try store.snapshot()[tree].count == 1)
        try store.write { try $0.put("other", Self.other, in: tree) }
        let view = try reopened()
        #expect(try view.value("before") == [1])
        #expect(try view.value("other") == Self.other)
        #expect(try view.value("large") == nil)
    }

    @Test func closingGivesBackWhatARollbackLeft() throws {
        let transaction = try store.beginWriting()
        for number in 0..<20 as Range<UInt64> { try transaction.put(Key(number), Self.large, in: tree) }
        transaction.rollback()
        try store.close()
        let size = try #require(disk.contents(of: "store")).count
        #expect(size < Self.large.count)
        #expect(try reopened().count == 1)
    }
}
