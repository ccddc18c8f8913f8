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
