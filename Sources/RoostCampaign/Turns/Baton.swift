import Dispatch
import RoostSimulation
import Synchronization

/// Lets one of several threads run at a time. Which one is decided by a seed, at the points where the running one offers to stop.
final class Baton: Sendable {
    private struct State {
        var generator: SeededGenerator
        var running: Set<Int>
    }

    private let state: Mutex<State>
    private let turns: [DispatchSemaphore]
    private let end = DispatchSemaphore(value: 0)
    /// How probable it is that another one goes on at a point.
    private let chance: Double

    init(_ count: Int, _ generator: SeededGenerator, chance: Double) {
        state = Mutex(State(generator: generator, running: Set(0..<count)))
        turns = (0..<count).map { _ in DispatchSemaphore(value: 0) }
        self.chance = chance
    }

    /// Lets the first one run, and returns when all have ended.
    func run() {
        turns[0].signal()
        end.wait()
    }

    /// Waits for the first turn.
    func begin(_ number: Int) { turns[number].wait() }

    /// Offers the turn to another one.
    func offer(from number: Int) {
        if state.withLock({ $0.generator.chance(chance) }) { _ = pass(from: number) }
    }

    /// Lets another one run; `false` where there is none.
    func pass(from number: Int) -> Bool {
        guard let other = next(than: number) else { return false }
        turns[other].signal()
        turns[number].wait()
        return true
    }

    /// Ends the part of a thread, which runs.
    func end(_ number: Int) {
        state.withLock { _ = $0.running.remove(number) }
        if let other = next(than: number) { turns[other].signal() } else { end.signal() }
    }

    private func next(than number: Int) -> Int? {
        state.withLock { state in
            let others = state.running.subtracting([number]).sorted()
            return others.isEmpty ? nil : others[state.generator.next(below: others.count)]
        }
    }
}
