import Dispatch
import RoostFile
import RoostStorage
import Synchronization

/// Purges documents when they expire, while the database is open, and those that expired before it was opened.
///
/// It holds no list: the extras of each collection have the expirations in order, and the timer is set to the first.
final class ExpirationTimer: Sendable {
    private struct State {
        /// When the timer goes off, in microseconds since 1970; `nil` when it is not set.
        var due: UInt64?
        var isStopped = true
        /// Only the timer set last counts.
        var setting = 0
        /// When purging may begin again, in microseconds since 1970.
        var next: UInt64 = 0
    }

    private let state = Mutex(State())
    private let environment: Environment
    /// A queue of its own: a purge waits for the medium, which no shared thread should do.
    private let queue = DispatchQueue(label: "roost.expirations", qos: .utility)
    /// How far ahead a timer is set at most, in microseconds: the clock may be changed meanwhile.
    private static let longestWait: UInt64 = 60_000_000
    /// How long no purge begins after another one, in microseconds: documents that expire one after the other are purged some in
    /// a commit, as each commit waits for the medium and keeps writers waiting.
    private static let spacing: UInt64 = 100_000

    init(environment: Environment) {
        self.environment = environment
    }

    /// Begins to work for `core`, which it does not keep alive.
    func start(_ core: DatabaseCore) {
        state.withLock { $0.isStopped = false }
        set(0, core)
    }

    /// Ends the work.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.setting += 1
            state.due = nil
        }
    }

    /// Sees to it that the timer goes off at `time` or before.
    func schedule(at time: UInt64, _ core: DatabaseCore) {
        let isLater = state.withLock { $0.due.map { $0 <= time } ?? false }
        if !isLater { set(time, core) }
    }

    private func set(_ time: UInt64, _ core: DatabaseCore) {
        let set: (setting: Int, time: UInt64)? = state.withLock { state in
            guard !state.isStopped else { return nil }
            state.setting += 1
            state.due = max(time, state.next)
            return (state.setting, max(time, state.next))
        }
        guard let (setting, time) = set else { return }
        let now = environment.clock.now()
        let wait = time > now ? min(time - now, Self.longestWait) : 0
        queue.asyncAfter(deadline: .now() + .microseconds(Int(wait))) { [weak self, weak core] in
            guard let self, let core, self.state.withLock({ $0.setting == setting }) else { return }
            self.fire(core)
        }
    }

    private func fire(_ core: DatabaseCore) {
        let now = environment.clock.now()
        state.withLock { state in
            state.due = nil
            state.next = now + Self.spacing
        }
        do throws(DatabaseError) {
            _ = try core.purgeExpired()
            if let next = try core.firstExpiration() { schedule(at: next, core) }
        } catch {
            // The medium failed or the database was closed. The next write that sets an expiration, or the next
            // opening, tries again.
        }
    }
}
