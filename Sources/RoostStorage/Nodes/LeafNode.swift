import RoostBytes

/// A leaf with pending changes: the stored leaf, if there is one, and what changed since.
final class LeafNode: MemoryNode, @unchecked Sendable {
    /// The leaf in the file below the changes.
    let base: StoredChild?
    var delta: DeltaPage

    /// An empty leaf.
    init(owner: UInt64) {
        base = nil
        delta = DeltaPage()
        super.init(owner: owner, level: 0, summary: Summary())
    }

    /// A leaf as it is stored, without changes yet.
    init(owner: UInt64, base: StoredChild) {
        self.base = base
        delta = DeltaPage()
        super.init(owner: owner, level: 0, summary: base.summary)
    }

    private init(owner: UInt64, copying other: LeafNode) {
        base = other.base
        delta = other.delta.copy()
        super.init(owner: owner, level: 0, summary: other.summary)
    }

    override func copy(owner: UInt64) -> MemoryNode { LeafNode(owner: owner, copying: self) }

    /// Bytes of memory and of later writing that the changes stand for.
    var pendingBytes: Int { delta.capacity }
}
