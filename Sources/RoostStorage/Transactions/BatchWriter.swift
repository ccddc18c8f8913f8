import RoostBytes
import RoostFile
import Synchronization

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
