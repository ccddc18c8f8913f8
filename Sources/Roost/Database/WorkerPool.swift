import Dispatch
import Synchronization

/// Threads on which calls wait that would block a task's executor.
///
/// A few at once, so that concurrent commits can share a sync; the rest wait in a list without a thread. Every worker is
/// a serial queue: those have threads of their own, while work on a global queue that blocks takes threads away from
/// Swift's executor, which on Linux runs on the same ones.
package final class WorkerPool: Sendable {
    private let state: Mutex<State>

    private struct State {
        var idle: [DispatchQueue]
        var waiting: [@Sendable () -> Void] = []
        /// The oldest of those that wait, the oldest last.
        var turned: [@Sendable () -> Void] = []
    }

    /// A pool of so many threads.
    package init(limit: Int) {
        state = Mutex(State(idle: (1...limit).map { DispatchQueue(label: "roost.worker.\($0)") }))
    }

    /// Runs `body` on a thread of the pool, with a flag that tells whether the task has been cancelled since.
    ///
    /// - Throws: what `body` throws, or `cancelled`, at once, when the task is cancelled before `body` begins.
    package func run<R: Sendable, Failure: Error>(
        cancelled: Failure, _ body: @escaping @Sendable (CancellationFlag) throws(Failure) -> R
    ) async throws(Failure) -> R {
        let job = PendingJob<Result<R, Failure>>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard job.wait(continuation) else {
                    return continuation.resume(returning: .failure(cancelled))
                }
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
        let worker: DispatchQueue? = state.withLock { state in
            if state.idle.isEmpty { state.waiting.append(job) }
            return state.idle.popLast()
        }
        guard let worker else { return }
        worker.async {
            job()
            while let next = self.next(after: worker) { next() }
        }
    }

    /// The job that has waited longest; `nil` when there is none, and then `worker` is idle.
    private func next(after worker: DispatchQueue) -> (@Sendable () -> Void)? {
        state.withLock { state in
            if state.turned.isEmpty {
                state.turned = state.waiting.reversed()
                state.waiting.removeAll()
            }
            if let job = state.turned.popLast() { return job }
            state.idle.append(worker)
            return nil
        }
    }
}
