import RoostBytes

/// What changed of a stored leaf, as it stands in the file beside the leaf.
///
/// ```
/// offset of the leaf's chunk (6) | its length (varint) | deletions, with their length | packed leaf of the changes
/// ```
/// In a large tree that changes at random a leaf has few changes when they are to be written. Writing them alone, rather than
/// the leaf, is Severance's and Lohman's "Differential Files: Their Application to the Maintenance of Large Databases" (1976)
/// for each leaf.
struct LeafChanges {
    /// The bytes that a chunk of changes takes at most, so that a longer chunk is known to hold a whole leaf before it is read.
    static let largestChunk: UInt32 = 1024

    /// The leaf's chunk, which holds the leaf as a whole.
    let leaf: ChunkReference
    /// The changes, with ``DeltaPage/tombstone`` in the tags of deletions. Valid as long as this is kept.
    let page: PageView
    private let memory: ByteBuffer

    /// Reads what ``append(_:length:deletions:of:to:)`` wrote.
    init(_ bytes: ByteView) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        leaf = try PageView.chunk(&reader)
        let deletions = try reader.prefixed()
        memory = ByteBuffer(capacity: 1024)
        try PackedLeaf.unpack(bytes.dropFirst(reader.position), into: memory)
        guard let page = PageView(memory.view) else { throw MalformedBytes(at: reader.position) }
        self.page = page
        if !deletions.isEmpty { try mark(deletions) }
        let check = PageCheck(page: page, lower: nil, upper: nil, allowedTags: DeltaPage.tombstone)
        guard check.fault() == nil else { throw MalformedBytes(at: reader.position) }
    }

    /// Marks the entries whose bits are set.
    private func mark(_ deletions: ByteView) throws(MalformedBytes) {
        guard deletions.count == LeafChanges.length(ofMarksFor: page.count) else {
            throw MalformedBytes(at: 0)
        }
        for index in 0..<deletions.count * 8 where deletions[index / 8] >> UInt8(index % 8) & 1 != 0 {
            guard index < page.count else { throw MalformedBytes(at: 0) }
            let entry = try page.entry(index)
            guard entry.kind == .none, entry.inline.isEmpty else { throw MalformedBytes(at: 0) }
            unsafe memory.mutableBytes[page.cell(index) + max(page.suffixLength(index) - 4, 0)] |=
                DeltaPage.tombstone
        }
    }

    private static func length(ofMarksFor count: Int) -> Int { (count + 7) / 8 }

    /// Appends `page`, changes of the leaf at `leaf`, to `output`, which is empty.
    ///
    /// - Parameters:
    ///   - length: how many bytes `page` takes.
    ///   - deletions: which of the changes are deletions: entries with nothing but their keys.
    /// - Returns: `false` where packing the changes would not make them shorter; `output` is of no use then.
    static func append(
        _ page: PageView, length: Int, deletions: [Bool], of leaf: ChunkReference, to output: ByteBuffer
    ) throws(MalformedBytes) -> Bool {
        let packed = ByteBuffer(capacity: length)
        guard try PackedLeaf.pack(page, length: length, to: packed) else { return false }
        output.append(integer: UInt32(truncatingIfNeeded: leaf.offset))
        output.append(integer: UInt16(truncatingIfNeeded: leaf.offset >> 32))
        output.append(varint: UInt64(leaf.length))
        var marks: [UInt8] = []
        if deletions.contains(true) {
            marks = [UInt8](repeating: 0, count: LeafChanges.length(ofMarksFor: deletions.count))
            for index in deletions.indices where deletions[index] {
                marks[index / 8] |= 1 << UInt8(index % 8)
            }
        }
        marks.withView { output.append(prefixed: $0) }
        output.append(packed.view)
        return true
    }
}
