import RoostBytes

/// What a checkpoint says of all trees: their names and where their roots are.
///
/// ```
/// next tree's number (varint) | number of trees (varint) |
/// { id (varint) | name (prefixed) | reduction's name (prefixed) | root (1: 0 empty, 1 stored) |
///   [ level (1) | offset (varint) | length (varint) | count (varint) | bytes (varint) | reduction (prefixed) ] }*
/// and in a file with a transform: number of entries (varint) | { start (varint) | number (8) }*
/// ```
struct RootDirectory {
    struct Tree {
        var id: UInt64
        var name: String
        var reduction: String
        /// Never in memory.
        var root: Root
    }

    var nextTreeID: UInt64
    var trees: [Tree]
    /// What the chunks up to here are bound to; empty without a transform.
    var history: [WritingHistory.Entry] = []

    init(nextTreeID: UInt64, trees: [Tree]) {
        self.nextTreeID = nextTreeID
        self.trees = trees
    }

    func encoded() -> ByteBuffer {
        let buffer = ByteBuffer()
        buffer.append(varint: nextTreeID)
        buffer.append(varint: UInt64(trees.count))
        for tree in trees {
            buffer.append(varint: tree.id)
            for text in [tree.name, tree.reduction] {
                Array(text.utf8).withView { buffer.append(prefixed: $0) }
            }
            guard case .stored(let child, let level) = tree.root else {
                buffer.append(UInt8(0))
                continue
            }
            buffer.append(UInt8(1))
            buffer.append(level)
            buffer.append(varint: child.chunk.offset)
            buffer.append(varint: UInt64(child.chunk.length))
            buffer.append(varint: child.summary.count)
            buffer.append(varint: child.summary.bytes)
            child.reduction.withView { buffer.append(prefixed: $0) }
        }
        guard !history.isEmpty else { return buffer }
        buffer.append(varint: UInt64(history.count))
        for entry in history {
            buffer.append(varint: entry.start)
            buffer.append(integer: entry.number)
        }
        return buffer
    }

    /// Decodes the directory in the chunk at `place`; all roots must stand before it.
    init(decoding bytes: ByteView, at place: ChunkReference) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        nextTreeID = try reader.varint()
        guard 1...Format.maximumTreeID + 1 ~= nextTreeID else { throw MalformedBytes(at: reader.position) }
        let count = try reader.length(limit: bytes.count)
        trees = []
        for _ in 0..<count {
            let id = try reader.varint()
            let name = try reader.treeName()
            let reduction = try reader.reductionName()
            guard id > (trees.last?.id ?? 0), id < nextTreeID else {
                throw MalformedBytes(at: reader.position)
            }
            let root = try RootDirectory.root(&reader, before: place)
            trees.append(Tree(id: id, name: name, reduction: reduction, root: root))
        }
        guard !reader.isAtEnd else { return }
        for _ in 0..<(try reader.length(limit: bytes.count)) {
            history.append(
                WritingHistory.Entry(start: try reader.varint(), number: try reader.integer(UInt64.self)))
        }
    }

    private static func root(_ reader: inout ByteReader, before place: ChunkReference) throws(MalformedBytes)
        -> Root
    {
        switch try reader.byte() {
        case 0: return .empty
        case 1:
            let level = try reader.byte()
            let offset = try reader.varint()
            let length = try reader.length(limit: Int(clamping: UInt32.max))
            guard level <= Format.maximumLevel, offset < place.offset else {
                throw MalformedBytes(at: reader.position)
            }
            let chunk = ChunkReference(offset: offset, length: UInt32(length))
            let summary = Summary(count: try reader.varint(), bytes: try reader.varint())
            let reduction = try reader.prefixed()
            guard reduction.count <= Format.maximumReductionLength else {
                throw MalformedBytes(at: reader.position)
            }
            return .stored(
                StoredChild(chunk: chunk, summary: summary, reduction: reduction.array), level: level)
        default:
            throw MalformedBytes(at: reader.position)
        }
    }
}
