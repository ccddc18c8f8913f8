import RoostBytes
import Synchronization

/// Buffers of past commits for the next ones: touching fresh memory costs more than writing it.
final class BufferPool: Sendable {
    /// How many bytes make a part of a large commit.
    let partLength: Int
    /// A part, and the chunk that it ends in.
    private let capacity: Int
    private static let most = 16

    private struct Pooled: @unchecked Sendable {  // nobody else holds the buffer
        let buffer: ByteBuffer
    }

    private let buffers = Mutex<[Pooled]>([])

    init(partLength: Int) {
        self.partLength = partLength
        capacity = partLength + partLength / 4
    }

    func take() -> ByteBuffer {
        buffers.withLock { $0.popLast() }?.buffer ?? ByteBuffer(capacity: capacity)
    }

    /// Takes over a buffer that its giver does not use any more.
    func give(_ buffer: ByteBuffer) {
        // Larger buffers are given back to the system.
        guard buffer.capacity <= 2 * capacity else { return }
        buffer.reset()
        let pooled = Pooled(buffer: buffer)
        buffers.withLock { list in
            if list.count < BufferPool.most { list.append(pooled) }
        }
    }
}
