import RoostBytes

/// Writing pending changes ahead, and the checkpoint that makes the stored tree complete.
extension TreeEditor {
    /// Writes leaves with pending changes, in key order from `position` on, until `budget` bytes of changes are no longer
    /// pending.
    ///
    /// - Returns: where to go on, or `nil` when the end of the tree was reached.
    func writeLeaves(from position: [UInt8], budget: inout Int) throws(StoreError) -> [UInt8]? {
        try logTail()
        tail = nil
        var position = position
        while budget > 0 {
            path.removeAll(keepingCapacity: true)
            guard let leaf = try descend(ownedRoot(), from: position, to: { $0.delta.count > 0 }) else {
                return nil
            }
            let next = upperFence()
            let before = pendingBytes
            try rewrite(leaf, path)
            budget -= max(before - pendingBytes, 1)
            guard let next else { return nil }
            position = next
        }
        return position
    }

    /// Walks to the first leaf in memory that is `wanted` and whose span ends after `position`; ``path`` leads there.
    private func descend(
        _ node: MemoryNode, from position: [UInt8], to wanted: (LeafNode) -> Bool
    ) throws(StoreError) -> LeafNode? {
        if let leaf = node as? LeafNode { return wanted(leaf) ? leaf : nil }
        guard let inner = node as? InnerNode else { return nil }
        let first = position.withView { inner.separators.childIndex($0) }
        for index in first..<inner.count where inner.memory(index) != nil {
            let child = try ownedChild(inner, index)
            path.append(Step(node: inner, index: index))
            let found = try descend(child, from: index == first ? position : [], to: wanted)
            if let found { return found }
            path.removeLast()
        }
        return nil
    }

    /// The key at which the leaf that ``path`` leads to ends; `nil` for the last leaf.
    private func upperFence() -> [UInt8]? {
        for step in path.reversed() where step.index + 1 < step.node.count {
            return step.node.separators.key(step.index + 1).array
        }
        return nil
    }

    /// Writes the inner nodes and returns the root as it is stored now.
    ///
    /// Leaves that have changes pending again keep them: the stored tree then holds those leaves as they were written
    /// last, and replaying the log since before that brings them up to date.
    func checkpoint() throws(StoreError) -> Root {
        try writeUnstored()
        let node = ownedRoot()
        let stored: Root
        var isClean = true
        if let inner = node as? InnerNode {
            let (child, isChildClean) = try store(inner)
            (stored, isClean) = (.stored(child, level: inner.level), isChildClean)
        } else if let leaf = node as? LeafNode, let base = leaf.base {
            (stored, isClean) = (.stored(base, level: 0), leaf.delta.count == 0)
        } else {
            stored = .empty
        }
        if isClean {
            checkpointed = stored
            pendingBytes = 0
        }
        return stored
    }

    /// Writes leaves that the file has no version of at all, as appending makes them.
    private func writeUnstored() throws(StoreError) {
        try logTail()
        tail = nil
        path.removeAll(keepingCapacity: true)
        while let leaf = try descend(ownedRoot(), from: [], to: { $0.base == nil && $0.summary.count > 0 }) {
            try rewrite(leaf, path)
            path.removeAll(keepingCapacity: true)
        }
    }

    /// Stores `node`; says whether nothing below it is pending.
    private func store(_ node: InnerNode) throws(StoreError) -> (StoredChild, isClean: Bool) {
        var children: [StoredChild] = []
        var isClean = true
        for index in 0..<node.count {
            guard node.memory(index) != nil else {
                children.append(node[index].stored)
                continue
            }
            let memory = try ownedChild(node, index)
            if let inner = memory as? InnerNode {
                let (child, isChildClean) = try store(inner)
                children.append(child)
                if isChildClean { node.setStored(child, at: index) } else { isClean = false }
            } else if let leaf = memory as? LeafNode {
                // An empty leaf that was never written stands in the file as a leaf without entries.
                let base: StoredChild
                if let stored = leaf.base { base = stored } else { base = try writeEmptyLeaf() }
                children.append(base)
                if leaf.delta.count == 0 {
                    pendingBytes -= leaf.pendingBytes
                    node.setStored(base, at: index)
                } else {
                    isClean = false
                }
            }
        }
        node.summary = (0..<node.count).reduce(Summary()) { $0 + node[$1].summary }
        return (try write(node, children), isClean)
    }

    private func writeEmptyLeaf() throws(StoreError) -> StoredChild {
        builder.reset()
        return try write(0..<0, keepInCache: false)
    }

    private func write(_ node: InnerNode, _ children: [StoredChild]) throws(StoreError) -> StoredChild {
        let bytes = innerBuilder.build(level: node.level, node.separators, children)
        let chunk = try context.output.append(.node, bytes)
        context.file.cache.insert(copyOf: bytes, at: chunk.offset)
        var child = StoredChild(chunk: chunk, summary: children.reduce(Summary()) { $0 + $1.summary })
        child.summary.bytes += UInt64(chunk.length)
        child.reduction = function?.storedValue(of: children) ?? []
        return child
    }
}
