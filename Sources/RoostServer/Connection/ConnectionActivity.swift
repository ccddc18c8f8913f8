import Synchronization

/// What a connection is doing, as the server needs to know it to stop.
final class ConnectionActivity: Sendable {
    private struct State {
        /// Since when no request is being answered; `nil` while one is.
        var idleSince: UInt64? = SocketChannel.now
        var isStopping = false
        /// Whether the connection has made room for another and serves no more requests.
        var isRetired = false
        /// Ends an answer that has no end of its own.
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var isStopping: Bool { state.withLock { $0.isStopping } }
    var isBusy: Bool { idleSince == nil }
    /// Since when the connection waits for a request, in nanoseconds of ``SocketChannel/now``; `nil` while it serves one.
    var idleSince: UInt64? { state.withLock { $0.idleSince } }

    /// Begins a request.
    ///
    /// - Returns: Whether it is served.
    func begin() -> Bool {
        state.withLock { state in
            guard !state.isRetired else { return false }
            state.idleSince = nil
            return true
        }
    }

    func end() { state.withLock { $0.idleSince = SocketChannel.now } }

    /// Ends a connection that has served no request since a time.
    ///
    /// - Returns: Whether it has not.
    func retire(idleSince time: UInt64) -> Bool {
        state.withLock { state in
            guard state.idleSince == time else { return false }
            state.isRetired = true
            return true
        }
    }

    /// Sets what ends the present answer when the server stops; `nil` when the answer has ended.
    func setEndless(_ cancel: (@Sendable () -> Void)?) {
        let isStopping = state.withLock { state in
            state.cancel = cancel
            return state.isStopping
        }
        if isStopping { cancel?() }
    }

    /// No more requests; feeds end now.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            return state.cancel
        }?()
    }
}
