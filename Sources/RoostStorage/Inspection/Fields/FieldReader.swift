import RoostBytes

/// Reads bytes front to back and notes what each field means; what was read before damage is kept.
final class FieldReader {
    private let bytes: ByteView
    private let base: UInt64
    private let isDecoded: Bool
    private(set) var fields: [FileField] = []
    /// Where the next field begins, in ``bytes``.
    var position = 0
    let end: Int

    /// - Parameter base: where `bytes` stand in the file, or in the decoded payload. The caller keeps them alive.
    init(_ bytes: ByteView, at base: UInt64, isDecoded: Bool = false) {
        self.bytes = bytes
        self.base = base
        self.isDecoded = isDecoded
        end = bytes.count
    }

    var isAtEnd: Bool { position >= end }

    private func note(_ start: Int, _ meaning: String?, _ remark: String? = nil) {
        guard let meaning else { return }
        let shown = bytes.slice(start, min(position - start, FileField.shownLength)).array
        fields.append(
            FileField(
                offset: base &+ UInt64(start), length: position - start, bytes: shown, meaning: meaning,
                note: remark,
                isDecoded: isDecoded))
    }

    /// Adds a remark to the field that was read last.
    func remark(_ text: String) {
        guard let last = fields.indices.last else { return }
        fields[last].note = text
    }

    /// The next bytes; without a field when there are none, or no meaning.
    @discardableResult
    func raw(_ count: Int, _ meaning: String? = nil) throws(MalformedBytes) -> ByteView {
        guard count >= 0, position >= 0, end - position >= count else { throw MalformedBytes(at: position) }
        let start = position
        position += count
        if count > 0 { note(start, meaning) }
        return bytes.slice(start, count)
    }

    /// A little-endian number of `size` bytes, 8 at most.
    @discardableResult
    func number(
        _ size: Int, _ meaning: String?, _ explain: (UInt64) -> String = { "\($0)" }
    ) throws(MalformedBytes) -> UInt64 {
        let start = position
        let view = try raw(size)
        var value: UInt64 = 0
        for index in (0..<size).reversed() { value = value << 8 | UInt64(view[index]) }
        note(start, meaning.map { "\($0): \(explain(value))" })
        return value
    }

    @discardableResult
    func varint(_ meaning: String) throws(MalformedBytes) -> UInt64 {
        var reader = ByteReader(bytes.dropFirst(position))
        let value = try reader.varint()
        let start = position
        position += reader.position
        note(start, "\(meaning): \(value)")
        return value
    }

    /// A varint length, then that many bytes.
    @discardableResult
    func prefixed(_ meaning: String) throws(MalformedBytes) -> ByteView {
        let length = try varint("length of \(meaning)")
        guard length <= UInt64(end - position) else { throw MalformedBytes(at: position) }
        return try raw(Int(length), meaning)
    }
}

/// Explains numbers in fields.
enum FieldText {
    static func hexadecimal(_ value: UInt64) -> String { "0x" + FileField.hexadecimal(value) }
}

// MARK: - Header

/// The file header and commit records, field by field: FileFormat.md, sections 3 and 4. Reserved bytes are left out, and so
/// is the salt.
extension FieldReader {
    func readHeader() throws(MalformedBytes) {
        try raw(8, "magic")
        try number(4, "format version")
        try raw(4)
        try number(8, "features that may be ignored", FieldText.hexadecimal)
        try number(8, "features that forbid writing", FieldText.hexadecimal)
        try number(8, "features that forbid everything", FieldText.hexadecimal)
        try raw(16, "store identifier")
        try raw(16, "file identifier")
        // Not shown: whoever knows it can make values that look like commits, and listings get passed around.
        try raw(8)
        try number(8, "made at")
        try number(8, "generation")
        try raw(4)
        let length = try number(4, "length of the transform's parameters")
        guard length <= UInt64(FileHeader.maximumParameterLength) else { throw MalformedBytes(at: position) }
        try raw(Int(length), "transform parameters")
        position = Format.blockSize - 8
        try number(8, "checksum", FieldText.hexadecimal)
    }

    func readRecord() throws(MalformedBytes) {
        try raw(8, "magic of a commit record")
        try number(1, "kind") { "\($0), \(FieldText.commitKind($0))" }
        try raw(7)
        for name in ["number", "offset", "start", "previous"] { try number(8, name) }
        try number(8, "previous checksum", FieldText.hexadecimal)
        for name in ["checkpoint", "replay after", "synced end", "time"] { try number(8, name) }
        for name in ["last operations", "directory"] { try number(8, "offset of the \(name)") }
        for name in ["last operations", "directory"] { try number(4, "length of the \(name)") }
        try number(8, "checksum of the commit's content", FieldText.hexadecimal)
        try number(8, "live bytes")
        // Zeros without a transform.
        let sealed = try raw(CommitRecord.size - 8 - position)
        if !sealed.array.allSatisfy({ $0 == 0 }) {
            position -= sealed.count
            try number(8, "history", FieldText.hexadecimal)
            try raw(CommitRecord.tagLength, "tag of the record before")
            try raw(16)
            try raw(CommitRecord.tagLength, "tag")
        }
        try number(8, "checksum", FieldText.hexadecimal)
    }
}

extension FieldText {
    static func commitKind(_ value: UInt64) -> String {
        switch CommitRecord.Kind(rawValue: UInt8(truncatingIfNeeded: value)) {
        case .log: "log"
        case .checkpoint: "checkpoint"
        case .cleanShutdown: "clean shutdown"
        case .barrier: "barrier"
        case nil: "unknown"
        }
    }
}

// MARK: - Packed Leaf

/// Packed leaves and changes of leaves, field by field: FileFormat.md, sections 7.4 and 7.5.
extension FieldReader {
    /// The rest of the bytes, as what changed of a leaf.
    func readLeafChanges() throws(MalformedBytes) {
        try number(6, "offset of the leaf")
        try varint("length of the leaf")
        try prefixed("deletions")
        try readPackedLeaf()
    }

    /// The rest of the bytes, as a packed leaf.
    func readPackedLeaf() throws(MalformedBytes) {
        try varint("length of the page")
        let count = try varint("count")
        let prefix = try prefixed("prefix").array
        var (suffix, inline): ([UInt8], [UInt8]) = ([], [])
        var index: UInt64 = 0
        while index < count {
            let control = UInt16(try number(2, "entry \(index): control", FieldText.hexadecimal))
            let kind = control & PackedLeaf.Control.kind
            suffix = try readBytes(
                suffix, Int(control >> PackedLeaf.Control.sharedSuffixShift) & PackedLeaf.Control.manyShared,
                hasSameLength: control & PackedLeaf.Control.sameSuffixLength != 0, "the suffix")
            inline = try readBytes(
                inline, Int(control >> PackedLeaf.Control.sharedInlineShift),
                hasSameLength: control & PackedLeaf.Control.sameInlineLength != 0, "the inline bytes")
            if kind != 0, control & PackedLeaf.Control.nextChunk == 0 {
                try varint("distance of the value, zigzag")
            }
            if kind != 0, control & PackedLeaf.Control.sameChunkLength == 0 {
                try varint("length of the value")
            }
            remark("ends entry \(index), \(FieldText.key(prefix + suffix))")
            index += 1
        }
        if !isAtEnd { throw MalformedBytes(at: position) }
    }

    private func readBytes(
        _ before: [UInt8], _ shared: Int, hasSameLength: Bool, _ meaning: String
    ) throws(MalformedBytes) -> [UInt8] {
        var shared = UInt64(shared)
        if shared == PackedLeaf.Control.manyShared {
            shared = try varint("bytes in common at the start of \(meaning)")
        }
        let length = hasSameLength ? UInt64(before.count) : try varint("length of \(meaning)")
        guard shared <= min(UInt64(before.count), length), length <= UInt64(LeafBuilder.largestPage) else {
            throw MalformedBytes(at: position)
        }
        return before.prefix(Int(shared)) + (try raw(Int(length - shared), "rest of \(meaning)")).array
    }
}

// MARK: - Payloads

/// What chunks hold, field by field: FileFormat.md, sections 7 to 9.
extension FieldReader {
    /// The rest of the bytes, as a payload of the given kind and form.
    func readPayload(
        _ kind: ChunkKind, _ form: ChunkCodec.Form, of chunk: ChunkReference
    ) throws(MalformedBytes) {
        switch form {
        case .plain: break
        case .packed: return try readPackedLeaf()
        case .changes: return try readLeafChanges()
        }
        switch kind {
        case .value: try raw(end - position, "value")
        case .node: try readNode()
        case .operations: try readOperations()
        case .directory: try readDirectory()
        }
    }

    private func readNode() throws(MalformedBytes) {
        let page = position
        let level = try number(1, "level")
        try raw(1)
        let count = Int(try number(2, "count"))
        let prefixLength = Int(try number(2, "length of the prefix"))
        try raw(2)
        let prefix = try raw(prefixLength, "prefix").array
        var cells: [(head: [UInt8], length: Int, cell: Int)] = []
        for index in 0..<count {
            let head = try raw(4, "slot \(index): head").array
            let length = Int(try number(2, "length of the suffix"))
            cells.append((head.reversed(), length, Int(try number(2, "offset of the cell"))))
        }
        for (index, slot) in cells.enumerated() {
            position = page + slot.cell
            let rest = try raw(max(slot.length - 4, 0), "rest of the key")
            let key = prefix + slot.head.prefix(slot.length) + rest.array
            try level == 0 ? readEntry() : readChild()
            remark(
                level == 0
                    ? "ends entry \(index), \(FieldText.key(key))"
                    : "ends child \(index), from \(FieldText.key(key))")
        }
        position = end
    }

    private func readEntry() throws(MalformedBytes) {
        let names = ["none", "owned", "shared", "borrowed"]
        let kind = try number(1, "reference kind") { "\($0), \(names[Int($0 & 3)])" } & 3
        try prefixed("inline bytes")
        guard kind != 0 else { return }
        try number(6, "offset of the value")
        try varint("length of the value")
    }

    private func readChild() throws(MalformedBytes) {
        try number(6, "offset of the child")
        for name in ["length of the child", "entries below", "bytes below"] { try varint(name) }
        try prefixed("reduction")
    }

    private func readDirectory() throws(MalformedBytes) {
        try varint("number of the next new tree")
        let count = try varint("trees")
        var read: UInt64 = 0
        while read < count {
            read += 1
            try varint("number of a tree")
            try prefixed("name")
            try prefixed("name of the reduction")
            guard try number(1, "has a root") == 1 else { continue }
            try number(1, "level of the root")
            for name in ["offset of the root", "length of the root", "entries", "bytes"] { try varint(name) }
            try prefixed("reduction")
        }
    }

    private func readOperations() throws(MalformedBytes) {
        try number(8, "offset of the operations before")
        try number(4, "length of the operations before")
        while !isAtEnd {
            let tree = try varint("tree")
            let length = try varint("length of its operations")
            guard length <= UInt64(end - position) else { throw MalformedBytes(at: position) }
            let stop = position + Int(length)
            var section = OperationFields()
            while position < stop {
                if tree == OperationChunk.treeSection {
                    try readTreeOperation()
                } else {
                    try section.read(self)
                }
            }
            guard position == stop else { throw MalformedBytes(at: stop) }
        }
    }

    private func readTreeOperation() throws(MalformedBytes) {
        let code = try number(1, "operation") {
            FieldText.hexadecimal($0)
                + ($0 == UInt64(TreeOperation.Code.drop) ? ", drop a tree" : ", make a tree")
        }
        try varint("number")
        switch UInt8(truncatingIfNeeded: code) {
        case TreeOperation.Code.create:
            try prefixed("name")
            try prefixed("name of the reduction")
        case TreeOperation.Code.drop: break
        default: throw MalformedBytes(at: position)
        }
    }
}

/// The operations on one tree; keys and places of chunks are relative to those before.
private struct OperationFields {
    private var lastKey: [UInt8] = []
    private var lastEnd: UInt64 = 0

    mutating func read(_ fields: FieldReader) throws(MalformedBytes) {
        let code = UInt8(
            truncatingIfNeeded: try fields.number(1, "operation") {
                "\(FieldText.hexadecimal($0)), \(FieldText.operation(UInt8(truncatingIfNeeded: $0)))"
            })
        switch code {
        case LogOperation.Code.deleteRange:
            let bounds = try fields.number(1, "bounds")
            if bounds & 1 != 0 { try fields.prefixed("lower bound") }
            if bounds & 2 != 0 { try fields.prefixed("upper bound") }
        case LogOperation.Code.appendLeaf: try readChunk(fields)
        case LogOperation.Code.delete: try readKey(fields)
        case LogOperation.Code.put...LogOperation.Code.put + 3:
            try readKey(fields)
            try fields.prefixed("inline bytes")
            if code != LogOperation.Code.put { try readChunk(fields) }
        default: throw MalformedBytes(at: fields.position)
        }
    }

    private mutating func readKey(_ fields: FieldReader) throws(MalformedBytes) {
        let shared = try fields.varint("bytes in common with the key before")
        let rest = try fields.prefixed("rest of the key")
        guard shared <= UInt64(lastKey.count), Int(shared) + rest.count <= Format.maximumKeyLength else {
            throw MalformedBytes(at: fields.position)
        }
        lastKey = lastKey.prefix(Int(shared)) + rest.array
        if shared > 0 { fields.remark(FieldText.key(lastKey)) }
    }

    private mutating func readChunk(_ fields: FieldReader) throws(MalformedBytes) {
        let distance = try fields.varint("distance of the chunk, zigzag")
        let offset = ChunkReference.offset(distance, from: lastEnd)
        lastEnd = offset &+ (try fields.varint("length of the chunk"))
        fields.remark("at offset \(offset)")
    }
}

extension FieldText {
    /// A key as text, or in hexadecimal where it is none.
    static func key(_ key: [UInt8]) -> String {
        guard !key.isEmpty else { return "the empty key" }
        if key.allSatisfy({ (0x20..<0x7f).contains($0) }) { return "key \(FileField.quoted(key))" }
        return "key " + key.map { FileField.hexadecimal(UInt64($0), width: 2) }.joined()
    }

    static func operation(_ code: UInt8) -> String {
        switch code {
        case LogOperation.Code.put...LogOperation.Code.put + 3: "put"
        case LogOperation.Code.delete: "delete"
        case LogOperation.Code.deleteRange: "delete a range"
        case LogOperation.Code.appendLeaf: "append a leaf"
        default: "unknown"
        }
    }
}
