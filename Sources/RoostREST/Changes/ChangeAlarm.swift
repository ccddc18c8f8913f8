import Synchronization

/// Wakes one task, once: by a change, at a deadline, or when the task is cancelled.
final class ChangeAlarm: Sendable {
    private enum State {
        case quiet
        case awaited(CheckedContinuation<Bool, Never>)
        case over(Bool)
    }

    private let state = Mutex(State.quiet)

    /// There is a change.
    func ring() { end(true) }

    /// Waits for ``ring()``; answers whether it came before `deadline` and before the task was cancelled.
    func wait(until deadline: ContinuousClock.Instant) async -> Bool {
        let timer = Task {
            try await Task.sleep(until: deadline, clock: .continuous)
            end(false)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    if case .over(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            end(false)
        }
    }

    private func end(_ result: Bool) {
        let sleeper: CheckedContinuation<Bool, Never>? = state.withLock { state in
            switch state {
            case .over: return nil
            case .quiet:
                state = .over(result)
                return nil
            case .awaited(let continuation):
                state = .over(result)
                return continuation
            }
        }
        sleeper?.resume(returning: result)
    }
}
