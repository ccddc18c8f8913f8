import RoostBytes
import Synchronization

/// A node that differs from what the file's last checkpoint leads to: pending changes, or a path to them.
///
/// Copy-on-write by transaction: the transaction that made a node (``owner``) may change it; once that has
/// committed nobody may, and snapshots read it without a lock.
class MemoryNode: @unchecked Sendable {
    // Unchecked, because the rule above is one of time: a node is reached by other threads only after its
    // transaction was published through a lock, and is not changed any more from then on.

    /// The transaction that may change this node.
    let owner: UInt64
    /// 0 for a leaf.
    let level: UInt8
    /// What the subtree holds now.
    final var summary: Summary {
        @inline(__always) get { unsafe uncheckedSummary }
        @inline(__always) set { unsafe uncheckedSummary = newValue }
    }
    /// The tree's reduction over the subtree, once it has been read.
    private let reduction = AtomicLazyReference<KeptReduction>()

    // Spared the run-time check for overlapping accesses, as every change of a leaf changes all summaries above it.
    @exclusivity(unchecked) private final var uncheckedSummary: Summary

    init(owner: UInt64, level: UInt8, summary: Summary) {
        self.owner = owner
        self.level = level
        unsafe uncheckedSummary = summary
    }

    /// The tree's reduction over the subtree, if it has been kept.
    final var keptReduction: [UInt8]? { reduction.load()?.value }

    /// Keeps the tree's reduction over the subtree of a node that nobody changes any more.
    final func keep(reduction value: [UInt8]) { _ = reduction.storeIfNil(KeptReduction(value)) }

    private final class KeptReduction: Sendable {
        let value: [UInt8]

        init(_ value: [UInt8]) { self.value = value }
    }

    /// A copy that `owner` may change.
    func copy(owner: UInt64) -> MemoryNode { preconditionFailure("a node is a leaf or a branch node") }
}

/// Where a subtree's root is: in memory or in the file.
@safe struct NodeHandle: Sendable {
    /// Kept alive by whoever keeps the tree's version; no reference is counted on the way down.
    nonisolated(unsafe) var memory: Unmanaged<MemoryNode>?
    var chunk: ChunkReference

    static func memory(_ node: MemoryNode) -> NodeHandle {
        unsafe NodeHandle(memory: .passUnretained(node), chunk: .nowhere)
    }

    static func stored(_ chunk: ChunkReference) -> NodeHandle {
        unsafe NodeHandle(memory: nil, chunk: chunk)
    }
}

// MARK: - LeafNode

/// A leaf with pending changes: the stored leaf, if there is one, and what changed since.
final class LeafNode: MemoryNode, @unchecked Sendable {
    // Unchecked as ``MemoryNode`` is, and for its reason.

    /// The leaf in the file below the changes.
    let base: StoredChild?
    /// The changes. Only the node's transaction changes them, one change after another, so that no two overlap.
    var delta: DeltaPage {
        @inline(__always) _read { yield unsafe uncheckedDelta }
        @inline(__always) _modify { yield unsafe &uncheckedDelta }
    }
    @exclusivity(unchecked) private var uncheckedDelta: DeltaPage
    /// Bytes that the stored leaf's entries take at most once the changes are merged in: a key that lacks what the others
    /// start with makes them all longer.
    private(set) var mergedBaseSize = 0
    /// Whether entries were deleted on the caller's word that the stored leaf has them.
    var hasUnverifiedDeletions = false

    /// An empty leaf.
    init(owner: UInt64) {
        base = nil
        unsafe uncheckedDelta = DeltaPage()
        super.init(owner: owner, level: 0, summary: Summary())
    }

    /// A leaf as it is stored, without changes yet.
    init(owner: UInt64, base: StoredChild) {
        self.base = base
        unsafe uncheckedDelta = DeltaPage()
        super.init(owner: owner, level: 0, summary: base.summary)
    }

    private init(owner: UInt64, copying other: LeafNode) {
        base = other.base
        unsafe uncheckedDelta = other.delta.copy()
        mergedBaseSize = other.mergedBaseSize
        hasUnverifiedDeletions = other.hasUnverifiedDeletions
        super.init(owner: owner, level: 0, summary: other.summary)
    }

    override func copy(owner: UInt64) -> MemoryNode { LeafNode(owner: owner, copying: self) }

    /// Notes that `key` is to be merged with the stored leaf: `count` entries whose keys start with `prefix`, in a page of `length`
    /// bytes.
    func noteMerging(_ key: ByteView, withPageOf length: Int, _ count: Int, _ prefix: ByteView) {
        let lost = prefix.count - prefix.commonPrefix(key)
        mergedBaseSize = max(mergedBaseSize, length + lost * count)
    }

    /// Whether changes and stored leaf together may be more than a page holds.
    var exceedsPage: Bool { mergedBaseSize + delta.used > LeafBuilder.largestPage }

    /// How many bytes all keys of the changes and `last`, which is not less than any, start with.
    func sharedPrefix(upTo last: ByteView) -> Int {
        guard delta.count > 0 else { return 0 }
        let first = ByteBuffer()
        delta.view.appendKey(0, to: first)
        return first.view.commonPrefix(last)
    }

    /// Bytes that the changes don't take in a page of their own, where what keys up to `last` start with stands once.
    func sharedBytes(upTo last: ByteView) -> Int { sharedPrefix(upTo: last) * delta.count }

    /// Bytes of memory and of later writing that the changes stand for.
    var pendingBytes: Int { delta.capacity }
}

// MARK: - Entry

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
