import Synchronization

/// Wakes a task, again and again: by changes, at a deadline, or when the task is cancelled. One task waits at a time.
final class ChangeAlarm: Sendable {
    private struct State {
        /// Whether it has rung since the last wait.
        var hasRung = false
        var waiter: CheckedContinuation<Bool, Never>?
        /// When the present wait ends, or the last one did.
        var deadline = ContinuousClock.now
        /// Looks at the deadline at `due`, or earlier. It stays from one wait to the next, since most end long before their deadline.
        var timer: Task<Void, Never>?
        var due: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    deinit { state.withLock { $0.timer?.cancel() } }

    /// Whether a task waits.
    var isWaiting: Bool { state.withLock { $0.waiter != nil } }

    /// There is a change.
    func ring() {
        let waiter = state.withLock { state in
            state.hasRung = state.waiter == nil
            return state.waiter.take()
        }
        waiter?.resume(returning: true)
    }

    /// Forgets what rang until now.
    func reset() { state.withLock { $0.hasRung = false } }

    /// Waits for ``ring()``, also for one since the last wait or ``reset()``; answers whether it came before `deadline` and before the
    /// task was cancelled.
    func wait(until deadline: ContinuousClock.Instant) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    if state.hasRung || Task.isCancelled {
                        defer { state.hasRung = false }
                        return state.hasRung
                    }
                    state.waiter = continuation
                    state.deadline = deadline
                    setTimer(&state)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume(returning: false)
        }
    }

    private func setTimer(_ state: inout State) {
        let deadline = state.deadline
        if let due = state.due, due <= deadline { return }
        state.timer?.cancel()
        state.due = deadline
        state.timer = Task { [weak self] in
            var due = deadline
            while (try? await Task.sleep(until: due, clock: .continuous)) != nil, let next = self?.pass(due) {
                due = next
            }
        }
    }

    /// Ends the wait whose deadline has come with `due`; answers when the timer is to look again.
    private func pass(_ due: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let (waiter, next) = state.withLock {
            state -> (CheckedContinuation<Bool, Never>?, ContinuousClock.Instant?) in
            // Another timer may have taken its place.
            guard state.due == due else { return (nil, nil) }
            state.due = state.waiter != nil && state.deadline > due ? state.deadline : nil
            return (state.due == nil ? state.waiter.take() : nil, state.due)
        }
        waiter?.resume(returning: false)
        return next
    }
}
