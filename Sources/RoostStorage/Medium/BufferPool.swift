import RoostBytes
import Synchronization

/// Buffers of past commits for the next ones: touching fresh memory costs more than writing it.
final class BufferPool: Sendable {
    /// A part, and the chunk that it ends in.
    private static let capacity = CommitParts.partLength + CommitParts.partLength / 4
    /// Larger buffers are given back to the system.
    private static let largest = 2 * capacity
    private static let most = 16

    private struct Pooled: @unchecked Sendable {  // nobody else holds the buffer
        let buffer: ByteBuffer
    }

    private let buffers = Mutex<[Pooled]>([])

    func take() -> ByteBuffer {
        buffers.withLock { $0.popLast() }?.buffer ?? ByteBuffer(capacity: BufferPool.capacity)
    }

    /// Takes over a buffer that its giver does not use any more.
    func give(_ buffer: ByteBuffer) {
        guard buffer.capacity <= BufferPool.largest else { return }
        buffer.reset()
        let pooled = Pooled(buffer: buffer)
        buffers.withLock { list in
            if list.count < BufferPool.most { list.append(pooled) }
        }
    }
}
