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

// MARK: - FileHeader

/// The first block of a file, of which the second block is a copy. Written once, when the file is made.
struct FileHeader: Sendable, Equatable {
    static let magic: [UInt8] = [0x52, 0x6F, 0x6F, 0x73, 0x74, 0x0A, 0x1A, 0x00]
    /// The most that a chunk transform may keep in the header, in bytes.
    static let maximumParameterLength = 2048

    /// Features that a reader without them may ignore, must not write beside, and must refuse.
    var ignorableFeatures: UInt64 = 0
    var readOnlyFeatures: UInt64 = 0
    var requiredFeatures: UInt64 = 0
    /// Names the store through all its compactions.
    var storeID: [UInt8]
    /// Names this file; each compaction makes a new one.
    var fileID: [UInt8]
    /// Seeds all checksums of the file. Never shown, so that no value can be made to look like a commit.
    var salt: UInt64
    /// Microseconds since 1970.
    var created: UInt64
    /// How many compactions lie behind this file.
    var generation: UInt64
    /// What the chunk transform needs to open the file: never a bare key.
    var transformParameters: [UInt8] = []

    /// Chunks are transformed (encrypted): a reader without the transform can do nothing.
    static let transformedFeature: UInt64 = 1

    private static let parametersOffset = 104

    /// The block of ``Format/blockSize`` bytes.
    func encoded() -> ByteBuffer {
        let block = ByteBuffer(capacity: Format.blockSize)
        block.append(FileHeader.magic)
        block.append(integer: Format.version)
        block.append(integer: UInt32(0))
        block.append(integer: ignorableFeatures)
        block.append(integer: readOnlyFeatures)
        block.append(integer: requiredFeatures)
        block.append(storeID)
        block.append(fileID)
        block.append(integer: salt)
        block.append(integer: created)
        block.append(integer: generation)
        block.append(integer: UInt32(0))
        block.append(integer: UInt32(transformParameters.count))
        block.append(transformParameters)
        block.append(zeros: Format.blockSize - 8 - block.count)
        block.append(integer: Checksum.of(block.view, seed: 0))
        return block
    }

    /// Why a block is no header.
    enum Refusal: Error, Equatable {
        case notAHeader
        case damaged
        case newerVersion(UInt32)
        case unknownFeatures(UInt64)
        /// A key was given for a file that needs none.
        case notTransformed
    }

    /// Reads a header block; `features` are the required features that the caller can handle.
    init(decoding block: ByteView, features: UInt64 = FileHeader.transformedFeature) throws(Refusal) {
        guard block.count == Format.blockSize,
            FileHeader.magic.withView({ block.slice(0, 8).compare($0) }) == 0
        else { throw .notAHeader }
        let checksum: UInt64 = block.load(at: Format.blockSize - 8)
        guard Checksum.of(block.slice(0, Format.blockSize - 8), seed: 0) == checksum else { throw .damaged }
        let version: UInt32 = block.load(at: 8)
        guard version == Format.version else { throw .newerVersion(version) }
        ignorableFeatures = block.load(at: 16)
        readOnlyFeatures = block.load(at: 24)
        requiredFeatures = block.load(at: 32)
        guard requiredFeatures & ~features == 0 else { throw .unknownFeatures(requiredFeatures & ~features) }
        storeID = block.slice(40, 16).array
        fileID = block.slice(56, 16).array
        salt = block.load(at: 72)
        created = block.load(at: 80)
        generation = block.load(at: 88)
        let length = Int(block.load(UInt32.self, at: 100))
        guard length <= FileHeader.maximumParameterLength else { throw .damaged }
        transformParameters = block.slice(FileHeader.parametersOffset, length).array
    }

    /// A header for a new file.
    init(storeID: [UInt8], fileID: [UInt8], salt: UInt64, created: UInt64, generation: UInt64) {
        self.storeID = storeID
        self.fileID = fileID
        self.salt = salt
        self.created = created
        self.generation = generation
    }
}
