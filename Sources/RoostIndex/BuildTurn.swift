import Dispatch
import Roost
import Synchronization

/// The turn of the one who writes, in the order in which they came. Who waits can be cancelled, and takes no pool's thread.
final class BuildTurn: Sendable {
    private struct State {
        var isTaken = false
        /// Those who wait, by number, the lowest first.
        var waiting: [(number: UInt64, signal: DispatchSemaphore)] = []
        var lastNumber: UInt64 = 0
    }

    /// How long it takes at most till one who waits sees that the task is cancelled.
    private static let interval = DispatchTimeInterval.milliseconds(20)

    private let state = Mutex(State())

    /// Calls `body` when the turn has come.
    ///
    /// - Throws: what `body` throws; `CancellationError` when the task is cancelled before.
    func take<R>(_ body: () throws -> R) throws -> R {
        let place = state.withLock { state -> (number: UInt64, signal: DispatchSemaphore)? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.lastNumber += 1
            let place = (number: state.lastNumber, signal: DispatchSemaphore(value: 0))
            state.waiting.append(place)
            return place
        }
        if let place { try WorkerPool.waiting { try wait(place.number, place.signal) } }
        defer { pass() }
        return try body()
    }

    private func wait(_ number: UInt64, _ signal: DispatchSemaphore) throws {
        while signal.wait(timeout: .now() + Self.interval) == .timedOut {
            guard Task.isCancelled else { continue }
            // The turn may have come meanwhile.
            let hasLeft = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
                    return false
                }
                state.waiting.remove(at: index)
                return true
            }
            if hasLeft { throw CancellationError() }
        }
    }

    /// Gives the turn to the one who has waited longest.
    private func pass() {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return
            }
            state.waiting.removeFirst().signal.signal()
        }
    }
}
