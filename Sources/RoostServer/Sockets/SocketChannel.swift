import Dispatch
import RoostREST
import RoostWire
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A connected socket, read and written by one task without blocking a thread, encrypted or not.
///
/// While no task waits for it, it takes no thread and no turn. Everything that ends it comes together in ``close()``: the
/// peer, a deadline, the server.
final class SocketChannel: RequestClient {
    private struct State {
        var isClosed = false
        var reader: CheckedContinuation<Void, Never>?
        var writer: CheckedContinuation<Void, Never>?
        /// Called when the peer hangs up, while an answer is made.
        var watcher: (@Sendable () -> Void)?
        /// Whether something may have come since a read found nothing, and room be there since a write found none.
        var isReadable = true
        var isWritable = true
        /// The socket's watch, as long as the connection is open.
        var watch: UInt64?
        /// What came while an answer went out.
        var early: [UInt8] = []
        var peerHasEnded = false
        /// Whether the next read returns at once.
        var isInterrupted = false
        /// When the connection is cut, in nanoseconds of ``now``; `UInt64.max` for never.
        var deadline = UInt64.max
        /// How many nanoseconds a reader waits for bytes; `UInt64.max` for any.
        var longestSilence = UInt64.max
        /// Since when the reader waits.
        var silentSince: UInt64 = 0
        var wire: Wire
        /// Whether the end is to be sent when what is on its way has been.
        var finishesWhenSent = false
    }

    /// What is kept of requests that come before the answer to the last one is out.
    private static let mostEarly = 64 << 10

    /// The peer's address.
    let peer: String
    /// Whether what goes over the wire is encrypted.
    let isSecure: Bool
    private let socket: Int32
    private let executor = SocketExecutor.shared
    private let state: Mutex<State>

    init(
        _ socket: Int32, peer: String, statistics: ServerStatistics, cipher: (any ChannelCipher)? = nil
    ) {
        isSecure = cipher != nil
        self.socket = socket
        state = Mutex(State(wire: Wire(socket, statistics, cipher)))
        self.peer = peer
        let isWatched = state.withLock { state in
            state.watch = executor.watch(socket) { [weak self] event in self?.ready(event) }
            return state.watch != nil
        }
        if !isWatched { close() }
    }

    deinit { close() }

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Cuts the connection at that time.
    func setDeadline(_ time: UInt64) { state.withLock { $0.deadline = time } }

    /// Cuts the connection when a reader has waited that many nanoseconds for bytes. What has come and was not read yet is no
    /// silence of the peer's, however long this process has been busy.
    func setLongestSilence(_ nanoseconds: UInt64) {
        state.withLock { $0.longestSilence = nanoseconds }
    }

    /// Cuts the connection when its time has come.
    func checkDeadline(_ now: UInt64) {
        if state.withLock({ !$0.isClosed && ($0.deadline <= now || isSilent($0, now)) }) { close() }
    }

    private func isSilent(_ state: State, _ now: UInt64) -> Bool {
        guard state.reader != nil, now > state.silentSince else { return false }
        return now - state.silentSince > state.longestSilence && !SystemSockets.hasInput(socket)
    }

    // MARK: Reading

    /// Shakes hands with the client where the connection is encrypted, before anything is read or written.
    ///
    /// - Returns: Whether the connection can be used.
    func establish() async -> Bool {
        while true {
            let outcome = state.withLock { state -> Bool? in
                guard !state.isClosed else { return false }
                let outcome = state.wire.shakeHands()
                if outcome == nil { state.isReadable = false }
                return outcome
            }
            if let outcome { return outcome }
            await waitForInput()
        }
    }

    /// Makes the waiting read, or the next one, return no bytes at once.
    func interruptReading() {
        let reader = state.withLock { state in
            state.isInterrupted = true
            return state.reader.take()
        }
        reader?.resume()
    }

    /// The next bytes; `nil` when the peer has ended, or the connection is closed. Empty where ``interruptReading()`` ended the wait.
    func read() async -> [UInt8]? {
        while true {
            var watcher: (@Sendable () -> Void)?
            let outcome = state.withLock { state -> [UInt8]?? in
                guard !state.isClosed else { return .some(nil) }
                if !state.early.isEmpty {
                    defer { state.early = [] }
                    return state.early
                }
                if state.peerHasEnded { return .some(nil) }
                if state.isInterrupted {
                    state.isInterrupted = false
                    return []
                }
                let bytes = receive(&state)
                if case .some(nil) = bytes { watcher = state.watcher.take() }
                return bytes
            }
            watcher?()
            if let outcome { return outcome }
            await waitForInput()
        }
    }

    /// Returns when something may have come over the wire, or the connection is closed.
    private func waitForInput() async {
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if state.isClosed || state.isReadable || state.isInterrupted { return true }
                state.reader = continuation
                state.silentSince = Self.now
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    private func receive(_ state: inout State) -> [UInt8]?? {
        // An event during the call is delivered afterwards, as it waits for the lock.
        let bytes = state.wire.receive()
        if case .none = bytes { state.isReadable = false }
        return bytes
    }

    /// Calls `hangUp`, once, if the peer ends its side before ``stopWatching()``. What it sends meanwhile is kept, up to a
    /// limit.
    func watch(_ hangUp: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if state.isClosed || state.peerHasEnded { return true }
            state.watcher = hangUp
            return false
        }
        if hasEnded { return hangUp() }
        // Earlier events are not delivered again.
        wake { $0.isReadable = true }
    }

    func stopWatching() { state.withLock { $0.watcher = nil } }

    /// Keeps what has come while an answer goes out, and says whether the peer has ended its side.
    private func keepEarly(_ state: inout State) -> Bool {
        while state.early.count < Self.mostEarly {
            switch receive(&state) {
            case .none: return false
            case .some(nil):
                state.peerHasEnded = true
                return true
            case .some(let bytes?): state.early += bytes
            }
        }
        return false
    }

    // MARK: Readiness

    private func ready(_ event: Poller.Event) {
        wake { state in
            if event.isReadable { state.isReadable = true }
            if event.isWritable { state.isWritable = true }
        }
    }

    /// Records what the socket is ready for, and wakes the task that waited for it.
    private func wake(_ note: (inout State) -> Void) {
        var calls = Calls()
        state.withLock { state in
            guard !state.isClosed else { return }
            note(&state)
            if state.isReadable {
                if let reader = state.reader.take() {
                    calls.reader = reader
                } else if state.watcher != nil, keepEarly(&state) {
                    calls.hangUp = state.watcher.take()
                }
            }
            guard state.isWritable else { return }
            if state.wire.flush() == .blocked {
                state.isWritable = false
                return
            }
            if state.finishesWhenSent {
                state.finishesWhenSent = false
                SystemSockets.finishWriting(socket)
            }
            calls.writer = state.writer.take()
        }
        calls.make()
    }

    /// What is called when the lock has been released.
    private struct Calls {
        var reader, writer: CheckedContinuation<Void, Never>?
        var hangUp: (@Sendable () -> Void)?

        func make() {
            reader?.resume()
            writer?.resume()
            hangUp?()
        }
    }

    // MARK: Writing

    /// Sends all of `bytes`, as fast as the peer takes them.
    ///
    /// - Returns: Whether they could be handed to the system; `false` when the connection is closed or broken.
    func write(_ bytes: [UInt8]) async -> Bool {
        var rest = bytes[...]
        while true {
            let progress = state.withLock { state -> Wire.Progress in
                guard !state.isClosed else { return .ended }
                let progress = state.wire.send(&rest)
                if progress == .blocked { state.isWritable = false }
                return progress
            }
            switch progress {
            case .whole: return true
            case .ended: return false
            case .blocked: await waitForRoom()
            }
        }
    }

    /// Returns when the peer may take something, or the connection is closed.
    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if state.isClosed || state.isWritable { return true }
                state.writer = continuation
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    // MARK: Ending

    /// Sends no more, so that the peer sees the end of the answer, while what it sends is still taken.
    func finishWriting() {
        state.withLock { state in
            guard !state.isClosed else { return }
            if state.wire.finish() == .blocked {
                state.finishesWhenSent = true
                state.isWritable = false
            } else {
                SystemSockets.finishWriting(socket)
            }
        }
    }

    /// Ends the connection at once. Who waits is woken. Doing it twice does nothing.
    ///
    /// - Parameter asBroken: whether the other side is to see that it hasn't got all.
    func close(asBroken: Bool = false) {
        var calls = Calls()
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            if let watch = state.watch.take() { executor.unwatch(socket, watch) }
            if asBroken {
                SystemSockets.resetWhenClosed(socket)
            } else {
                _ = shutdown(socket, Int32(SHUT_RDWR))
            }
            // While the lock is held: no call uses the descriptor without it.
            SystemSockets.close(socket)
            calls.reader = state.reader.take()
            calls.hangUp = state.watcher.take()
            calls.writer = state.writer.take()
        }
        calls.make()
    }
}
