import RoostBytes

/// The payload of a chunk of operations: a link to the commit's chunk before it, then a section for each tree.
///
/// ```
/// previous chunk's offset (8) | its length (4) | { tree (varint) | length (varint) | operations }*
/// ```
/// Tree 0 is the section of ``TreeOperation``s, which come before everything else in a commit.
enum OperationChunk {
    static let treeSection: UInt64 = 0

    static func begin(after previous: ChunkReference?, in buffer: ByteBuffer) {
        buffer.append(integer: previous?.offset ?? 0)
        buffer.append(integer: previous?.length ?? 0)
    }

    static func append(section tree: UInt64, _ bytes: ByteView, to buffer: ByteBuffer) {
        buffer.append(varint: tree)
        buffer.append(prefixed: bytes)
    }

    /// The link to the chunk before, which must stand before it.
    static func previous(in payload: ByteView, at chunk: ChunkReference) throws(MalformedBytes)
        -> ChunkReference?
    {
        var reader = ByteReader(payload)
        let offset = try reader.integer(UInt64.self)
        let length = try reader.integer(UInt32.self)
        guard length > 0 else { return nil }
        guard offset < chunk.offset else { throw MalformedBytes(at: 0) }
        return ChunkReference(offset: offset, length: length)
    }

    /// The sections in their order.
    static func sections(
        of payload: ByteView
    ) throws(MalformedBytes) -> [(tree: UInt64, bytes: ByteView)] {
        var reader = ByteReader(payload)
        _ = try reader.view(12)
        var sections: [(UInt64, ByteView)] = []
        while !reader.isAtEnd {
            sections.append((try reader.varint(), try reader.prefixed()))
        }
        return sections
    }
}

extension TreeOperation {
    func encode(to buffer: ByteBuffer) {
        switch self {
        case .create(let id, let name, let reduction):
            buffer.append(Code.create)
            buffer.append(varint: id)
            for text in [name, reduction] { Array(text.utf8).withView { buffer.append(prefixed: $0) } }
        case .drop(let id):
            buffer.append(Code.drop)
            buffer.append(varint: id)
        }
    }

    static func decode(_ bytes: ByteView) throws(MalformedBytes) -> [TreeOperation] {
        var reader = ByteReader(bytes)
        var operations: [TreeOperation] = []
        while !reader.isAtEnd {
            switch try reader.byte() {
            case Code.create:
                let id = try reader.varint()
                guard 1...Format.maximumTreeID ~= id else { throw MalformedBytes(at: reader.position) }
                let name = try reader.treeName()
                operations.append(.create(id: id, name: name, reduction: try reader.reductionName()))
            case Code.drop:
                operations.append(.drop(id: try reader.varint()))
            default:
                throw MalformedBytes(at: reader.position)
            }
        }
        return operations
    }
}

extension ByteReader {
    /// The name of a tree, which is never empty.
    mutating func treeName() throws(MalformedBytes) -> String {
        let name = try reductionName()
        guard !name.isEmpty else { throw MalformedBytes(at: position) }
        return name
    }

    /// The name of a reduction; empty for none.
    mutating func reductionName() throws(MalformedBytes) -> String {
        let bytes = try prefixed()
        guard bytes.count <= Format.maximumNameLength,
            let name = String(validating: bytes.array, as: UTF8.self)
        else { throw MalformedBytes(at: position) }
        return name
    }
}
