import Dispatch
import Synchronization

/// Where a function of a test stops, on a thread that is no task's, until the test has seen what it wants to see.
final class TestGate: Sendable {
    private let arrivals = Atomic(0)
    private let semaphore = DispatchSemaphore(value: 0)
    private let isOpen = Atomic(false)

    /// Stops until the gate is opened.
    func pass() {
        arrivals.add(1, ordering: .sequentiallyConsistent)
        while !isOpen.load(ordering: .sequentiallyConsistent) {
            if semaphore.wait(timeout: .now() + 0.005) == .success { return }
        }
    }

    /// Lets all pass from now on.
    func open() { isOpen.store(true, ordering: .sequentiallyConsistent) }

    /// Returns when so many have come to the gate.
    func wait(for count: Int) async throws {
        while arrivals.load(ordering: .sequentiallyConsistent) < count {
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
