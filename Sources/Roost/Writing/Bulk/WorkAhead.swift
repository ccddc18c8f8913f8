import Dispatch
import Foundation
import RoostFile
import Synchronization

/// Work on one input after the other, which other threads do ahead of the caller, who takes the results in order.
///
/// The caller helps where what it wants is not ready, so it never waits for a thread that the system's pool hasn't got. It adds
/// and takes from one thread; how much lies between the two bounds the memory.
package final class WorkAhead<Input: Sendable, Output: Sendable>: Sendable {
    private let work: @Sendable (Input) -> Output
    private let mostHelpers: Int
    private let state = Mutex(State())

    private struct State {
        /// Those whose results were not taken yet, in order.
        var items: [Item] = []
        /// How many of them, from the first on, somebody has begun.
        var begun = 0
        /// Threads of the pool that are on their way or at work.
        var helpers = 0
    }

    /// Input until somebody works on it, and then the output.
    private final class Item: Sendable {
        private let content: Mutex<(input: Input?, output: Output?)>
        private let done = Atomic<Bool>(false)

        init(_ input: Input) { content = Mutex((input, nil)) }

        var isDone: Bool { done.load(ordering: .acquiring) }

        /// What comes of it: worked out now unless that is done, or awaited where another thread is at it.
        func output(_ work: (Input) -> Output) -> Output? {
            content.withLock { content in
                if let input = content.input.take() { content.output = work(input) }
                done.store(true, ordering: .releasing)
                return content.output
            }
        }
    }

    /// - Parameter threads: How many work at once at most, the caller's among them; `nil` for as many as there are cores, and not
    ///   more than eight.
    package init(threads: Int? = nil, _ work: @escaping @Sendable (Input) -> Output) {
        mostHelpers = (threads ?? usualThreads) - 1
        self.work = work
    }

    /// How many inputs should be ahead, so that every thread has one at hand.
    package var depth: Int { 2 * mostHelpers + 1 }

    /// How many results were not taken yet.
    package var count: Int { state.withLock { $0.items.count } }

    /// Adds what comes next.
    package func add(_ input: Input) {
        let item = Item(input)
        let needsHelper = state.withLock { state in
            state.items.append(item)
            guard state.helpers < mostHelpers, canStartThread() else { return false }
            state.helpers += 1
            return true
        }
        if needsHelper {
            DispatchQueue.global().async { [weak self] in
                while self?.advance(endsHelp: true) == true {}
            }
        }
    }

    /// What comes of the first input whose result was not taken yet; `nil` when there is none.
    package func next() -> Output? {
        guard let first = state.withLock({ $0.items.first }) else { return nil }
        // Rather than wait for another thread this one does what comes behind.
        while !first.isDone, advance(endsHelp: false) {}
        defer {
            state.withLock { state in
                state.items.removeFirst()
                state.begun -= 1
            }
        }
        return first.output(work)
    }

    /// Works on the first input that nobody has begun; `false` where there is none.
    private func advance(endsHelp: Bool) -> Bool {
        let item: Item? = state.withLock { state in
            guard state.begun < state.items.count else {
                if endsHelp { state.helpers -= 1 }
                return nil
            }
            defer { state.begun += 1 }
            return state.items[state.begun]
        }
        _ = item?.output(work)
        return item != nil
    }
}

/// How many threads share work unless somebody says otherwise: as many as there are cores, and not more than eight. Asking the
/// system takes as long as parsing a few documents.
package let usualThreads = min(ProcessInfo.processInfo.activeProcessorCount, 8)

/// Whether the process's memory suffices for another thread to share work; see `canStartThread()`.
package var hasRoomForThread: Bool { canStartThread() }
