import RoostBytes

/// Keys that grow, as sequence numbers and sorted loads do, go straight to the end of the last leaf. A leaf that fills
/// up this way is written at once, full, and the log names the leaf instead of repeating its entries.
extension TreeEditor {
    /// A leaf without a stored base at the end of the tree, which takes keys greater than all others directly.
    final class Tail {
        let leaf: LeafNode
        let path: TreePath
        let lastKey = ByteBuffer()
        /// How many of its last entries are not in the log. They get there by the end of the transaction, unless the
        /// leaf fills up first and is written: then the log needs to name only the leaf.
        var unlogged = 0

        init(leaf: LeafNode, path: TreePath, lastKey: ByteView) {
            self.leaf = leaf
            self.path = path
            self.lastKey.append(lastKey)
        }

        /// Notes that `key` is now the last one.
        @inline(__always)
        func note(_ key: ByteView) {
            lastKey.reset()
            lastKey.append(key)
        }
    }

    /// Takes the entry if `key` is greater than all others and the last leaf is open for appending.
    @inline(__always)
    func append(_ key: ByteView, _ entry: Entry) throws(StoreError) -> Bool {
        guard let tail, tail.lastKey.view.compare(key) < 0 else { return false }
        let leaf = tail.leaf
        if isFull(leaf, for: key, entry) {
            try writeTail()
            return try append(key, entry)
        }
        let capacity = leaf.pendingBytes
        leaf.delta.put(key, entry, tag: 0, at: leaf.delta.count, found: false)
        pendingBytes += leaf.pendingBytes - capacity
        let change = Summary(count: 1, bytes: entry.ownedBytes)
        leaf.summary += change
        tail.path.adjust(by: change)
        tail.unlogged += 1
        tail.note(key)
        return true
    }

    /// Whether no entry of the last leaf that is not logged yet may have `key`, nor one that is still to be appended.
    @inline(__always)
    func isClearOfTail(_ key: ByteView) -> Bool {
        guard let tail else { return true }
        if tail.leaf.delta.count == 0 { return tail.lastKey.view.compare(key) >= 0 }
        let (index, found) = tail.leaf.delta.view.search(key)
        return index == 0 && !found
    }

    /// Whether the last leaf has no room for one more entry, once what its keys start with is stored only once.
    @inline(__always)
    private func isFull(_ leaf: LeafNode, for key: ByteView, _ entry: Entry) -> Bool {
        let size = leaf.delta.used + DeltaPage.length(key, entry)
        return size > context.nodeSize && leaf.delta.count > 1
            && (size > DeltaPage.largestOpen || size - leaf.sharedBytes(upTo: key) > context.nodeSize)
    }

    /// Opens `leaf`, to which `path` leads, for appending after `key`, its last key, where it is the tree's last leaf.
    func startTail(_ leaf: LeafNode, _ key: ByteView, at path: TreePath) {
        guard tail == nil, leaf.base == nil, path.isRightEdge else { return }
        tail = Tail(leaf: leaf, path: path, lastKey: key)
    }

    /// Logs what was appended to the last leaf, and appends no more.
    func closeTail() throws(StoreError) {
        try logTail()
        tail = nil
    }

    /// Writes the last leaf, which is full, and opens an empty one after it.
    private func writeTail() throws(StoreError) {
        guard let old = tail else { return }
        tail = nil
        let child = try write(old)
        if old.unlogged > 0 {
            log.appendLeaf(child.chunk)
            context.output.countLogged(Int(child.chunk.length))
        }
        let next = LeafNode(owner: context.owner)
        let lastKey = old.lastKey.view.array
        let index = old.path.last?.index ?? 0
        try replace(
            index..<index + 1, old.path, with: [Child(child), Child(next)], separators: [[], lastKey + [0]])
        tail = lastKey.withView { Tail(leaf: next, path: rightEdge(), lastKey: $0) }
    }

    /// Writes the leaf as it stands in memory, in the form that the file has it in.
    private func write(_ tail: Tail) throws(StoreError) -> StoredChild {
        let delta = tail.leaf.delta.view
        let shared = tail.leaf.sharedPrefix(upTo: tail.lastKey.view)
        let length = tail.leaf.delta.pageLength(sharing: shared)
        if let child = try context.nodes.leaf(
            packing: delta, length: length, dropping: shared, tail.leaf.summary, function)
        {
            return child
        }
        let entries = context.nodes.entries
        entries.reset()
        try context.file.reading(.nowhere) { () throws(MalformedBytes) in try entries.merge(nil, delta) }
        return try context.nodes.leaf(0..<entries.count, function, .nothing)
    }

    /// The way to the last leaf; all its nodes are this transaction's own.
    func rightEdge() -> TreePath {
        var path = TreePath()
        var node = root.memory
        while let branch = node as? BranchNode {
            path.append(branch, branch.count - 1)
            node = branch.memory(branch.count - 1)
        }
        return path
    }

    /// Logs what was appended to the last leaf, before `leaf` is changed in another way.
    func logTail(before leaf: LeafNode) throws(StoreError) {
        if tail?.leaf === leaf { try logTail() }
    }

    /// Logs what was appended to the last leaf and is not logged yet.
    func logTail() throws(StoreError) {
        guard let tail, tail.unlogged > 0 else { return }
        let page = tail.leaf.delta.view
        let key = ByteBuffer()
        for index in tail.leaf.delta.count - tail.unlogged..<tail.leaf.delta.count {
            key.reset()
            page.appendKey(index, to: key)
            let entry = try context.file.reading(.nowhere) { () throws(MalformedBytes) in
                try page.entry(index)
            }
            log.put(key.view, entry)
        }
        tail.unlogged = 0
    }
}

// MARK: - Checkpoint

/// Storing the whole tree for a checkpoint.
extension TreeEditor {
    /// Writes the branch nodes, and leaves that the file has no version of; returns the root as it is stored then, and whether
    /// nothing is pending.
    func store() throws(StoreError) -> (Root, isClean: Bool) {
        try closeTail()
        // Appending makes leaves that were never written.
        while let leaf = firstLeaf(from: [], where: { $0.base == nil && $0.summary.count > 0 }) {
            try rewrite(leaf)
        }
        let node = ownedRoot()
        if let branch = node as? BranchNode {
            let (child, isClean) = try store(branch)
            return (.stored(child, level: branch.level), isClean)
        }
        guard let leaf = node as? LeafNode, let base = leaf.base else { return (.empty, true) }
        return (.stored(base, level: 0), leaf.delta.count == 0)
    }

    /// Stores `node`; says whether nothing below it is pending.
    private func store(_ node: BranchNode) throws(StoreError) -> (StoredChild, isClean: Bool) {
        var children: [StoredChild] = []
        var isClean = true
        for index in 0..<node.count {
            guard let shared = node.memory(index) else {
                children.append(node[index].stored)
                continue
            }
            let memory = owned(shared, node, index)
            if let branch = memory as? BranchNode {
                let (child, isChildClean) = try store(branch)
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
        return (try context.nodes.branch(level: node.level, node.separators, children, function), isClean)
    }

    private func writeEmptyLeaf() throws(StoreError) -> StoredChild {
        context.nodes.entries.reset()
        return try context.nodes.leaf(0..<0, function, .nothing)
    }
}
