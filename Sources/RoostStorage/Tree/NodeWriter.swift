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
