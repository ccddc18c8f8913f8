import RoostBytes

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
