import RoostBytes
import Synchronization

/// Memory of past commits for the next ones: touching fresh memory costs more than writing it.
final class SpareBuffers: Sendable {
    /// Larger buffers are given back to the system.
    private static let largest = 2 << 20
    private static let most = 4

    private struct Spare: @unchecked Sendable {  // nobody else holds the buffer
        let buffer: ByteBuffer
    }

    private let spares = Mutex<[Spare]>([])

    func take() -> ByteBuffer {
        spares.withLock { $0.popLast() }?.buffer ?? ByteBuffer(capacity: 1 << 16)
    }

    /// Takes over a buffer that its giver does not use any more.
    func give(_ buffer: ByteBuffer) {
        guard buffer.count <= SpareBuffers.largest else { return }
        let spare = Spare(buffer: buffer)
        spares.withLock { list in
            if list.count < SpareBuffers.most { list.append(spare) }
        }
    }
}
