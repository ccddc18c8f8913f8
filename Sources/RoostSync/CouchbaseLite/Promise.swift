import Synchronization

/// A value that one task waits for and another one gives.
final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case kept(Result<Value, any Error>)
    }

    private let state = Mutex(State.open)

    /// Gives the value, or why there is none. Only the first counts.
    func keep(_ result: Result<Value, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .kept: return nil
            case .open:
                state = .kept(result)
                return nil
            case .awaited(let waiter):
                state = .kept(result)
                return waiter
            }
        }
        waiter?.resume(with: result)
    }

    /// Waits for the value. One task does.
    ///
    /// - Throws: Why there is none; `CancellationError`.
    func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    if case .kept(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            keep(.failure(CancellationError()))
        }
    }
}

extension Promise<Void> {
    func keep() { keep(.success(())) }
}
