import RoostBytes

/// Decodes what ``OperationEncoder`` wrote.
struct OperationDecoder {
    private var reader: ByteReader
    private let lastKey = ByteBuffer()
    private var lastEnd: UInt64 = 0

    init(_ bytes: ByteView) { reader = ByteReader(bytes) }

    /// Decodes what an encoder wrote from `mark` on.
    init(_ bytes: ByteView, after mark: OperationEncoder.Mark) {
        reader = ByteReader(bytes.dropFirst(mark.offset))
        mark.lastKey.withView { lastKey.append($0) }
        lastEnd = mark.lastEnd
    }

    /// Calls `body` with the next operation; `false` at the end. Views are valid during the call.
    mutating func next<E: Error>(
        _ body: (LogOperation) throws(E) -> Void
    ) throws(Failure<E>) -> Bool {
        guard !reader.isAtEnd else { return false }
        let operation: LogOperation
        do { operation = try decode() } catch { throw .malformed(error) }
        defer { extendLifetime(lastKey) }
        do { try body(operation) } catch { throw .body(error) }
        return true
    }

    /// Either the bytes or what was done with them failed.
    enum Failure<E: Error>: Error {
        case malformed(MalformedBytes)
        case body(E)
    }

    private mutating func decode() throws(MalformedBytes) -> LogOperation {
        let code = try reader.byte()
        switch code {
        case LogOperation.Code.delete:
            return .delete(key: try key())
        case LogOperation.Code.deleteRange:
            let bounds = try reader.byte()
            guard bounds <= 3 else { throw MalformedBytes(at: reader.position) }
            let lower = bounds & 1 == 0 ? nil : try bound()
            let upper = bounds & 2 == 0 ? nil : try bound()
            return .deleteRange(lower: lower, upper: upper)
        case LogOperation.Code.appendLeaf:
            return .appendLeaf(try chunk())
        default:
            guard code & ~3 == LogOperation.Code.put, let kind = ReferenceKind(rawValue: code & 3) else {
                throw MalformedBytes(at: reader.position)
            }
            let key = try key()
            let inline = try reader.prefixed()
            guard inline.count <= Format.maximumInlineLength else {
                throw MalformedBytes(at: reader.position)
            }
            let chunk = kind == .none ? .nowhere : try chunk()
            return .put(key: key, Entry(kind: kind, inline: inline, chunk: chunk))
        }
    }

    private mutating func key() throws(MalformedBytes) -> ByteView {
        let shared = try reader.length(limit: lastKey.count)
        let rest = try reader.prefixed()
        guard shared + rest.count <= Format.maximumKeyLength else {
            throw MalformedBytes(at: reader.position)
        }
        lastKey.resize(to: shared)
        lastKey.append(rest)
        return lastKey.view
    }

    private mutating func bound() throws(MalformedBytes) -> [UInt8] {
        let bytes = try reader.prefixed()
        guard bytes.count <= Format.maximumKeyLength else { throw MalformedBytes(at: reader.position) }
        return bytes.array
    }

    private mutating func chunk() throws(MalformedBytes) -> ChunkReference {
        let offset = ChunkReference.offset(try reader.varint(), from: lastEnd)
        let length = try reader.varint()
        guard offset <= ChunkReference.maximumOffset, length <= UInt64(UInt32.max) else {
            throw MalformedBytes(at: reader.position)
        }
        let chunk = ChunkReference(offset: offset, length: UInt32(length))
        lastEnd = chunk.end
        return chunk
    }
}
