import Dispatch
import Foundation
import Synchronization

/// The threads on which keys are derived from passwords: few, so that guessing takes no more of the machine, and in turns between
/// those who ask, so that one of them waits behind the own requests and not the others'.
final class PasswordWork: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        /// What waits, by who asks.
        var lanes: [AttemptKey: [Job]] = [:]
        /// The lanes that have something waiting, in the order of their turns; those before `next` have had theirs.
        var turns: [AttemptKey] = []
        var next = 0
        var waiting = 0
        var idle: [DispatchQueue]
    }

    /// The requests of one lane that wait, at most.
    private static let mostInLane = 16
    /// The requests that wait, at most.
    static let mostWaiting = 1_024

    private let state: Mutex<State>
    /// How many derivations run at a time.
    let threads: Int

    /// - Parameter threads: How many derivations run at a time.
    init(threads: Int = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)) {
        self.threads = threads
        state = Mutex(State(idle: (1...threads).map { DispatchQueue(label: "roost.passwords.\($0)") }))
    }

    /// The requests that wait.
    var waitingCount: Int { state.withLock { $0.waiting } }
    /// The threads that have nothing to do.
    var idleCount: Int { state.withLock { $0.idle.count } }

    /// Runs `body` on one of the threads, when its lane has its turn.
    ///
    /// - Throws: 503 when too many wait; what `body` throws.
    func run<R: Sendable>(
        _ lane: AttemptKey, _ body: @escaping @Sendable () throws -> R
    ) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            if !enqueue(lane, { continuation.resume(with: Result { try body() }) }) {
                continuation.resume(throwing: Self.busy)
            }
        }
    }

    private static let busy = HTTPFailure(
        503, "service unavailable", "Too many passwords are being checked. Try again in a few seconds.",
        headers: ["Retry-After": "5"])

    private func enqueue(_ lane: AttemptKey, _ job: @escaping Job) -> Bool {
        let (isTaken, worker): (Bool, DispatchQueue?) = state.withLock { state in
            if let worker = state.idle.popLast() { return (true, worker) }
            let count = state.lanes[lane]?.count ?? 0
            guard count < Self.mostInLane, state.waiting < Self.mostWaiting else { return (false, nil) }
            if count == 0 { state.turns.append(lane) }
            state.lanes[lane, default: []].append(job)
            state.waiting += 1
            return (true, nil)
        }
        worker?.async {
            job()
            while let next = self.next(worker) { next() }
        }
        return isTaken
    }

    /// The first job of the lane whose turn it is; `nil` when there is none, and then `worker` is idle.
    private func next(_ worker: DispatchQueue?) -> Job? {
        state.withLock { state in
            guard state.next < state.turns.count else {
                state.turns = []
                state.next = 0
                if let worker { state.idle.append(worker) }
                return nil
            }
            let lane = state.turns[state.next]
            state.next += 1
            if state.next == Self.mostWaiting {
                state.turns.removeFirst(state.next)
                state.next = 0
            }
            // A lane has a turn while something waits in it.
            var jobs = state.lanes.removeValue(forKey: lane) ?? []
            let job = jobs.removeFirst()
            state.waiting -= 1
            if !jobs.isEmpty {
                state.lanes[lane] = jobs
                state.turns.append(lane)
            }
            return job
        }
    }
}
