import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Runs the tasks of connections on the threads that wait for their sockets: what came over a socket is read, answered and written by
/// one thread, without handing it to another.
///
/// There is a thread for each processor, and never only one, which a slow answer would hold up. Each keeps the job that its last one has made to itself, as that mostly is the same
/// task going on; all others wait in a list from which a free thread takes them. All servers of a process share the executor, and
/// it stays.
///
/// The scheme, a slot for the next job and one wake-up at a time, is that of Tokio's scheduler (Carl Lerche, "Making the Tokio
/// scheduler 10x faster", 2019).
final class SocketExecutor: TaskExecutor {
    static let shared = SocketExecutor(threads: max(2, ProcessInfo.processInfo.activeProcessorCount))

    /// The number of jobs after which a thread looks at the sockets, and lets its own next job queue up.
    private static let turnLength = 64

    private struct State {
        var jobs: [UnownedJob] = []
        /// Those of `jobs` before are taken.
        var firstJob = 0
        /// The threads that wait for sockets because there is no job.
        var idleThreads = 0
        /// Whether a thread was woken that has not come yet. It wakes the next where it leaves jobs.
        var isWaking = false

        mutating func takeJob() -> UnownedJob? {
            guard firstJob < jobs.count else { return nil }
            defer {
                firstJob += 1
                // Amortized O(1).
                if firstJob * 2 > jobs.count {
                    jobs.removeFirst(firstJob)
                    firstJob = 0
                }
            }
            return jobs[firstJob]
        }

        /// Whether to wake another thread, for the jobs that are there.
        mutating func wakes() -> Bool {
            guard firstJob < jobs.count, idleThreads > 0, !isWaking else { return false }
            isWaking = true
            return true
        }
    }

    private struct Watches {
        var calls: [UInt64: @Sendable (Poller.Event) -> Void] = [:]
        var lastToken = Poller.wakeToken
    }

    private let poller = Poller()
    private let state = Mutex(State())
    private let watches = Mutex(Watches())
    private let slots = ThreadSlots()

    private init(threads: Int) {
        for number in 1...threads {
            // A name does nothing before the thread's creator has gone on.
            let isCreated = DispatchSemaphore(value: 0)
            Thread.detachNewThread { [self] in
                isCreated.wait()
                Thread.current.name = "roost.server.\(number)"
                runJobs()
            }
            isCreated.signal()
        }
    }

    // MARK: Sockets

    /// Calls `call` on a thread of the executor when the descriptor becomes ready, until ``unwatch(_:_:)``. It must not wait.
    ///
    /// - Returns: The number of the watch; `nil` when the system can't watch any more descriptors.
    func watch(_ descriptor: Int32, _ call: @escaping @Sendable (Poller.Event) -> Void) -> UInt64? {
        let token = watches.withLock { watches in
            watches.lastToken += 1
            watches.calls[watches.lastToken] = call
            return watches.lastToken
        }
        if poller.add(descriptor, token: token) { return token }
        watches.withLock { $0.calls[token] = nil }
        return nil
    }

    /// Ends a watch, before the descriptor is closed. A call that is under way goes on.
    func unwatch(_ descriptor: Int32, _ token: UInt64) {
        poller.remove(descriptor)
        watches.withLock { $0.calls[token] = nil }
    }

    // MARK: Jobs

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard let slot = slots.own else { return share(job) }
        if let earlier = slot.exchange(job) { share(earlier) }
    }

    /// Puts a job where every thread finds it.
    private func share(_ job: UnownedJob) {
        let wakes = state.withLock { state in
            state.jobs.append(job)
            return state.wakes()
        }
        if wakes { poller.wake() }
    }

    /// What one thread does for ever.
    private func runJobs() {
        let slot = slots.makeOwn()
        var count = 0
        while true {
            count += 1
            if count % Self.turnLength == 0 {
                if let job = slot.exchange(nil) { share(job) }
                poll()
            }
            if let job = slot.exchange(nil) ?? sharedJob() {
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            } else {
                waitForWork()
            }
        }
    }

    /// The job that has waited longest; `nil` when there is none.
    private func sharedJob() -> UnownedJob? {
        let (job, wakes) = state.withLock { state in
            let job = state.takeJob()
            return (job, state.wakes())
        }
        if wakes { poller.wake() }
        return job
    }

    /// Returns when there may be a job.
    private func waitForWork() {
        let isIdle = state.withLock { state in
            guard state.firstJob == state.jobs.count else { return false }
            state.idleThreads += 1
            return true
        }
        if isIdle { poll(waiting: true) }
    }

    /// Makes the calls that are due.
    ///
    /// - Parameter waiting: Whether this thread is idle, and waits until something is due or it is woken.
    private func poll(waiting: Bool = false) {
        var wasWoken = false
        poller.wait(blocking: waiting) { event in
            if event.token == Poller.wakeToken {
                wasWoken = true
            } else {
                watches.withLock { $0.calls[event.token] }?(event)
            }
        }
        guard waiting || wasWoken else { return }
        state.withLock { state in
            if waiting { state.idleThreads -= 1 }
            if wasWoken { state.isWaking = false }
        }
    }
}

/// A place for one job on each thread of an executor.
struct ThreadSlots: Sendable {
    /// A thread's place for the job that it runs next. Only that thread uses it.
    final class Slot {
        private var job: UnownedJob?

        /// Puts a job, or none, in the place of another.
        func exchange(_ other: UnownedJob?) -> UnownedJob? {
            defer { job = other }
            return job
        }
    }

    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        precondition(unsafe pthread_key_create(&key, nil) == 0, "The system has no keys for threads left.")
        self.key = key
    }

    /// The slot of this thread; `nil` on one that is not the executor's.
    var own: Slot? {
        guard let pointer = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<Slot>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Gives this thread a slot for as long as the process lasts.
    func makeOwn() -> Slot {
        let slot = Slot()
        unsafe pthread_setspecific(key, Unmanaged.passRetained(slot).toOpaque())
        return slot
    }
}
