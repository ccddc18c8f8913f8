import Dispatch
import Foundation
import Testing

@testable import RoostServer

/// The threads on which connections are served.
@Suite(.serialized) struct SocketExecutorTests {
    private let executor = SocketExecutor.shared

    /// Holds a thread of the executor until it is let go.
    private final class Holder: Sendable {
        private let begun = DispatchSemaphore(value: 0)
        private let end = DispatchSemaphore(value: 0)

        func hold() {
            begun.signal()
            end.wait()
        }

        func letGo() { end.signal() }

        /// Returns when a thread is held.
        func wait() async {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { [begun] in
                    begun.wait()
                    continuation.resume()
                }
            }
        }
    }

    private func task<R: Sendable>(_ body: @escaping @Sendable () async -> R) -> Task<R, Never> {
        Task(executorPreference: executor) { await body() }
    }

    @Test func tasksStayOnItsThreads() async {
        let names = await task {
            var names: [String?] = [Self.threadName]
            await Task.yield()
            names.append(Self.threadName)
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume() }
            }
            names.append(Self.threadName)
            return names
        }.value
        #expect(names.allSatisfy { $0?.hasPrefix("roost.server.") == true })
    }

    private static var threadName: String? { Thread.current.name }

    /// Whatever one thread is busy with, another takes the jobs that come, and those that the first had begun to queue.
    @Test func oneBusyThreadHoldsNobodyElse() async {
        for _ in 0..<50 {
            let holder = Holder()
            let held = task { holder.hold() }
            await holder.wait()
            let sums = (0..<20).map { number in
                task {
                    await Task.yield()
                    return number
                }
            }
            var sum = 0
            for number in sums { sum += await number.value }
            #expect(sum == 190)
            holder.letGo()
            await held.value
        }
    }

    /// A task that is woken by other threads, again and again, never misses it.
    @Test func noWakeUpIsLost() async {
        let tasks = (0..<16).map { number in
            task {
                for round in 0..<500 {
                    await withCheckedContinuation { continuation in
                        DispatchQueue.global().async {
                            if (number + round) % 7 == 0 { usleep(50) }
                            continuation.resume()
                        }
                    }
                }
                return 500
            }
        }
        var count = 0
        for task in tasks { count += await task.value }
        #expect(count == 8000)
    }

    /// A socket is looked at although one thread is busy, and one that was readable before it was watched is told of.
    @Test func socketsAreWatchedBesideABusyThread() async throws {
        let holder = Holder()
        let held = task { holder.hold() }
        await holder.wait()
        for early in [true, false] {
            let ends = try SocketPair()
            let (mine, peer) = (ends.mine, ends.peer)
            defer {
                close(mine)
                close(peer)
            }
            if early { _ = unsafe send(peer, "a", 1, 0) }
            let readable = AsyncStream<Void> { continuation in
                let watch = executor.watch(mine) { event in
                    if event.isReadable { continuation.finish() }
                }
                #expect(watch != nil)
                continuation.onTermination = { [executor] _ in
                    if let watch { executor.unwatch(mine, watch) }
                }
            }
            if !early { _ = unsafe send(peer, "a", 1, 0) }
            for await _ in readable {}
        }
        holder.letGo()
        await held.value
    }
}
