import Dispatch
import Foundation
import RoostFile
import Synchronization

/// Threads on which calls wait, or compute for long, that would block a task's executor.
///
/// A few at once, so that concurrent commits can share a sync; the rest wait in lists without a thread, and take turns: first by
/// the user, then by the database that they are for, so that who asks for much holds up no other. The threads are the pool's own: work
/// on a global queue that blocks takes threads away from Swift's executor, which on Linux runs on the same ones.
package final class WorkerPool: Sendable {
    fileprivate struct Job: Sendable {
        let priority: Priority
        let body: @Sendable () -> Void
    }

    /// Whether the system prefers other threads to those that work.
    package enum Priority: Int, Sendable {
        case usual
        /// For work that may take long beside what must not wait.
        case low
        /// For what has taken long.
        case lowest
    }

    /// How many threads work for one user at most.
    fileprivate let share: Int
    /// What a job begins with.
    let priority: Priority
    private let state: Mutex<State>
    private let times = WorkTimes()

    /// A pool of at most `limit` threads.
    ///
    /// - Parameter share: How many of them work for one user at most; `nil` for all.
    package init(limit: Int, share: Int? = nil, priority: Priority = .usual) {
        self.share = min(share ?? limit, limit)
        self.priority = priority
        state = Mutex(State(limit: limit))
    }

    deinit { state.withLock { $0.endIdle() } }

    /// Runs `body` on a thread of the pool, with a flag that tells whether the task has been cancelled since.
    ///
    /// - Throws: what `body` throws, or `cancelled`, at once, when the task is cancelled before `body` begins.
    package func run<R: Sendable, Failure: Error>(
        for owner: WorkOwner = WorkOwner(), cancelled: Failure,
        _ body: @escaping @Sendable (CancellationFlag) throws(Failure) -> R
    ) async throws(Failure) -> R {
        let job = PendingJob<Result<R, Failure>>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard job.wait(continuation) else {
                    return continuation.resume(returning: .failure(cancelled))
                }
                enqueue(for: owner) {
                    guard let continuation = job.begin() else { return }
                    continuation.resume(returning: Result { () throws(Failure) in try body(job.flag) })
                }
            }
        } onCancel: {
            job.cancel()?.resume(returning: .failure(cancelled))
        }
        return try result.get()
    }

    /// Has `body` run when its owner's turn has come.
    ///
    /// - Parameter priority: The pool's where it is `nil`.
    func enqueue(
        for owner: WorkOwner, at priority: Priority? = nil, _ body: @escaping @Sendable () -> Void
    ) {
        let job = Job(priority: priority ?? self.priority, body: body)
        let ready = state.withLock { state in
            state.add(job, for: owner, share)
            return state.begin(self)
        }
        if let ready { start(ready) }
    }

    private func start(_ ready: State.Begun) {
        ready.worker.run { [self] in
            var next: State.Begun? = ready
            while let now = next {
                now.worker.current.withLock { $0 = (self, now.user) }
                now.job.body()
                now.worker.current.withLock { $0 = nil }
                next = state.withLock { state in
                    state.finish(now, share)
                    return state.begin(self)
                }
                // Another worker may have been idle for longer.
                if let other = next, other.worker !== now.worker {
                    start(other)
                    next = nil
                }
            }
        }
    }

    // MARK: Waiting

    /// Calls `body`, which waits for what other threads do: were this a pool's thread, another one works in its place meanwhile, so that
    /// those who wait take none from those who could go on.
    package static func waiting<R>(_ body: () throws -> R) rethrows -> R {
        guard let worker = Worker.own.value,
            let (pool, user) = worker.current.withLock({ $0 })
        else { return try body() }
        let wasCounted = pool.state.withLock { $0.wait(user, pool.share) }
        guard wasCounted else { return try body() }
        if let ready = pool.state.withLock({ $0.begin(pool) }) { pool.start(ready) }
        defer { pool.state.withLock { $0.goOn(user) } }
        return try body()
    }

    /// Takes an idle worker out of the pool; `false` where it is not idle any more.
    fileprivate func retire(_ worker: Worker) -> Bool {
        state.withLock { state in
            guard let index = state.idle.firstIndex(where: { $0 === worker }) else { return false }
            state.idle.remove(at: index)
            return true
        }
    }

    /// How many threads work, how many may, and how many jobs wait for one.
    package var usage: (working: Int, limit: Int, waiting: Int) {
        state.withLock { state in
            let waiting = state.users.values.reduce(0) { $0 + $1.jobs.values.reduce(0) { $0 + $1.count } }
            return (state.working, state.limit, waiting)
        }
    }

    // MARK: Time

    /// Has an executor look whether its time is over, till ``unwatch(_:)``.
    func watch(_ executor: WorkExecutor) { times.watch(executor) }

    func unwatch(_ executor: WorkExecutor) { times.unwatch(executor) }
}

/// One of a pool's threads.
final class Worker: Sendable {
    /// The calling thread's, where that is a pool's.
    static let own = ThreadLocal<Worker>()

    /// Whom it is working for.
    fileprivate let current = Mutex<(pool: WorkerPool, user: ByteKey)?>(nil)
    private let body = Mutex<(@Sendable () -> Void)?>(nil)
    private let priority: Mutex<(now: WorkerPool.Priority, thread: ThreadPriority?)>
    private let isCalled = DispatchSemaphore(value: 0)

    /// How many seconds a thread stays that has nothing to do.
    private static let patience = 2

    /// A thread of a pool, which it does not retain.
    fileprivate init(of pool: WorkerPool, _ priority: WorkerPool.Priority) {
        self.priority = Mutex((priority, nil))
        Thread.detachNewThread { [self, weak pool] in
            let thread = ThreadPriority()
            let begun = self.priority.withLock { priority in
                priority.thread = thread
                return priority.now
            }
            for _ in 0..<begun.rawValue { thread.lower() }
            Self.own.value = self
            while waitForCall({ pool?.retire(self) == true }), runJob() {}
            Self.own.value = nil
        }
    }

    /// The priority of the thread.
    fileprivate var presentPriority: WorkerPool.Priority { priority.withLock { $0.now } }

    /// Gives a thread the lowest priority while it works, where the system can; it keeps that.
    func demote() {
        #if !canImport(Darwin)
            priority.withLock { priority in
                guard let thread = priority.thread else { return }
                for _ in priority.now.rawValue..<WorkerPool.Priority.lowest.rawValue { thread.lower() }
                priority.now = .lowest
            }
        #endif
    }

    /// Waits for a job, or for the end.
    ///
    /// - Parameter retire: Called after a time without either; `true` where the pool does without this thread from now on.
    /// - Returns: `false` for a thread that has retired.
    private func waitForCall(_ retire: () -> Bool) -> Bool {
        guard isCalled.wait(timeout: .now() + .seconds(Self.patience)) == .timedOut else { return true }
        if retire() { return false }
        // The pool has taken it already, and calls it.
        isCalled.wait()
        return true
    }

    /// Has an idle worker run a job.
    fileprivate func run(_ body: @escaping @Sendable () -> Void) {
        self.body.withLock { $0 = body }
        isCalled.signal()
    }

    /// Ends an idle worker.
    fileprivate func end() { isCalled.signal() }

    /// `false` where there is none, at the end.
    private func runJob() -> Bool {
        guard let body = body.withLock({ $0.take() }) else { return false }
        body()
        return true
    }
}

extension WorkerPool {
    fileprivate struct State {
        /// How many threads may work at once, those apart that wait for others.
        let limit: Int
        var working = 0
        var idle: [Worker] = []
        var users: [ByteKey: UserWork] = [:]
        /// The users who have jobs that wait and have less than their share of the threads, the one whose turn is next first.
        var turns = FIFO<ByteKey>()

        init(limit: Int) { self.limit = limit }

        func endIdle() {
            for worker in idle { worker.end() }
        }

        /// A job that is to be run now.
        struct Begun {
            let worker: Worker
            let job: Job
            let user: ByteKey
        }
    }

    /// What is done, and is to be done, for one user.
    fileprivate struct UserWork {
        /// How many threads work, and how many wait for others.
        var working = 0
        var waiting = 0
        /// Whether the user stands among those who have a turn.
        var isInTurn = false
        /// The databases with jobs, the one whose turn is next first.
        var databases = FIFO<ByteKey>()
        var jobs: [ByteKey: FIFO<Job>] = [:]

        mutating func add(_ job: Job, for database: ByteKey) {
            if jobs[database] == nil { databases.append(database) }
            jobs[database, default: FIFO()].append(job)
        }

        mutating func next() -> Job? {
            guard let database = databases.popFirst(), var rest = jobs.removeValue(forKey: database) else {
                return nil
            }
            defer {
                if !rest.isEmpty {
                    jobs[database] = rest
                    databases.append(database)
                }
            }
            return rest.popFirst()
        }
    }
}

extension WorkerPool.State {
    /// How many threads wait for one user at most in whose place others work.
    private static let mostWaiting = 16

    fileprivate mutating func add(_ job: WorkerPool.Job, for owner: WorkOwner, _ share: Int) {
        users[owner.user, default: WorkerPool.UserWork()].add(job, for: owner.database)
        giveTurn(owner.user, share)
    }

    /// Lets a user who has jobs stand in line, unless enough threads work for that one.
    private mutating func giveTurn(_ user: ByteKey, _ share: Int) {
        guard let work = users[user], !work.isInTurn, work.working < share, !work.databases.isEmpty else {
            return
        }
        users[user]?.isInTurn = true
        turns.append(user)
    }

    /// Begins the job whose turn it is, if there is one and a thread for it.
    mutating func begin(_ pool: WorkerPool) -> Begun? {
        guard working < limit else { return nil }
        while let user = turns.popFirst() {
            users[user]?.isInTurn = false
            guard let job = users[user]?.next() else { continue }
            users[user]?.working += 1
            working += 1
            giveTurn(user, pool.share)
            let index = idle.lastIndex { $0.presentPriority == job.priority }
            let worker = index.map { idle.remove(at: $0) } ?? Worker(of: pool, job.priority)
            return Begun(worker: worker, job: job, user: user)
        }
        return nil
    }

    mutating func finish(_ begun: Begun, _ share: Int) {
        idle.append(begun.worker)
        working -= 1
        users[begun.user]?.working -= 1
        if let work = users[begun.user], work.working == 0, work.waiting == 0, work.databases.isEmpty {
            users[begun.user] = nil
        } else {
            giveTurn(begun.user, share)
        }
        if idle.count > limit { idle.removeFirst().end() }
    }

    /// Notes that one of the threads waits for others; `false` where too many do already.
    mutating func wait(_ user: ByteKey, _ share: Int) -> Bool {
        guard let work = users[user], work.waiting < Self.mostWaiting else { return false }
        users[user]?.waiting += 1
        users[user]?.working -= 1
        working -= 1
        giveTurn(user, share)
        return true
    }

    /// Notes that it works again, beside the one that took its place if that is not done.
    mutating func goOn(_ user: ByteKey) {
        users[user]?.waiting -= 1
        users[user]?.working += 1
        working += 1
    }
}

/// A list from which the first is taken. Both ends are O(1), amortized.
private struct FIFO<Element> {
    private var added: [Element] = []
    /// The oldest of those that are there, the oldest last.
    private var turned: [Element] = []

    var isEmpty: Bool { added.isEmpty && turned.isEmpty }
    var count: Int { added.count + turned.count }

    mutating func append(_ element: Element) { added.append(element) }

    mutating func popFirst() -> Element? {
        if turned.isEmpty {
            turned = added.reversed()
            added.removeAll()
        }
        return turned.popLast()
    }
}

// MARK: - WorkOwner

/// Whom work is done for, by which it waits its turn.
package struct WorkOwner: Hashable, Sendable {
    let user: ByteKey
    let database: ByteKey

    /// - Parameters:
    ///   - user: What tells one who asks from another.
    ///   - database: What tells one database from another; work of one user for several takes turns.
    package init(user: String = "", database: String = "") {
        self.user = ByteKey(user)
        self.database = ByteKey(database)
    }

    private init(_ user: ByteKey) {
        self.user = user
        database = ByteKey("")
    }

    /// The same user, whatever the database.
    package var ofAllDatabases: WorkOwner { WorkOwner(user) }
}
