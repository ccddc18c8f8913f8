import Dispatch
import RoostFile
import Synchronization

/// A process's turn to write a file that several processes write: its lock, held while any transaction needs it.
///
/// Transactions that follow each other closely in one process share a turn, as they share writes and syncs. A turn ends
/// when nobody needs it, or, so that other processes are not kept waiting for ever, when it has been long enough: then the
/// next transaction waits until those before it are done, and takes the lock anew.
final class FileTurn: Sendable {
    private struct State {
        var lock: (any FileLock)?
        var users = 0
        /// When the turn ends for those who come then, in microseconds of the monotonic clock.
        var end: UInt64 = 0
        var isAwaited = false
    }

    private let state = Mutex(State())
    private let isOver = DispatchSemaphore(value: 0)

    /// For how long a process goes on while others wait, in microseconds.
    private static let length: UInt64 = 20_000

    /// Joins the turn that is going on; `false` when there is none, or none that may be joined. For one thread at a time.
    func join(at time: UInt64) -> Bool {
        let (hasJoined, waits) = state.withLock { state in
            guard state.users > 0 else { return (false, false) }
            guard time >= state.end else {
                state.users += 1
                return (true, false)
            }
            state.isAwaited = true
            return (false, true)
        }
        if waits { isOver.wait() }
        return hasJoined
    }

    /// Begins a turn with the file's lock.
    func begin(_ lock: any FileLock, at time: UInt64) {
        state.withLock { $0 = State(lock: lock, users: 1, end: time &+ FileTurn.length) }
    }

    /// Goes on with the lock of the file that takes the place of the one before.
    func replace(_ lock: any FileLock) {
        let old = state.withLock { state in
            defer { state.lock = lock }
            return state.lock
        }
        if old !== lock { old?.release() }
    }

    /// Ends a use of the turn, and the turn with the last one.
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
