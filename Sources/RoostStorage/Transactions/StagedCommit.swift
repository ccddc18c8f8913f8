import Dispatch
import RoostBytes
import RoostFile
import Synchronization

/// A commit whose bytes are complete in memory and wait to be written and synced.
final class StagedCommit: Sendable {
    /// The commit's end, and the whole of a small one.
    let bytes: UnwrittenBytes
    /// What comes before ``bytes`` and may still be on its way to the file.
    let parts: CommitParts?
    let file: DataFile
    let record: CommitRecord
    /// What is true once the commit is on the medium, or why it can't be; `nil` while its changes are still being made.
    private let made: Mutex<Result<StoreState, StoreError>?>
    private let isMade = DispatchSemaphore(value: 0)
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

    /// A commit whose changes are still to be made.
    init(bytes: UnwrittenBytes, parts: CommitParts?, file: DataFile, record: CommitRecord) {
        (self.bytes, self.parts, self.file, self.record) = (bytes, parts, file, record)
        needsSync = true
        made = Mutex(nil)
    }

    init(bytes: UnwrittenBytes, parts: CommitParts? = nil, state: StoreState, needsSync: Bool = true) {
        (self.bytes, self.parts, self.file, self.record) = (bytes, parts, state.file, state.record)
        self.needsSync = needsSync
        made = Mutex(.success(state))
    }

    /// Says that the commit's changes were made, or why they could not be.
    func noteApplied(with outcome: Result<StoreState, StoreError>) {
        made.withLock { $0 = outcome }
        isMade.signal()
    }

    /// The state after the commit; `nil` while its changes are still to be made.
    var stateIfMade: StoreState? {
        get throws(StoreError) { try made.withLock { $0 }?.get() }
    }

    /// The state after the commit, once its changes are made. For one thread at a time.
    var state: StoreState {
        get throws(StoreError) {
            if let made = made.withLock({ $0 }) { return try made.get() }
            isMade.wait()
            guard let made = made.withLock({ $0 }) else { preconditionFailure("signalled when it is there") }
            return try made.get()
        }
    }

    func wait() -> Outcome {
        arrived.wait()
        return outcome.withLock { $0 } ?? .done
    }

    func acknowledge(_ outcome: Outcome) {
        self.outcome.withLock { $0 = outcome }
        arrived.signal()
    }
}

// MARK: - BatchWriter

/// Writes commits at the end of the file, several of them as one piece, preallocating where that pays.
struct BatchWriter: ~Copyable, Sendable {
    /// Held while writing.
    private let allocation: Mutex<Preallocation>

    init(from end: UInt64) { allocation = Mutex(Preallocation(from: end)) }

    /// Writes the bytes of `batch`, which follow each other in the file.
    func write(_ batch: [StagedCommit], to file: DataFile) throws(StoreError) {
        if !Failpoint.forgottenParts.isActive { for commit in batch { try commit.parts?.finish() } }
        let outcome: Result<Void, StoreError> = allocation.withLock { allocation in
            Result { () throws(StoreError) in
                let isLarge = batch.contains { $0.parts != nil }
                if batch.count == 1, let bytes = batch.first?.bytes {
                    return try allocation.write(bytes.buffer, at: bytes.start, to: file, isLarge: isLarge)
                }
                allocation.gathered.reset(keeping: Preallocation.largest)
                var start = batch[0].bytes.start
                for bytes in batch.map(\.bytes) {
                    if bytes.start != start + UInt64(allocation.gathered.count) {
                        try allocation.write(allocation.gathered, at: start, to: file, isLarge: isLarge)
                        allocation.gathered.reset()
                        start = bytes.start
                    }
                    allocation.gathered.append(bytes.buffer.view)
                }
                try allocation.write(allocation.gathered, at: start, to: file, isLarge: isLarge)
            }
        }
        try outcome.get()
    }

    /// Lets the medium begin with what was written, so that a sync which comes later has less to wait for.
    static func startWriteback(of batch: [StagedCommit], in file: DataFile) {
        for bytes in batch.map(\.bytes) {
            file.file.startWriteback(of: bytes.buffer.count, at: bytes.start)
        }
    }

    /// Cuts the file off at `end`, where `failure` has left the medium; see ``DataFile/cut(at:becauseOf:)``.
    func cut(_ file: DataFile, at end: UInt64, becauseOf failure: StoreError?) {
        allocation.withLock { allocation in
            file.cut(at: end, becauseOf: failure)
            allocation.allocatedEnd = end
        }
    }

    /// Gives the space after `end` back.
    func trim(_ file: DataFile, to end: UInt64) {
        allocation.withLock { allocation in
            if let size = try? file.file.size(), size > end { try? file.file.truncate(to: end) }
            allocation.allocatedEnd = end
        }
    }
}
