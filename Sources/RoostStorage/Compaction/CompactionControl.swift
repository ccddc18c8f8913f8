import Dispatch
import Synchronization

/// By which a running compaction is told to stop, and tells how far it is. Usable from any thread.
final class CompactionControl: Sendable {
    private let cancelled = Atomic<Bool>(false)
    private let wake = DispatchSemaphore(value: 0)
    private let work = Mutex<WorkUnderWay?>(nil)

    /// `nil` before it begins.
    var underWay: WorkUnderWay? { work.withLock { $0 } }

    /// The compaction begins at `time`, in microseconds since 1970.
    func begin(at time: UInt64, bytesTotal: UInt64) {
        work.withLock {
            $0 = WorkUnderWay(start: time, progress: WorkProgress(completed: 0, total: bytesTotal))
        }
    }

    func note(_ progress: WorkProgress) { work.withLock { $0?.progress = progress } }

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
