import Dispatch
import RoostREST
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
/// While nobody waits for it, it takes no thread and no turn. Everything that ends it comes together in ``close()``: the
/// peer, a deadline, the server.
final class SocketChannel: Sendable {
    private enum Waiting {
        case nobody
        case reader(CheckedContinuation<Void, Never>)
        /// Called when the peer hangs up, while an answer goes out.
        case watcher(@Sendable () -> Void)
    }

    private struct State {
        var isClosed = false
        var waiting = Waiting.nobody
        var writer: CheckedContinuation<Void, Never>?
        var readIsArmed = false
        var writeIsArmed = false
        /// What came while an answer went out.
        var early: [UInt8] = []
        var peerHasEnded = false
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
    private let readSource: EventSource
    private let writeSource: EventSource
    private let state: Mutex<State>

    init(
        _ socket: Int32, peer: String, queue: DispatchQueue, statistics: ServerStatistics,
        cipher: (any ChannelCipher)? = nil
    ) {
        isSecure = cipher != nil
        self.socket = socket
        state = Mutex(State(wire: Wire(socket, statistics, cipher)))
        self.peer = peer
        readSource = EventSource.reading(socket, on: queue)
        writeSource = EventSource.writing(socket, on: queue)
        let open = Countdown(2)
        // Sources look at the descriptor until both are cancelled; only then may it be closed.
        readSource.onCancel { if open.countDown() { SystemSockets.close(socket) } }
        writeSource.onCancel { if open.countDown() { SystemSockets.close(socket) } }
        readSource.onEvent { [weak self] in self?.readable() }
        writeSource.onEvent { [weak self] in self?.writable() }
        readSource.activate()
        readSource.suspend()
        writeSource.activate()
        writeSource.suspend()
    }

    deinit { close() }

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Cuts the connection at that time.
    func setDeadline(_ time: UInt64) { state.withLock { $0.deadline = time } }

    /// Cuts the connection when a reader has waited so many nanoseconds for bytes. What has come and was not read yet is no
    /// silence of the peer's, however long this process has been busy.
    func setLongestSilence(_ nanoseconds: UInt64) {
        state.withLock { $0.longestSilence = nanoseconds }
    }

    /// Cuts the connection when its time has come.
    func checkDeadline(_ now: UInt64) {
        if state.withLock({ !$0.isClosed && ($0.deadline <= now || isSilent($0, now)) }) { close() }
    }

    private func isSilent(_ state: State, _ now: UInt64) -> Bool {
        guard case .reader = state.waiting, now > state.silentSince else { return false }
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
                defer { sendLater(&state) }
                return state.wire.shakeHands()
            }
            if let outcome { return outcome }
            await waitForInput()
        }
    }

    /// The next bytes; `nil` when the peer has ended, or the connection is closed.
    func read() async -> [UInt8]? {
        while true {
            let outcome = state.withLock { state -> [UInt8]?? in
                guard !state.isClosed else { return .some(nil) }
                if !state.early.isEmpty {
                    defer { state.early = [] }
                    return state.early
                }
                if state.peerHasEnded { return .some(nil) }
                return receive(&state)
            }
            if let outcome { return outcome }
            await waitForInput()
        }
    }

    /// Returns when something has come over the wire, or the connection is closed.
    private func waitForInput() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                if state.isClosed { return true }
                state.waiting = .reader(continuation)
                state.silentSince = Self.now
                arm(&state, reading: true)
                return false
            }
            if isClosed { continuation.resume() }
        }
    }

    private func receive(_ state: inout State) -> [UInt8]?? {
        defer { sendLater(&state) }
        return state.wire.receive()
    }

    /// What the cipher has made by itself goes when the peer takes it.
    private func sendLater(_ state: inout State) {
        if state.wire.hasUnsent { arm(&state, reading: false) }
    }

    /// Calls `hangUp`, once, if the peer ends its side before ``stopWatching()``. What it sends meanwhile is kept, up to a
    /// limit.
    func watch(_ hangUp: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if state.isClosed || state.peerHasEnded { return true }
            state.waiting = .watcher(hangUp)
            if state.early.count < Self.mostEarly { arm(&state, reading: true) }
            return false
        }
        if hasEnded { return hangUp() }
        // What the cipher has already is not announced by the socket.
        if isSecure { readable() }
    }

    func stopWatching() {
        state.withLock { state in
            if case .watcher = state.waiting {
                state.waiting = .nobody
                disarm(&state, reading: true)
            }
        }
    }

    private func readable() {
        enum Call {
            case none
            case resume(CheckedContinuation<Void, Never>)
            case hangUp(@Sendable () -> Void)
        }
        let call: Call = state.withLock { state in
            switch state.waiting {
            case .nobody:
                disarm(&state, reading: true)
                return .none
            case .reader(let continuation):
                state.waiting = .nobody
                disarm(&state, reading: true)
                return .resume(continuation)
            case .watcher(let hangUp):
                while state.early.count < Self.mostEarly {
                    switch receive(&state) {
                    case .none: return .none
                    case .some(nil):
                        state.peerHasEnded = true
                        state.waiting = .nobody
                        disarm(&state, reading: true)
                        return .hangUp(hangUp)
                    case .some(let bytes?): state.early += bytes
                    }
                }
                disarm(&state, reading: true)
                return .none
            }
        }
        switch call {
        case .none: break
        case .resume(let continuation): continuation.resume()
        case .hangUp(let hangUp): hangUp()
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
                return state.wire.send(&rest)
            }
            switch progress {
            case .whole: return true
            case .ended: return false
            case .blocked:
                await withCheckedContinuation { continuation in
                    let isClosed = state.withLock { state in
                        if state.isClosed { return true }
                        state.writer = continuation
                        arm(&state, reading: false)
                        return false
                    }
                    if isClosed { continuation.resume() }
                }
            }
        }
    }

    private func writable() {
        let writer: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard !state.isClosed else { return nil }
            if state.wire.flush() == .blocked { return nil }
            if state.finishesWhenSent { SystemSockets.finishWriting(socket) }
            disarm(&state, reading: false)
            return state.writer.take()
        }
        writer?.resume()
    }

    // MARK: Ending

    /// Sends no more, so that the peer sees the end of the answer, while what it sends is still taken.
    func finishWriting() {
        state.withLock { state in
            guard !state.isClosed else { return }
            if state.wire.finish() == .blocked {
                state.finishesWhenSent = true
                arm(&state, reading: false)
            } else {
                SystemSockets.finishWriting(socket)
            }
        }
    }

    /// Ends the connection at once. Who waits is woken. Doing it twice does nothing.
    ///
    /// - Parameter asBroken: whether the other side is to see that it hasn't got all.
    func close(asBroken: Bool = false) {
        enum Call {
            case none
            case resume(CheckedContinuation<Void, Never>)
            case hangUp(@Sendable () -> Void)
        }
        let calls: (Call, CheckedContinuation<Void, Never>?)? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            // While the lock is held, since the descriptor is the channel's only until the sources are cancelled.
            if asBroken {
                SystemSockets.resetWhenClosed(socket)
            } else {
                _ = shutdown(socket, Int32(SHUT_RDWR))
            }
            // A source that is suspended can't be let go.
            arm(&state, reading: true)
            arm(&state, reading: false)
            readSource.cancel()
            writeSource.cancel()
            let call: Call =
                switch state.waiting {
                case .nobody: .none
                case .reader(let continuation): .resume(continuation)
                case .watcher(let hangUp): .hangUp(hangUp)
                }
            state.waiting = .nobody
            return (call, state.writer.take())
        }
        guard let calls else { return }
        switch calls.0 {
        case .none: break
        case .resume(let continuation): continuation.resume()
        case .hangUp(let hangUp): hangUp()
        }
        calls.1?.resume()
    }

    private func arm(_ state: inout State, reading: Bool) {
        if reading, !state.readIsArmed {
            state.readIsArmed = true
            readSource.resume()
        } else if !reading, !state.writeIsArmed {
            state.writeIsArmed = true
            writeSource.resume()
        }
    }

    private func disarm(_ state: inout State, reading: Bool) {
        guard !state.isClosed else { return }
        if reading, state.readIsArmed {
            state.readIsArmed = false
            readSource.suspend()
        } else if !reading, state.writeIsArmed {
            state.writeIsArmed = false
            writeSource.suspend()
        }
    }
}

/// Counts down from a number.
private final class Countdown: Sendable {
    private let count: Mutex<Int>

    init(_ count: Int) { self.count = Mutex(count) }

    /// Whether that was the last.
    func countDown() -> Bool {
        count.withLock { count in
            count -= 1
            return count == 0
        }
    }
}
