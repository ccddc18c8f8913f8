import Dispatch
import Synchronization
import Testing

@testable import Roost

#if canImport(Glibc)
    import Glibc
#endif

/// The threads on which work waits its turn.
@Suite(.timeLimit(.minutes(5))) struct WorkerPoolTests {
    private struct Cancelled: Error {}

    /// Notes in which order jobs were run.
    private final class Order: Sendable {
        private let names = Mutex<[String]>([])

        func add(_ name: String) { names.withLock { $0.append(name) } }

        var list: [String] { names.withLock { $0 } }
    }

    /// Counts what was begun.
    private final class Counter: Sendable {
        private let state = Atomic(0)

        var count: Int { state.load(ordering: .relaxed) }
        func add() { state.add(1, ordering: .relaxed) }
    }

    /// Adds jobs while the only thread is busy, and answers the order in which they were run then.
    private func order(_ owners: [(user: String, database: String)]) async -> [String] {
        let (pool, order, gate) = (WorkerPool(limit: 1), Order(), DispatchSemaphore(value: 0))
        let all = DispatchGroup()
        pool.enqueue(for: WorkOwner()) { gate.wait() }
        for owner in owners {
            all.enter()
            pool.enqueue(for: WorkOwner(user: owner.user, database: owner.database)) {
                order.add(owner.user + owner.database)
                all.leave()
            }
        }
        gate.signal()
        await withCheckedContinuation { done in all.notify(queue: .global()) { done.resume() } }
        return order.list
    }

    @Test func usersTakeTurnsAndTheirDatabasesToo() async {
        let found = await order([("a", "1"), ("a", "1"), ("a", "1"), ("b", "1"), ("a", "2")])
        #expect(found == ["a1", "b1", "a2", "a1", "a1"])
    }

    @Test func namesAreTheirBytes() async {
        let found = await order([("\u{E9}", "1"), ("\u{E9}", "1"), ("e\u{301}", "1")])
        #expect(found.map { Array($0.utf8) } == ["\u{E9}1", "e\u{301}1", "\u{E9}1"].map { Array($0.utf8) })
    }

    @Test func oneUserHasNoMoreThanAShare() async throws {
        let (pool, gate) = (WorkerPool(limit: 3, share: 2), DispatchSemaphore(value: 0))
        let begun = Counter()
        for _ in 0..<5 {
            pool.enqueue(for: WorkOwner(user: "a")) {
                begun.add()
                gate.wait()
            }
        }
        let other = try await pool.run(for: WorkOwner(user: "b"), cancelled: Cancelled() as any Error) { _ in
            7
        }
        #expect(other == 7)
        while begun.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(begun.count == 2)
        for _ in 0..<5 { gate.signal() }
        while begun.count < 5 { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Work that waits for other work of the same pool does not take its thread.
    @Test func whoWaitsTakesNoThread() async throws {
        let (pool, gate) = (WorkerPool(limit: 1), DispatchSemaphore(value: 0))
        async let waiting = pool.run(cancelled: Cancelled() as any Error) { _ in
            WorkerPool.waiting { gate.wait() }
            return 1
        }
        async let other = pool.run(cancelled: Cancelled() as any Error) { _ in
            gate.signal()
            return 2
        }
        #expect(try await [waiting, other] == [1, 2])
        #expect(try await pool.run(cancelled: Cancelled() as any Error) { _ in 3 } == 3)
    }

    @Test func tasksEndWhenTheirTimeIsOver() async throws {
        let executor = WorkExecutor(WorkerPool(limit: 2), for: WorkOwner(), limit: .milliseconds(20))
        await #expect(throws: WorkExecutor.Timeout.self) {
            try await executor.run {
                while true { try Task.checkCancellation() }
            }
        }
        // The time is that of all its tasks.
        await #expect(throws: WorkExecutor.Timeout.self) {
            try await executor.run { try Task.checkCancellation() }
        }
        let another = WorkExecutor(WorkerPool(limit: 2), for: WorkOwner(), limit: .seconds(3600))
        #expect(try await another.run { 5 } == 5)
    }

    @Test func tasksEndWithTheCaller() async throws {
        let executor = WorkExecutor(WorkerPool(limit: 1), for: WorkOwner())
        let begun = Counter()
        let task = Task {
            try await executor.run {
                begun.add()
                while true { try Task.checkCancellation() }
            }
        }
        while begun.count == 0 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    #if canImport(Glibc)
        @Test func threadsOfLowPriorityLetOthersPass() async throws {
            let priority: @Sendable (CancellationFlag) -> Int32 = { _ in
                getpriority(Int32(PRIO_PROCESS.rawValue), 0)
            }
            let usual = try await WorkerPool(limit: 1).run(cancelled: Cancelled() as any Error, priority)
            let low = try await WorkerPool(limit: 1, priority: .low).run(
                cancelled: Cancelled() as any Error, priority)
            #expect(low == min(19, usual + 5))
        }

        /// What has worked for long lets pass what has not, also while it goes on.
        @Test func longWorkStandsBack() async throws {
            let pool = WorkerPool(limit: 2, priority: .low)
            let executor = WorkExecutor(pool, for: WorkOwner())
            let priority: @Sendable () -> Int32 = { getpriority(Int32(PRIO_PROCESS.rawValue), 0) }
            let first = try await executor.run {
                let first = priority()
                while priority() < min(19, first + 5) { try Task.checkCancellation() }
                return first
            }
            #expect(try await executor.run { priority() } == min(19, first + 5))
            let other = WorkExecutor(pool, for: WorkOwner())
            #expect(try await other.run { priority() } == first)
        }
    #endif
}
