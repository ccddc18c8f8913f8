import RoostBytes

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
