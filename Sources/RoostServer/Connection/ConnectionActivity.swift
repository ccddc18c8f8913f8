import Synchronization

/// What a connection is doing, as the server needs to know it to stop.
final class ConnectionActivity: Sendable {
    private struct State {
        var isBusy = false
        var isStopping = false
        /// Sends an answer that has no end of its own.
        var endless: Task<(Int, Bool), Never>?
    }

    private let state = Mutex(State())

    var isStopping: Bool { state.withLock { $0.isStopping } }
    var isBusy: Bool { state.withLock { $0.isBusy } }

    func begin() { state.withLock { $0.isBusy = true } }
    func end() { state.withLock { $0.isBusy = false } }

    func setEndless(_ task: Task<(Int, Bool), Never>?) {
        let isStopping = state.withLock { state in
            state.endless = task
            return state.isStopping
        }
        if isStopping { task?.cancel() }
    }

    /// No more requests; feeds end now.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            return state.endless
        }?.cancel()
    }
}
