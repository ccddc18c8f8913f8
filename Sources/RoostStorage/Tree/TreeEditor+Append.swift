import RoostBytes

/// Keys that grow, as sequence numbers and sorted loads do, go straight to the end of the last leaf. A leaf that fills
/// up this way is written at once, full, and the log names the leaf instead of repeating its entries.
extension TreeEditor {
    /// Takes the entry if `key` is greater than all others and the last leaf is open for appending.
    @inline(__always)
    func append(_ key: ByteView, _ entry: Entry) throws(StoreError) -> Bool {
        guard let tail, tail.lastKey.view.compare(key) < 0 else { return false }
        let leaf = tail.leaf
        if isFull(leaf, for: key, entry) {
            try sealTail()
            return try append(key, entry)
        }
        let capacity = leaf.pendingBytes
        leaf.delta.put(key, entry, tag: 0, at: leaf.delta.count, found: false)
        pendingBytes += leaf.pendingBytes - capacity
        let change = Summary(count: 1, bytes: entry.ownedBytes)
        leaf.summary += change
        adjust(tail.path, by: change)
        tail.unlogged += 1
        tail.lastKey.reset()
        tail.lastKey.append(key)
        return true
    }

    /// Whether the last leaf has no room for one more entry, once what its keys start with is stored only once.
    @inline(__always)
    private func isFull(_ leaf: LeafNode, for key: ByteView, _ entry: Entry) -> Bool {
        let size = leaf.delta.used + DeltaPage.length(key, entry)
        return size > context.nodeSize && leaf.delta.count > 1
            && (size > DeltaPage.largestOpen || size - leaf.sharedBytes(upTo: key) > context.nodeSize)
    }

    /// Opens `leaf`, the last on ``path``, for appending after `key`, its last key, where it is the tree's last leaf.
    func startTail(_ leaf: LeafNode, _ key: ByteView) {
        guard tail == nil, leaf.base == nil, path.allSatisfy({ $0.index == $0.node.count - 1 }) else {
            return
        }
        tail = Tail(leaf: leaf, path: path)
        tail?.lastKey.append(key)
    }

    /// Writes the last leaf, which is full, and opens an empty one after it.
    private func sealTail() throws(StoreError) {
        guard let old = tail else { return }
        tail = nil
        let child = try write(old)
        if old.unlogged > 0 {
            log.appendLeaf(child.chunk)
            context.output.countLogged(Int(child.chunk.length))
        }
        pendingBytes -= old.leaf.pendingBytes
        let next = LeafNode(owner: context.owner)
        pendingBytes += next.pendingBytes
        let separator = old.lastKey.view.array + [0]
        let index = old.path.last?.index ?? 0
        try replace(
            index..<index + 1, old.path, with: [Child(child), Child(next)], separators: [[], separator])
        path = rightEdge()
        tail = Tail(leaf: next, path: path)
        tail?.lastKey.append(old.lastKey.view)
    }

    /// Writes the leaf as it stands in memory, in the form that the file has it in.
    private func write(_ tail: Tail) throws(StoreError) -> StoredChild {
        if let child = try writePacked(tail) { return child }
        builder.reset()
        try context.file.reading(ChunkReference(offset: 0, length: 0)) { () throws(MalformedBytes) in
            try builder.merge(nil, tail.leaf.delta.view)
        }
        return try write(0..<builder.count, keepInCache: false)
    }

    /// Packs the leaf without making a page of it first; `nil` where packing does not make it shorter.
    private func writePacked(_ tail: Tail) throws(StoreError) -> StoredChild? {
        let leaf = tail.leaf
        let shared = leaf.sharedPrefix(upTo: tail.lastKey.view)
        let length = leaf.delta.pageLength(sharing: shared)
        guard
            let chunk = try context.output.append(packing: leaf.delta.view, length: length, dropping: shared)
        else { return nil }
        var child = StoredChild(chunk: chunk, summary: leaf.summary)
        child.summary.bytes += UInt64(chunk.length)
        child.reduction = function?.storedValue(of: leaf.delta.view, in: context.file) ?? []
        return child
    }

    /// The way to the last leaf; all its nodes are this transaction's own.
    func rightEdge() -> [Step] {
        var steps: [Step] = []
        var node = root.memory
        while let inner = node as? InnerNode {
            steps.append(Step(node: inner, index: inner.count - 1))
            node = inner.memory(inner.count - 1)
        }
        return steps
    }

    /// Logs what was appended to the last leaf, before `leaf` is changed in another way.
    func logTail(before leaf: LeafNode) throws(StoreError) {
        if tail?.leaf === leaf { try logTail() }
    }

    /// Logs what was appended to the last leaf and is not logged yet.
    func logTail() throws(StoreError) {
        guard let open = tail, open.unlogged > 0 else { return }
        let page = open.leaf.delta.view
        let key = ByteBuffer()
        for index in open.leaf.delta.count - open.unlogged..<open.leaf.delta.count {
            key.reset()
            page.appendKey(index, to: key)
            let entry = try context.file.reading(ChunkReference(offset: 0, length: 0)) {
                () throws(MalformedBytes) in try page.entry(index)
            }
            log.put(key.view, entry)
        }
        tail?.unlogged = 0
    }
}
