import RoostBytes

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
