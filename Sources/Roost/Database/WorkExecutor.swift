import Dispatch
import Synchronization

/// Runs tasks on the threads of a ``WorkerPool``, in the turns of their owner, and cancels them when they have worked for too long.
///
/// The time counts in which they hold a thread, not that in which they wait: for their turn, or for a client who is slow.
package final class WorkExecutor: TaskExecutor {
    /// How tasks end whose time is over.
    package struct Timeout: Error, CustomStringConvertible {
        package var description: String { "The work took longer than it may." }
    }

    private struct State {
        /// Nanoseconds, without those since `start`.
        var spent: UInt64 = 0
        /// How many threads work now, and since when there was one.
        var working = 0
        var start: UInt64 = 0
        var isOver = false
        /// The threads that work now.
        var workers: [Worker] = []
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var lastTask: UInt64 = 0
    }

    private let pool: WorkerPool
    private let owner: WorkOwner
    /// Nanoseconds that the tasks may work in all.
    private let limit: UInt64
    private let state = Mutex(State())

    /// - Parameter limit: How long the tasks may work in all; `nil` for ever.
    package init(_ pool: WorkerPool, for owner: WorkOwner, limit: Duration? = nil) {
        self.pool = pool
        self.owner = owner
        self.limit = limit.map { UInt64(min(max(0, $0 / .nanoseconds(1)), 1e18)) } ?? .max
    }

    /// Runs `body` as a task on the pool's threads, which is cancelled with the one that calls.
    ///
    /// - Parameter watch: called with what cancels the task.
    /// - Throws: what `body` throws; `CancellationError`, at once, when it is cancelled before `body` begins; ``Timeout`` where it was
    ///   cancelled since its time was over, or that of tasks before.
    package func run<R: Sendable>(
        _ body: @escaping @Sendable () async throws -> R,
        watch: (_ cancel: @escaping @Sendable () -> Void) -> Void = { _ in }
    ) async throws -> R {
        let job = PendingJob<Result<R, any Error>>()
        let number = try state.withLock { state in
            guard !state.isOver else { throw Timeout() }
            state.lastTask += 1
            return state.lastTask
        }
        // One that waits for its turn must not wait for it in order to end.
        let cancel: @Sendable () -> Void = { [self] in
            job.cancel()?.resume(returning: .failure(CancellationError()))
            state.withLock { $0.tasks[number] }?.cancel()
        }
        watch(cancel)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard job.wait(continuation) else {
                    return continuation.resume(returning: .failure(CancellationError()))
                }
                let task = Task(executorPreference: self) {
                    guard let continuation = job.begin() else { return }
                    do {
                        continuation.resume(returning: .success(try await body()))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
                let isOver = state.withLock { state in
                    state.tasks[number] = task
                    return state.isOver
                }
                // Cancelled before others could find it.
                if job.flag.isSet { task.cancel() }
                if isOver { cancel() }
            }
        } onCancel: {
            cancel()
        }
        let isOver = state.withLock { state in
            state.tasks[number] = nil
            return state.isOver
        }
        if isOver, case .failure = result { throw Timeout() }
        return try result.get()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isLong = isDemoted(state.withLock { $0.spent })
        pool.enqueue(for: owner, at: isLong ? .lowest : nil) { [self] in
            begin()
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            end()
        }
    }

    /// Whether work that has taken some nanoseconds stands back behind what has not.
    private func isDemoted(_ spent: UInt64) -> Bool { pool.priority == .low && spent >= Self.longWork }

    /// In nanoseconds.
    private static let longWork: UInt64 = 300_000_000

    private var isWatched: Bool { limit < .max || pool.priority == .low }

    private func begin() {
        let worker = Worker.own.value
        let isFirst = state.withLock { state in
            state.working += 1
            if let worker { state.workers.append(worker) }
            guard state.working == 1 else { return false }
            state.start = DispatchTime.now().uptimeNanoseconds
            return true
        }
        if isFirst, isWatched { pool.watch(self) }
    }

    private func end() {
        let worker = Worker.own.value
        let isLast = state.withLock { state in
            state.working -= 1
            state.workers.removeAll { $0 === worker }
            guard state.working == 0 else { return false }
            state.spent += DispatchTime.now().uptimeNanoseconds - state.start
            return true
        }
        if isLast, isWatched { pool.unwatch(self) }
    }

    /// Cancels the tasks where their time is over, and has them stand back where they have taken long.
    func checkTime() {
        let tasks = state.withLock { state -> [Task<Void, Never>] in
            guard !state.isOver, state.working > 0 else { return [] }
            let spent = state.spent + DispatchTime.now().uptimeNanoseconds - state.start
            if isDemoted(spent) {
                for worker in state.workers { worker.demote() }
            }
            guard spent >= limit else { return [] }
            state.isOver = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }
}

/// Looks, while they work, whether the time of executors is over.
final class WorkTimes: Sendable {
    private struct State {
        var working: [ObjectIdentifier: WorkExecutor] = [:]
        /// Runs while there are any.
        var timer: (any DispatchSourceTimer)?
    }

    private static let interval = DispatchTimeInterval.milliseconds(100)

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "roost.worktimes")

    func watch(_ executor: WorkExecutor) {
        state.withLock { state in
            state.working[ObjectIdentifier(executor)] = executor
            guard state.timer == nil else { return }
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
            timer.setEventHandler { [weak self] in self?.check() }
            timer.resume()
            state.timer = timer
        }
    }

    func unwatch(_ executor: WorkExecutor) {
        state.withLock { $0.working[ObjectIdentifier(executor)] = nil }
    }

    private func check() {
        let executors = state.withLock { state in
            if state.working.isEmpty { state.timer.take()?.cancel() }
            return Array(state.working.values)
        }
        for executor in executors { executor.checkTime() }
    }
}
