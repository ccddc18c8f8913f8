import Foundation

/// Runs a task on the thread that waits for it, so that a target, which is synchronous, needs no other thread.
///
/// What the task leaves to threads of others is waited for.
final class CallingThread: TaskExecutor {
    private let condition = NSCondition()
    private nonisolated(unsafe) var jobs: [UnownedJob] = []
    private nonisolated(unsafe) var isOver = false

    private init() {}

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            unsafe jobs.append(job)
            condition.signal()
        }
    }

    /// Runs `body` to its end. Whenever it has waited so many seconds for something, it is cancelled, where it allows that.
    static func run(
        patience: TimeInterval, mayBeCancelled: @escaping @Sendable () -> Bool,
        _ body: @escaping @Sendable () async -> Void
    ) {
        let thread = CallingThread()
        let task = Task.detached(executorPreference: thread) {
            await body()
            thread.end()
        }
        while let job = thread.next(within: patience, orElse: { if mayBeCancelled() { task.cancel() } }) {
            unsafe job.runSynchronously(on: thread.asUnownedTaskExecutor())
        }
    }

    private func end() {
        condition.withLock {
            unsafe isOver = true
            condition.signal()
        }
    }

    /// The job that comes next; `nil` at the end.
    private func next(within patience: TimeInterval, orElse lostPatience: () -> Void) -> UnownedJob? {
        while true {
            condition.lock()
            if unsafe jobs.isEmpty, unsafe !isOver {
                _ = condition.wait(until: Date(timeIntervalSinceNow: patience))
            }
            let job = unsafe jobs.isEmpty ? nil : jobs.removeFirst()
            let isOver = unsafe isOver
            condition.unlock()
            if let job { return job }
            if isOver { return nil }
            lostPatience()
        }
    }
}
