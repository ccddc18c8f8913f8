import RoostBytes

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
