import RoostBytes

/// One change as the commit log holds it. Operations say what the result is, never how to get there, so that
/// replaying them onto a tree that contains some of them already ends in the same tree.
///
/// Views are valid while the operation is being handled.
enum LogOperation {
    case put(key: ByteView, Entry)
    case delete(key: ByteView)
    /// Deletes the keys from `lower` up to, not including, `upper`; `nil` is open.
    case deleteRange(lower: [UInt8]?, upper: [UInt8]?)
    /// Puts a stored leaf at the end of the tree, in the place of everything at or after its first key.
    case appendLeaf(ChunkReference)

    enum Code {
        /// The low two bits are the entry's reference kind.
        static let put: UInt8 = 0x10
        static let delete: UInt8 = 0x20
        static let deleteRange: UInt8 = 0x21
        static let appendLeaf: UInt8 = 0x30
    }
}

/// A change of the set of trees. Tree identifiers are never used twice.
enum TreeOperation: Equatable {
    case create(id: UInt64, name: String, reduction: String)
    case drop(id: UInt64)

    enum Code {
        static let create: UInt8 = 0x01
        static let drop: UInt8 = 0x02
    }
}

// MARK: - OperationEncoder

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

// MARK: - OperationDecoder

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

// MARK: - OperationChunk

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

// MARK: - List

/// The list of trees that a compacted file begins with: a section that makes them, and for each tree with entries a section
/// without operations. The marks that follow it have the same form: a section without operations of the tree whose
/// leaves end there and another one of the tree whose leaves begin, if any do. Replaying either changes nothing in a file that has
/// these trees.
extension OperationChunk {
    /// Appends the list of `trees`, which are in the order of their numbers.
    static func append(listOf trees: [TreeVersion], to buffer: ByteBuffer) {
        let making = ByteBuffer()
        for tree in trees {
            TreeOperation.create(id: tree.id, name: tree.name, reduction: tree.reduction).encode(to: making)
        }
        append(section: treeSection, making.view, to: buffer)
        let nothing = ByteBuffer()
        for tree in trees where tree.root.summary.count > 0 {
            append(section: tree.id, nothing.view, to: buffer)
        }
        extendLifetime((making, nothing))
    }

    /// Appends the mark between leaves of `former` and of `next`, which may be one tree; `nil` where no more leaves follow.
    static func append(markBetween former: TreeVersion, _ next: TreeVersion?, to buffer: ByteBuffer) {
        let making = ByteBuffer()
        let trees = [former] + (next.map { [$0] } ?? [])
        for tree in former.id == next?.id ? [former] : trees {
            TreeOperation.create(id: tree.id, name: tree.name, reduction: tree.reduction).encode(to: making)
        }
        append(section: treeSection, making.view, to: buffer)
        let nothing = ByteBuffer()
        for tree in trees { append(section: tree.id, nothing.view, to: buffer) }
        extendLifetime((making, nothing))
    }

    /// The list or mark in `payload`: what makes trees, and the numbers of those with entries.
    static func list(
        in payload: ByteView
    ) throws(MalformedBytes) -> (making: [TreeOperation], filled: [UInt64]) {
        var (making, filled): ([TreeOperation], [UInt64]) = ([], [])
        for section in try sections(of: payload) {
            if section.tree == treeSection {
                making += try TreeOperation.decode(section.bytes)
            } else {
                // Operations of a commit are neither a list nor a mark.
                guard section.bytes.isEmpty else { throw MalformedBytes(at: 0) }
                filled.append(section.tree)
            }
        }
        return (making, filled)
    }
}
