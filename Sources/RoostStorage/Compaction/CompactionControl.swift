import Dispatch
import Synchronization

/// By which a running compaction is told to stop. Usable from any thread.
final class CompactionControl: Sendable {
    private let cancelled = Atomic<Bool>(false)
    private let wake = DispatchSemaphore(value: 0)

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() {
        cancelled.store(true, ordering: .releasing)
        wake.signal()
    }

    /// Waits for `seconds`, or until cancelled.
    func pause(_ seconds: Double) { _ = wake.wait(timeout: .now() + seconds) }

    /// - Throws: ``StoreError/Code/cancelled``
    func check() throws(StoreError) {
        guard !isCancelled else {
            throw StoreError(.cancelled, "The compaction was cancelled; the store is as it was.")
        }
    }
}
