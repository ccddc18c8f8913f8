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

    /// Runs `body` on a thread of the pool, with a flag that tells whether the task has been cancelled since.
    ///
    /// - Throws: what `body` throws, or `cancelled`, at once, when the task is cancelled before `body` begins.
    func run<R: Sendable, Failure: Error>(
        cancelled: Failure, _ body: @escaping @Sendable (CancellationFlag) throws(Failure) -> R
    ) async throws(Failure) -> R {
        let job = PendingJob<Result<R, Failure>>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard job.wait(continuation) else { return continuation.resume(returning: .failure(cancelled)) }
                enqueue {
                    guard let continuation = job.begin() else { return }
                    continuation.resume(returning: Result { () throws(Failure) in try body(job.flag) })
                }
            }
        } onCancel: {
            job.cancel()?.resume(returning: .failure(cancelled))
        }
        return try result.get()
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
