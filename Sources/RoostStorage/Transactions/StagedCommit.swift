import Dispatch
import Synchronization

/// A commit that is complete in memory and waits to be written and synced.
final class StagedCommit: Sendable {
    /// The commit's end, and the whole of a small one.
    let bytes: UnwrittenBytes
    /// What comes before ``bytes`` and may still be on its way to the file.
    let parts: CommitParts?
    /// What is true once it is on the medium.
    let state: StoreState
    private let arrived = DispatchSemaphore(value: 0)
    private let outcome = Mutex<Outcome?>(nil)

    /// What becomes of a commit that waits.
    enum Outcome: Sendable {
        case done
        case failed(StoreError)
        /// The commit's own thread is to write it, and what waits behind it.
        case lead
    }

    /// Whether the commit is acknowledged to anybody.
    let needsSync: Bool

    init(bytes: UnwrittenBytes, parts: CommitParts? = nil, state: StoreState, needsSync: Bool = true) {
        self.needsSync = needsSync
        self.bytes = bytes
        self.parts = parts
        self.state = state
    }

    func wait() -> Outcome {
        arrived.wait()
        return outcome.withLock { $0 } ?? .done
    }

    func resolve(_ outcome: Outcome) {
        self.outcome.withLock { $0 = outcome }
        arrived.signal()
    }
}
