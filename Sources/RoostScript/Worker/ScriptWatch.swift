import Dispatch
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Ends this process when a call takes more time or memory than it may, after saying so to the process that started it.
///
/// It looks from a thread of its own, so that it needs nothing from the engine and ends what the engine could not interrupt, such as a
/// long search by a regular expression. The other process starts another child afterwards.
final class ScriptWatch: Sendable {
    private struct State {
        /// When the running call is to end, in nanoseconds; `nil` while none runs.
        var deadline: UInt64?
        /// Whether the thread sleeps until a call begins.
        var isIdle = false
    }

    private let limits: ScriptLimits
    private let state = Mutex(State())
    private let began = DispatchSemaphore(value: 0)

    /// Microseconds between looks.
    private static let interval: UInt32 = 100_000

    /// Watches until the process ends.
    init(_ limits: ScriptLimits) {
        self.limits = limits
        DispatchQueue.global().async { self.watch() }
    }

    /// A call begins.
    func begin() {
        let deadline = Self.now + UInt64(min(max(limits.seconds, 0), 1e9) * 1e9)
        let isIdle = state.withLock { state in
            state.deadline = deadline
            defer { state.isIdle = false }
            return state.isIdle
        }
        if isIdle { began.signal() }
    }

    /// The call has ended within its limits.
    func end() { state.withLock { $0.deadline = nil } }

    private func watch() {
        while true {
            let isIdle = state.withLock { state in
                guard let deadline = state.deadline else {
                    state.isIdle = true
                    return true
                }
                // With the lock held: the call can't end meanwhile and answer, too.
                if let verdict = verdict(deadline) { Self.exit(with: verdict) }
                return false
            }
            if isIdle { began.wait() } else { usleep(Self.interval) }
        }
    }

    private func verdict(_ deadline: UInt64) -> ScriptMessage.Kind? {
        if Self.now > deadline { return .tooLong }
        return ResidentMemory.present > limits.memory ? .tooMuchMemory : nil
    }

    private static func exit(with verdict: ScriptMessage.Kind) -> Never {
        _ = ScriptMessage(kind: verdict, bytes: []).write(STDOUT_FILENO)
        _exit(0)
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}
