import Dispatch
import Synchronization

/// Threads on which calls wait that would block a task's executor.
///
/// A few at once, so that concurrent commits can share a sync; the rest wait in a list without a thread.
final class WorkerPool: Sendable {
    private let limit: Int
    private let state = Mutex(State())

    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
        /// The oldest of those that wait, the oldest last.
        var turned: [@Sendable () -> Void] = []
    }

    init(limit: Int) {
        self.limit = limit
    }

    /// Runs `body` on a thread of the pool.
    ///
    /// - Throws: what `body` throws, or `cancelled` when the task is cancelled before `body` begins.
    func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        let isCancelled = Atomic<Bool>(false)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueue {
                    continuation.resume(
                        with: Result {
                            guard !isCancelled.load(ordering: .relaxed) else {
                                throw DatabaseError.cancelledBeforeStart
                            }
                            return try body()
                        })
                }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
    }

    private func enqueue(_ job: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            guard state.running < limit else {
                state.waiting.append(job)
                return false
            }
            state.running += 1
            return true
        }
        guard starts else { return }
        DispatchQueue.global().async {
            job()
            while let next = self.next() { next() }
        }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if state.turned.isEmpty {
                state.turned = state.waiting.reversed()
                state.waiting.removeAll()
            }
            if let job = state.turned.popLast() { return job }
            state.running -= 1
            return nil
        }
    }
}

extension DatabaseError {
    fileprivate static var cancelledBeforeStart: Self {
        Self(.cancelled, "The task was cancelled before the write began; nothing was changed.")
    }
}
