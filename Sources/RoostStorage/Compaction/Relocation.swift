/// Where a value went: its offset in the old file, and what leads to it in the new one. 16 bytes.
struct Relocation {
    /// The old offset (48 bits), then the high half of the new length.
    private let first: UInt64
    /// The new offset (48 bits), then the low half of the new length.
    private let second: UInt64

    static let size = 16

    init(_ old: UInt64, _ new: ChunkReference) {
        first = old << 16 | UInt64(new.length >> 16)
        second = new.offset << 16 | UInt64(new.length & 0xffff)
    }

    var old: UInt64 { first >> 16 }

    var new: ChunkReference {
        ChunkReference(offset: second >> 16, length: UInt32(first & 0xffff) << 16 | UInt32(second & 0xffff))
    }
}
