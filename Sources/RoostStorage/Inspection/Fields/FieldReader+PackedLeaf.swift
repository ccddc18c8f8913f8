import RoostBytes

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
