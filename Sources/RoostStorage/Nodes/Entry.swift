import RoostBytes

/// How an entry relates to the chunk it refers to.
///
/// Two trees may lead to one value, as a database's by-ID and by-sequence trees do. One entry then is the
/// value's sharing owner, which counts its bytes and carries it through compaction, the others borrow it.
enum ReferenceKind: UInt8, Sendable {
    /// No chunk; the inline bytes are all there is.
    case none = 0
    /// The entry alone leads to the chunk.
    case owned = 1
    /// The entry owns the chunk, and others may borrow it.
    case shared = 2
    /// Another entry, in any tree of the same commit, is the chunk's sharing owner.
    case borrowed = 3
}

/// What a leaf holds under a key. ``inline`` is a view into the node: valid as long as the node is.
struct Entry {
    var kind: ReferenceKind
    var inline: ByteView
    var chunk: ChunkReference

    /// The value that the entry leads to, outside its leaf.
    @inline(__always) var value: ValueReference? { kind == .none ? nil : ValueReference(chunk: chunk) }

    /// Bytes outside the node that live through this entry.
    var ownedBytes: UInt64 {
        kind == .owned || kind == .shared ? UInt64(chunk.length) : 0
    }

    static func inline(_ bytes: ByteView) -> Entry {
        Entry(kind: .none, inline: bytes, chunk: .nowhere)
    }
}

/// A child as a branch node on disk describes it.
struct StoredChild: Sendable {
    var chunk: ChunkReference
    var summary: Summary
    /// The tree's own reduction over the subtree; empty where none is stored.
    var reduction: [UInt8] = []
}
