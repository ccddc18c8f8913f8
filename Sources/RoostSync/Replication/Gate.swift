import Synchronization

/// Holds tasks while it is closed.
final class Gate: Sendable {
    private struct State {
        var isClosed = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextKey = 0
    }

    private let state = Mutex(State())

    func close() { state.withLock { $0.isClosed = true } }

    /// Lets everybody through, those who wait for a time too.
    func open() {
        let waiting = state.withLock { state in
            state.isClosed = false
            defer { state.waiting.removeAll() }
            return state.waiting.values.map { $0 }
        }
        for continuation in waiting { continuation.resume() }
    }

    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Waits while the gate is closed, or until the task is cancelled.
    func pass() async { await wait { $0.isClosed } }

    /// Waits `seconds`, or until somebody opens the gate or the task is cancelled.
    func wait(seconds: Double) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait { _ in true } }
            group.addTask { try? await Task.sleep(for: .seconds(seconds)) }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait(_ mustWait: @Sendable (State) -> Bool) async {
        let key = state.withLock { state in
            state.nextKey += 1
            return state.nextKey
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard mustWait(state), !Task.isCancelled else { return false }
                    state.waiting[key] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: key) }?.resume()
        }
    }
}
