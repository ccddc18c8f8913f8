import RoostBytes

/// Writes nodes into a commit: leaves of gathered entries, what changed of leaves, and branch nodes of children that were
/// written before.
final class NodeWriter {
    private let buffer: CommitBuffer?
    /// What is written to.
    var output: CommitBuffer {
        guard let buffer else { preconditionFailure("the transaction's bytes are complete") }
        return buffer
    }
    /// Where the entries of the next leaves are gathered.
    private(set) lazy var entries = LeafBuilder()
    private lazy var branches = BranchBuilder()
    /// Where a stored leaf is unpacked that is not in the cache.
    private(set) lazy var unpacked = ByteBuffer()
    /// Where a stored leaf and changes are merged.
    private(set) lazy var mergedLeaf = ByteBuffer()

    /// What the cache gets of a leaf that is written.
    enum Kept {
        case nothing
        case whole
        /// A filter of its keys (``LeafFilter``).
        case filter
    }

    /// - Parameter output: `nil` where nothing can be written any more.
    init(output: CommitBuffer?) { buffer = output }

    /// Writes the gathered entries in `range` as a leaf.
    ///
    /// - Parameters:
    ///   - reduction: what is stored of the entries beside them, if anything is.
    ///   - kept: what of the leaf goes into the cache.
    func leaf(_ range: Range<Int>, _ reduction: Reduction?, _ kept: Kept) throws(StoreError) -> StoredChild {
        let (bytes, summary) = entries.build(range)
        let chunk = try output.append(.node, bytes)
        let cache = output.file.cache
        switch kept {
        case .nothing: break
        case .whole: cache.insert(copyOf: bytes, at: chunk.offset)
        case .filter:
            let pin = cache.reclaimer.readers.pin()
            if let page = PageView(bytes) { cache.insertFilter(of: page, at: chunk.offset) }
            extendLifetime(pin)
        }
        let value = reduction.flatMap { function in
            PageView(bytes).map { function.storedValue(of: $0, in: output.file) }
        }
        return child(chunk, summary, value)
    }

    /// Writes the leaf that `page`, pending changes of no stored leaf, come to, packed, without gathering them; `nil` where
    /// packing does not make it shorter.
    ///
    /// - Parameters:
    ///   - length: the bytes that the leaf takes as a page.
    ///   - dropped: how many bytes all keys have in common.
    func leaf(
        packing page: PageView, length: Int, dropping dropped: Int, _ summary: Summary,
        _ reduction: Reduction?
    ) throws(StoreError) -> StoredChild? {
        guard let chunk = try output.append(packing: page, length: length, dropping: dropped) else {
            return nil
        }
        return child(chunk, summary, reduction?.storedValue(of: page, in: output.file))
    }

    /// Writes a branch node.
    func branch(
        level: UInt8, _ separators: SeparatorTable, _ children: [StoredChild], _ reduction: Reduction?
    ) throws(StoreError) -> StoredChild {
        let bytes = branches.build(level: level, separators, children)
        let chunk = try output.append(.node, bytes)
        output.file.cache.insert(copyOf: bytes, at: chunk.offset)
        let summary = children.reduce(Summary()) { $0 + $1.summary }
        return child(chunk, summary, reduction?.storedValue(of: children))
    }

    private func child(_ chunk: ChunkReference, _ summary: Summary, _ reduction: [UInt8]?) -> StoredChild {
        var child = StoredChild(chunk: chunk, summary: summary, reduction: reduction ?? [])
        child.summary.bytes += UInt64(chunk.length)
        return child
    }
}

// MARK: - Changes

/// Writing what changed of a leaf instead of the leaf (``LeafChanges``).
extension NodeWriter {
    /// Once changes take more than one byte for this many of the leaf's chunk, the leaf is written whole.
    ///
    /// Changes are written again together with those that follow, until the leaf is. Of a leaf of B bytes that gets d bytes of
    /// changes from one checkpoint to the next, the least is written where changes may take √(2dB) bytes: a quarter of the leaf
    /// for a d of B/32. A larger d would call for more, but every read of a leaf also reads its changes.
    private static let leafBytesForChange: UInt32 = 4

    /// Writes what changed of `leaf`, with what stands beside its stored leaf already.
    ///
    /// - Parameter nodeSize: the size that written nodes aim at, in bytes.
    /// - Returns: `nil` where the leaf is to be written whole: nothing of it is stored, too much changed, most is deleted, or
    ///   what the cache keeps of it would be lost.
    func changes(
        of leaf: LeafNode, nodeSize: Int, _ reduction: Reduction?
    ) throws(StoreError) -> StoredChild? {
        let largest = nodeSize / 2
        guard let base = leaf.base, !leaf.exceedsPage, leaf.delta.used <= largest else { return nil }
        let file = output.file
        let pin = file.cache.reclaimer.readers.pin()
        let isCached = file.cache.find(base.chunk.offset, pin) != nil
        let filter = isCached ? nil : file.cache.filter(base.chunk.offset, pin)
        if let filter, !filter.canAdd(leaf.delta.view) { return nil }
        let mayHaveChanges = base.chunk.length <= LeafChanges.largestChunk
        let older = mayHaveChanges ? try file.changes(at: base.chunk) : nil
        let stored = older?.leaf ?? base.chunk
        guard let chunk = try append(leaf, older, of: stored, largest) else { return nil }
        var child = StoredChild(chunk: chunk, summary: leaf.summary)
        child.summary.bytes += UInt64(chunk.length)
        if older != nil { child.summary.bytes -= UInt64(base.chunk.length) }
        if let page = try merged(
            leaf, base.chunk, isNeeded: reduction != nil || leaf.hasUnverifiedDeletions, pin)
        {
            guard page.count > 0 else { return nil }
            child.summary.count = UInt64(page.count)
            child.reduction = reduction?.storedValue(of: page, in: file) ?? []
            if isCached { file.cache.insert(copyOf: page.bytes, at: chunk.offset) }
        } else if let filter {
            file.cache.insertFilter(filter, adding: leaf.delta.view, at: chunk.offset)
        }
        return child
    }

    /// Appends the changes of `leaf` together with `older` ones, unless they are too many or most of them deletions.
    private func append(
        _ leaf: LeafNode, _ older: LeafChanges?, of stored: ChunkReference, _ largest: Int
    ) throws(StoreError) -> ChunkReference? {
        entries.reset()
        let deletions = try output.file.reading(stored) { () throws(MalformedBytes) in
            try entries.unite(older?.page, leaf.delta.view)
        }
        extendLifetime(older)
        let deleted = deletions.reduce(0) { $0 + ($1 ? 1 : 0) }
        guard entries.size <= largest, deleted * 2 <= leaf.summary.count else { return nil }
        let bytes = entries.build(0..<entries.count).page
        guard let page = PageView(bytes) else { return nil }
        return try output.append(
            changes: page, length: bytes.count, deletions: deletions, of: stored,
            limit: Int(min(stored.length / NodeWriter.leafBytesForChange, LeafChanges.largestChunk)))
    }

    /// The page of `leaf` with its changes, whose stored leaf is at `base`, valid until the next call; `nil` where it is neither
    /// needed nor in the cache.
    private func merged(
        _ leaf: LeafNode, _ base: ChunkReference, isNeeded: Bool, _ pin: borrowing EpochReclaimer.Pin
    ) throws(StoreError) -> PageView? {
        let file = output.file
        let page: PageView
        if let cached = file.cache.find(base.offset, pin) {
            page = cached
        } else if isNeeded {
            page = try file.load(base, into: unpacked).page
        } else {
            return nil
        }
        try file.reading(base) { () throws(MalformedBytes) in
            unsafe try LeafBuilder.merge(page, leaf.delta.view, using: entries) {
                unsafe mergedLeaf.emptied(toHold: $0)
            }
        }
        return PageView(mergedLeaf.view)
    }
}
