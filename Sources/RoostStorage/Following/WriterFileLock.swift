import Dispatch
import RoostFile
import Synchronization

/// A process's hold of the lock of a file that several processes write, for as long as any transaction needs it.
///
/// Transactions that follow each other closely in one process share a hold, as they share writes and syncs. A hold ends
/// when nobody needs it, or, so that other processes are not kept waiting for ever, when it has been long enough: then the
/// next transaction waits until those before it are done, and takes the lock anew. It does not wait for commits that are
/// staged and that nobody writes yet: the thread that is to write them may be the one that would wait.
final class WriterFileLock: Sendable {
    private struct State {
        var lock: (any FileLock)?
        var users = 0
        /// Those of the users whose commits are staged, and not being written yet.
        var staged = 0
        /// When the hold ends for those who come then, in microseconds of the monotonic clock.
        var end: UInt64 = 0
        var isAwaited = false
    }

    private let state = Mutex(State())
    private let isOver = DispatchSemaphore(value: 0)

    /// For how long a process goes on while others wait, in microseconds.
    private static let length: UInt64 = 20_000

    /// Joins the hold that is going on; `false` when there is none, or none that may be joined. For one thread at a time.
    func join(at time: UInt64) -> Bool {
        let (hasJoined, waits) = state.withLock { state in
            guard state.users > 0 else { return (false, false) }
            guard time >= state.end, state.staged == 0 else {
                state.users += 1
                return (true, false)
            }
            state.isAwaited = true
            return (false, true)
        }
        if waits { isOver.wait() }
        return hasJoined
    }

    /// Joins the hold that is going on for as long as a call takes; `false` when there is none. For any thread.
    func joinPresent() -> Bool {
        state.withLock { state in
            guard state.users > 0 else { return false }
            state.users += 1
            return true
        }
    }

    /// Begins a hold with the file's lock.
    func begin(_ lock: any FileLock, at time: UInt64) {
        state.withLock { $0 = State(lock: lock, users: 1, end: time &+ WriterFileLock.length) }
    }

    /// Goes on with the lock of the file that takes the place of the one before.
    func replace(_ lock: any FileLock) {
        let old = state.withLock { state in
            defer { state.lock = lock }
            return state.lock
        }
        if old !== lock { old?.release() }
    }

    /// Notes that a user's commit is complete in memory and will be written later.
    func stage() { state.withLock { $0.staged += 1 } }

    /// Notes that a staged commit is being written, or given up.
    func unstage() { state.withLock { $0.staged -= 1 } }

    /// Ends a use of the hold, and the hold with the last one.
    func leave() {
        let (lock, isAwaited): ((any FileLock)?, Bool) = state.withLock { state in
            state.users -= 1
            guard state.users == 0 else { return (nil, false) }
            defer { (state.lock, state.isAwaited) = (nil, false) }
            return (state.lock, state.isAwaited)
        }
        lock?.release()
        if isAwaited { isOver.signal() }
    }
}
