import RoostBytes

/// The numbers of the file format. FileFormat.md explains them.
enum Format {
    /// The format version that this code writes.
    static let version: UInt32 = 1
    /// The unit in which commits are laid out, in bytes.
    static let blockSize = 4096
    /// Where the first commit starts: after the header and its copy.
    static let firstCommit = UInt64(2 * blockSize)
    /// The longest key, in bytes.
    static let maximumKeyLength = 4096
    /// The longest value, in bytes.
    static let maximumValueLength = 1 << 30
    /// The longest value that may stand in a leaf rather than in a chunk of its own.
    static let maximumInlineLength = 4096
    /// The longest name of a tree, in UTF-8 bytes.
    static let maximumNameLength = 255
    /// The greatest number of a tree; the next one's can be told as well.
    static let maximumTreeID = UInt64(Int64.max) - 1
    /// The longest reduction of a tree, in bytes.
    static let maximumReductionLength = 255
    /// Deeper than any tree that can be built; a deeper one is damage.
    static let maximumLevel = 40

    /// The next multiple of the block size at or above `offset`.
    static func roundedUp(_ offset: UInt64) -> UInt64 {
        (offset + UInt64(blockSize - 1)) & ~UInt64(blockSize - 1)
    }
}

// MARK: - Checksum

/// The format's checksum (FileFormat.md, section 2.1): XXH3 of the bytes, mixed with a seed that differs from file to file and
/// in most cases from place to place. The seed comes last, so that no secret need be derived from it for each checksum.
package struct Checksum {
    private var hash = XXH3()
    private let seed: UInt64

    /// Of no bytes yet, for a commit's content, which is hashed as it goes.
    init(seed: UInt64) { self.seed = seed }

    /// Adds whole blocks, after which at least the rest of another one must follow.
    mutating func update(_ blocks: ByteView) { hash.update(blocks) }

    /// The checksum of everything added and then `rest`, a commit's last bytes before its record.
    func finalize(_ rest: ByteView) -> UInt64 { Checksum.mix(hash.finalize(rest), seed) }

    package static func of(_ bytes: ByteView, seed: UInt64) -> UInt64 { mix(XXH3.hash(bytes), seed) }

    @inline(__always) private static func mix(_ hash: UInt64, _ seed: UInt64) -> UInt64 {
        XXH3.avalanche(hash ^ seed)
    }
}

// MARK: - Summary

/// What every branch entry says of the subtree below it: a commutative monoid, so that counting and ranking
/// take one walk down the tree.
struct Summary: Hashable, Sendable {
    /// Entries in the subtree.
    var count: UInt64 = 0
    /// Bytes of the chunks that live through the subtree: its nodes and the values its entries own.
    var bytes: UInt64 = 0

    // Wrapping, because the numbers may come from a damaged file; the integrity check compares them.
    static func + (a: Summary, b: Summary) -> Summary {
        Summary(count: a.count &+ b.count, bytes: a.bytes &+ b.bytes)
    }

    static func - (a: Summary, b: Summary) -> Summary {
        Summary(count: a.count &- b.count, bytes: a.bytes &- b.bytes)
    }

    static func += (a: inout Summary, b: Summary) { a = a + b }
}

// MARK: - ChunkTransform

/// What happens to the payload of each chunk on its way to the file and back: encryption, in practice.
///
/// The engine hands in what must be bound to the bytes: the chunk's kind and offset, so that it does not open at another
/// place, and a number of the history that it was written in (``WritingHistory``), so that it does not open in a copy of
/// the file that was written on separately. Implementations are used from many threads at once.
package protocol ChunkTransform: Sendable {
    /// How many bytes longer a sealed payload is. The same for every payload.
    var overhead: Int { get }
    /// Appends `plaintext` in its sealed form, exactly ``overhead`` bytes longer, to `output`.
    func seal(_ plaintext: ByteView, kind: UInt8, offset: UInt64, history: UInt64, into output: ByteBuffer)
    /// Appends the plaintext of `sealed` to `output`; `false` when it is not what was sealed there.
    func open(
        _ sealed: ByteView, kind: UInt8, offset: UInt64, history: UInt64, into output: ByteBuffer
    ) -> Bool
    /// A tag over the file's header, or over that tag and a commit record. The engine keeps its first 16 bytes.
    func authenticate(_ bytes: ByteView) -> [UInt8]
}

/// Leaves payloads as they are. It stands in ``ChunkCodec`` where a file has no transform, and is not asked there.
struct NoTransform: ChunkTransform {
    let overhead = 0

    func seal(
        _ plaintext: ByteView, kind _: UInt8, offset _: UInt64, history _: UInt64, into output: ByteBuffer
    ) {
        output.append(plaintext)
    }

    func open(
        _ sealed: ByteView, kind _: UInt8, offset _: UInt64, history _: UInt64, into output: ByteBuffer
    ) -> Bool {
        output.append(sealed)
        return true
    }

    func authenticate(_: ByteView) -> [UInt8] { [] }
}
