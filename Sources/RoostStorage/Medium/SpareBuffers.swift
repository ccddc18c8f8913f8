import RoostBytes
import Synchronization

/// Memory of past commits for the next ones: touching fresh memory costs more than writing it.
final class SpareBuffers: Sendable {
    /// A part, and the chunk that it ends in.
    private static let capacity = CommitParts.partLength + CommitParts.partLength / 4
    /// Larger buffers are given back to the system.
    private static let largest = 2 * capacity
    private static let most = 16

    private struct Spare: @unchecked Sendable {  // nobody else holds the buffer
        let buffer: ByteBuffer
    }

    private let spares = Mutex<[Spare]>([])

    func take() -> ByteBuffer {
        spares.withLock { $0.popLast() }?.buffer ?? ByteBuffer(capacity: SpareBuffers.capacity)
    }

    /// Takes over a buffer that its giver does not use any more.
    func give(_ buffer: ByteBuffer) {
        guard buffer.capacity <= SpareBuffers.largest else { return }
        buffer.reset()
        let spare = Spare(buffer: buffer)
        spares.withLock { list in
            if list.count < SpareBuffers.most { list.append(spare) }
        }
    }
}
