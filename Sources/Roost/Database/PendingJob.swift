import Synchronization

/// Whether somebody has lost interest in what is being done.
package final class CancellationFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    /// Says that nobody waits for the outcome any more.
    func set() { flag.store(true, ordering: .relaxed) }

    package var isSet: Bool { flag.load(ordering: .relaxed) }
}

/// A call that a task waits for, from being asked for until it begins. Whoever takes the continuation resumes it.
final class PendingJob<R: Sendable>: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<R, Never>)
        /// Begun, or cancelled before that.
        case over
    }

    private let state = Mutex(State.new)
    /// Set when the task is cancelled, be it before or after the beginning.
    let flag = CancellationFlag()

    /// Notes who waits; `false` when the task has been cancelled already.
    func wait(_ continuation: CheckedContinuation<R, Never>) -> Bool {
        state.withLock { state in
            if case .over = state { return false }
            state = .waiting(continuation)
            return true
        }
    }

    /// Called when the turn has come; `nil` when the task was cancelled meanwhile.
    func begin() -> CheckedContinuation<R, Never>? { take() }

    /// Called when the task is cancelled; `nil` unless it is still waiting for its turn.
    func cancel() -> CheckedContinuation<R, Never>? {
        flag.set()
        return take()
    }

    private func take() -> CheckedContinuation<R, Never>? {
        state.withLock { state in
            defer { state = .over }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
    }
}
