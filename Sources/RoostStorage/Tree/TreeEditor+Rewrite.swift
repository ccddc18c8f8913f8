import RoostBytes

/// Writing leaves, and what that does to the tree's shape: leaves split by bytes, merge with a neighbour when less
/// than a quarter full, and disappear when empty.
extension TreeEditor {
    /// Writes `leaf`, to which `path` leads, with its changes merged in.
    ///
    /// - Parameter keepingTail: where keys were appended to the tree's last leaf, what does not fill a node stays in
    ///   memory, open for more.
    func rewrite(_ leaf: LeafNode, _ path: [Step], keepingTail: Bool = false) throws(StoreError) {
        try logTail()
        tail = nil
        builder.reset()
        try gather(leaf)
        pendingBytes -= leaf.pendingBytes
        var range = 0..<1
        if let step = path.last {
            range = step.index..<step.index + 1
            if builder.size < context.nodeSize / 4, step.node.count > 1 {
                range = try gatherNeighbour(leaf, step)
            }
        }
        let grows = path.allSatisfy { $0.index == $0.node.count - 1 } && endsWithPending(leaf)
        let cuts = builder.cuts(nodeSize: context.nodeSize, packing: grows)
        var children: [Child] = []
        var separators: [[UInt8]] = []
        for cut in cuts {
            let isTail =
                keepingTail && grows && cut.lowerBound > 0 && cut.upperBound == builder.count
                && builder.pendingSize(cut) <= context.nodeSize
            children.append(isTail ? Child(try openLeaf(cut)) : Child(try write(cut, keepInCache: true)))
            separators.append(separator(before: cut.lowerBound))
        }
        let last = children.last?.memory as? LeafNode
        try replace(range, path, with: children, separators: separators)
        if let last {
            self.path = rightEdge()
            builder.key(builder.count - 1).array.withView { startTail(last, $0) }
        }
    }

    /// Whether the greatest key of `leaf` is a pending change, as it is where keys grow.
    private func endsWithPending(_ leaf: LeafNode) -> Bool {
        let pending = leaf.delta.view
        return pending.count > 0 && builder.count > 0
            && pending.key(pending.count - 1).withView { builder.key(builder.count - 1).compare($0) } == 0
    }

    /// The gathered entries in `range` as a leaf in memory.
    func openLeaf(_ range: Range<Int>) throws(StoreError) -> LeafNode {
        let leaf = LeafNode(owner: context.owner)
        let (bytes, summary) = builder.build(range)
        guard let page = PageView(bytes) else { preconditionFailure("a built page is well-formed") }
        try context.file.reading(ChunkReference(offset: 0, length: 0)) { () throws(MalformedBytes) in
            for index in 0..<page.count {
                let entry = try page.entry(index)
                page.key(index).withView { leaf.delta.put($0, entry, tag: 0, at: index, found: false) }
            }
        }
        leaf.summary = summary
        pendingBytes += leaf.pendingBytes
        return leaf
    }

    /// Adds the entries of `leaf` as they are now to the builder.
    func gather(_ leaf: LeafNode) throws(StoreError) {
        let pin = context.file.cache.reclaimer.readers.pin()
        let base = try leaf.base.map { (child) throws(StoreError) in
            try context.file.page(child.chunk, pin)
        }
        let chunk = leaf.base?.chunk ?? ChunkReference(offset: 0, length: 0)
        let joint = builder.count
        try context.file.reading(chunk) { () throws(MalformedBytes) in
            try builder.merge(base, leaf.delta.view)
        }
        guard joint == 0 || joint == builder.count || builder.key(joint - 1).compare(builder.key(joint)) < 0
        else { throw context.file.damaged("a leaf that overlaps its neighbour", chunk) }
    }

    /// Gathers a neighbour as well; returns the two children's indices.
    private func gatherNeighbour(_ leaf: LeafNode, _ step: Step) throws(StoreError) -> Range<Int> {
        let other = step.index > 0 ? step.index - 1 : step.index + 1
        let neighbour = try neighbour(step.node[other])
        pendingBytes -= neighbour.pendingBytes
        if other < step.index {
            builder.reset()
            try gather(neighbour)
            try gather(leaf)
        } else {
            try gather(neighbour)
        }
        return min(other, step.index)..<max(other, step.index) + 1
    }

    private func neighbour(_ child: Child) throws(StoreError) -> LeafNode {
        if let leaf = child.memory as? LeafNode { return leaf }
        let leaf = LeafNode(owner: context.owner, base: child.stored)
        pendingBytes += leaf.pendingBytes
        return leaf
    }

    /// The shortest key that parts the entry at `index` from the one before.
    func separator(before index: Int) -> [UInt8] {
        guard index > 0 else { return [] }
        let key = builder.key(index)
        return key.slice(0, min(builder.key(index - 1).commonPrefix(key) + 1, key.count)).array
    }

    /// Writes the gathered entries in `range` as a leaf.
    func write(_ range: Range<Int>, keepInCache: Bool) throws(StoreError) -> StoredChild {
        let (page, summary) = builder.build(range)
        let chunk = try context.output.append(.node, page)
        if keepInCache { context.file.cache.insert(copyOf: page, at: chunk.offset) }
        var child = StoredChild(chunk: chunk, summary: summary)
        child.summary.bytes += UInt64(chunk.length)
        if let function, let leaf = PageView(page) {
            child.reduction = function.storedValue(of: leaf, in: context.file)
        }
        return child
    }
}
