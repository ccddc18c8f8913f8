/// Where a chunk stands in the file. Its length counts header and payload, so that one read gets it all.
struct ChunkReference: Hashable, Sendable {
    var offset: UInt64
    var length: UInt32

    /// Offsets take 48 bits in nodes: files of up to 256 TiB.
    static let maximumOffset: UInt64 = (1 << 48) - 1

    /// What stands in the place of a reference where there is no chunk.
    static let nowhere = ChunkReference(offset: 0, length: 0)

    var end: UInt64 { offset + UInt64(length) }

    /// How far from `end`, where another chunk ends, this one begins; the sign in the lowest bit (zigzag), as logs and packed
    /// leaves have it.
    @inline(__always) func distance(from end: UInt64) -> UInt64 {
        let distance = Int64(bitPattern: offset &- end)
        return UInt64(bitPattern: distance &<< 1 ^ distance &>> 63)
    }

    /// The offset of the chunk that begins `distance` from `end`.
    @inline(__always) static func offset(_ distance: UInt64, from end: UInt64) -> UInt64 {
        end &+ UInt64(bitPattern: Int64(bitPattern: distance &>> 1) ^ -Int64(bitPattern: distance & 1))
    }
}

/// What a chunk holds.
enum ChunkKind: UInt8, Sendable {
    /// A value that stands outside its tree.
    case value = 1
    /// A tree node.
    case node = 2
    /// Operations of a commit.
    case operations = 3
    /// The roots of all trees, in a checkpoint.
    case directory = 4
}
