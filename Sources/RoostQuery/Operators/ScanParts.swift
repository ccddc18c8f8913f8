import Dispatch
import Roost
import Synchronization

/// Work on the parts of a scan that several threads do at once, the caller's among them.
///
/// Each takes one part after the other. Nobody waits for a thread that the system's pool hasn't got.
final class ScanParts<Result: Sendable>: Sendable {
    private let count: Int
    private let work:
        @Sendable (_ part: Int, _ isStopped: @escaping () -> Bool) throws(DatabaseError) -> Result
    private let state: Mutex<State>
    /// Threads of the pool that are at work on a part.
    private let atWork = DispatchGroup()
    /// How long it takes at most till they learn that the caller's task is cancelled.
    private static var interval: DispatchTimeInterval { .milliseconds(20) }

    private struct State {
        /// The first part that no thread has begun.
        var next = 0
        var results: [Result?]
        var failures: [DatabaseError] = []
    }

    init(
        count: Int,
        _ work:
            @escaping @Sendable (_ part: Int, _ isStopped: @escaping () -> Bool) throws(DatabaseError) ->
            Result
    ) {
        self.count = count
        self.work = work
        state = Mutex(State(results: Array(repeating: nil, count: count)))
    }

    /// What comes of each part, in order.
    ///
    /// - Parameter isCancelled: asked by the caller's thread, whether the caller no longer wants the results.
    /// - Throws: the first error that `work` throws. No further part is begun then, and those under way are asked to stop.
    func results(threads: Int, isCancelled: @escaping () -> Bool) throws(DatabaseError) -> [Result] {
        for _ in 1..<max(threads, 1) {
            DispatchQueue.global().async { [self] in takeParts { [self] in hasFailed } }
        }
        let isOver = { Task.isCancelled || isCancelled() }
        takeParts { [self] in hasFailed || isOver() }
        // The task is this thread's alone, so that the others learn from it that it is cancelled.
        while atWork.wait(timeout: .now() + Self.interval) == .timedOut {
            guard isOver(), !hasFailed else { continue }
            state.withLock { $0.failures.append(DatabaseError(.cancelled, "The query was cancelled.")) }
        }
        let (results, failures) = state.withLock { ($0.results, $0.failures) }
        // The first is why the others were stopped.
        if let failure = failures.first { throw failure }
        return results.compactMap(\.self)
    }

    private var hasFailed: Bool { state.withLock { !$0.failures.isEmpty } }

    private func takeParts(_ isStopped: @escaping () -> Bool) {
        while let part = take() {
            defer { atWork.leave() }
            do throws(DatabaseError) {
                let result = try work(part, isStopped)
                state.withLock { $0.results[part] = result }
            } catch {
                state.withLock { $0.failures.append(error) }
            }
        }
    }

    private func take() -> Int? {
        state.withLock { state in
            guard state.next < count, state.failures.isEmpty else { return nil }
            atWork.enter()
            defer { state.next += 1 }
            return state.next
        }
    }
}
