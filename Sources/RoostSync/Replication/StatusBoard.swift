import Synchronization

/// The status of a replication, and who wants to know of it.
final class StatusBoard: Sendable {
    private struct State {
        var status = ReplicationStatus()
        var listeners: [Int: AsyncStream<ReplicationStatus>.Continuation] = [:]
        var nextKey = 0
    }

    private let state = Mutex(State())

    var status: ReplicationStatus { state.withLock(\.status) }

    func update(_ change: (inout ReplicationStatus) -> Void) {
        let finished = state.withLock { state in
            change(&state.status)
            for listener in state.listeners.values { listener.yield(state.status) }
            guard state.status.isEnded else { return [AsyncStream<ReplicationStatus>.Continuation]() }
            defer { state.listeners.removeAll() }
            return Array(state.listeners.values)
        }
        // Outside the lock, which a listener that ends takes.
        for listener in finished { listener.finish() }
    }

    func updates() -> AsyncStream<ReplicationStatus> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let key = state.withLock { state in
                continuation.yield(state.status)
                if state.status.isEnded { continuation.finish() }
                state.nextKey += 1
                state.listeners[state.nextKey] = continuation
                return state.nextKey
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.listeners.removeValue(forKey: key) }
            }
        }
    }
}
