import RoostBytes

/// Encodes the operations on one tree, keys relative to the key before, chunks relative to the chunk before.
final class OperationEncoder {
    let buffer = ByteBuffer()
    private let lastKey = ByteBuffer()
    private var lastEnd: UInt64 = 0

    var isEmpty: Bool { buffer.count == 0 }

    /// Starts over, as each chunk of operations does.
    func reset() {
        buffer.reset(keeping: 1 << 18)
        lastKey.reset()
        lastEnd = 0
    }

    /// A place between two operations, from which on they can be decoded.
    struct Mark {
        let offset: Int
        let lastKey: [UInt8]
        let lastEnd: UInt64
    }

    /// The place where the next operation goes.
    var mark: Mark { Mark(offset: buffer.count, lastKey: lastKey.view.array, lastEnd: lastEnd) }

    /// Takes all that another encoder has, as the last that this one takes.
    func repeatAll(_ operations: [UInt8]) { buffer.append(operations) }

    func put(_ key: ByteView, _ entry: Entry) {
        buffer.append(LogOperation.Code.put | entry.kind.rawValue)
        append(key)
        buffer.append(prefixed: entry.inline)
        if entry.kind != .none { append(entry.chunk) }
    }

    func delete(_ key: ByteView) {
        buffer.append(LogOperation.Code.delete)
        append(key)
    }

    func deleteRange(_ lower: [UInt8]?, _ upper: [UInt8]?) {
        buffer.append(LogOperation.Code.deleteRange)
        buffer.append((lower == nil ? 0 : 1) | (upper == nil ? 0 : 2))
        for bound in [lower, upper] {
            bound?.withView { buffer.append(prefixed: $0) }
        }
    }

    func appendLeaf(_ leaf: ChunkReference) {
        buffer.append(LogOperation.Code.appendLeaf)
        append(leaf)
    }

    private func append(_ key: ByteView) {
        let shared = lastKey.view.commonPrefix(key)
        buffer.append(varint: UInt64(shared))
        buffer.append(prefixed: key.dropFirst(shared))
        lastKey.resize(to: shared)
        lastKey.append(key.dropFirst(shared))
    }

    /// The distance from the end of the chunk named before, as a zigzag varint, then the length.
    private func append(_ chunk: ChunkReference) {
        buffer.append(varint: chunk.distance(from: lastEnd))
        buffer.append(varint: UInt64(chunk.length))
        lastEnd = chunk.end
    }
}
