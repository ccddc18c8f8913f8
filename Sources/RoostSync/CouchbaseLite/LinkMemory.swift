import RoostBLIP
import Synchronization

/// Bounds what a connection holds of what has arrived. Further reservations wait, and the server with them.
final class LinkMemory: BLIPMemory {
    private struct State {
        var held = 0
        var waiters: [(bytes: Int, promise: Promise<Void>)] = []

        mutating func take(_ bytes: Int) -> Bool {
            // A reservation larger than the limit is granted alone.
            guard held == 0 || held + bytes <= LinkMemory.most else { return false }
            held += bytes
            return true
        }
    }

    private static let most = 128 << 20
    private let state = Mutex(State())

    func reserve(_ bytes: Int) async throws {
        let promise = state.withLock { state -> Promise<Void>? in
            if state.waiters.isEmpty, state.take(bytes) { return nil }
            let promise = Promise<Void>()
            state.waiters.append((bytes, promise))
            return promise
        }
        guard let promise else { return }
        do {
            try await promise.value()
        } catch {
            // Where the memory came at the same time, it goes back.
            let wasWaiting = state.withLock { state in
                let count = state.waiters.count
                state.waiters.removeAll { $0.promise === promise }
                return state.waiters.count < count
            }
            if !wasWaiting { release(bytes) }
            throw error
        }
    }

    func release(_ bytes: Int) {
        let ready = state.withLock { state in
            state.held -= bytes
            var ready: [Promise<Void>] = []
            while let next = state.waiters.first, state.take(next.bytes) {
                ready.append(next.promise)
                state.waiters.removeFirst()
            }
            return ready
        }
        for promise in ready { promise.keep() }
    }
}

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
