import RoostBytes

/// Changes divided by the children of the root, and the children put together again.
extension TreeEditor {
    /// The changes of `log` that wait, a part for each child of the root that they concern; none where there is no more than one.
    func parts(of changes: DeferredChanges) throws(StoreError) -> [DividedChanges.Part] {
        guard let root = top as? BranchNode else { return [] }
        var operations: [OperationEncoder?] = Array(repeating: nil, count: root.count)
        func encoder(_ key: ByteView) -> OperationEncoder {
            let index = root.separators.childIndex(key)
            let encoder = operations[index] ?? OperationEncoder()
            operations[index] = encoder
            return encoder
        }
        try changes.forEach(in: log) { (operation) throws(StoreError) in
            switch operation {
            case .put(let key, let entry): encoder(key).put(key, entry)
            case .delete(let key): encoder(key).delete(key)
            case .appendLeaf: break
            case .deleteRange: preconditionFailure("ranges are deleted at once")
            }
        }
        let parts = operations.enumerated().compactMap { index, operations in
            operations.map { operations in
                let child = root[index]
                let reader = TreeReader(
                    file: context.file,
                    root: child.memory.map { .memory($0) } ?? .stored(child.stored, level: root.level - 1),
                    reduction: reduction)
                return DividedChanges.Part(
                    index: index, tree: TreeVersion(id: id, name: name, reader: reader),
                    operations: operations.buffer.view.array, deletesKnown: changes.deletesKnown)
            }
        }
        return parts.count > 1 ? parts : []
    }

    /// Puts what has become of children of the root in their place.
    func join(_ made: [DividedChanges.Made]) throws(StoreError) {
        guard let root = ownedRoot() as? BranchNode else {
            preconditionFailure("a root with children is a branch")
        }
        // From the last one on, as one may give way to several.
        for child in made.sorted(by: { $0.index > $1.index }) {
            var nodes = [Child(child.top)]
            var separators = [root.separators.key(child.index).array]
            while let branch = nodes[0].memory as? BranchNode, branch.level >= root.level {
                (nodes, separators) = TreeEditor.lowered(nodes, separators)
            }
            let before = root.summary
            root.replace(child.index..<child.index + 1, with: nodes, separators: separators)
            root.summary = before + child.growth
            pendingBytes += child.pendingBytes
            fullLeaves += child.fullLeaves
        }
        if isTooLarge(root) { try split(root, TreePath(), packing: false) }
    }

    /// The children of branch nodes, in the place of these.
    private static func lowered(_ nodes: [Child], _ separators: [[UInt8]]) -> ([Child], [[UInt8]]) {
        var children: [Child] = []
        var lowered: [[UInt8]] = []
        for (node, separator) in zip(nodes, separators) {
            guard let branch = node.memory as? BranchNode else {
                preconditionFailure("what was divided is in memory")
            }
            for index in 0..<branch.count {
                children.append(branch[index])
                lowered.append(index == 0 ? separator : branch.separators.key(index).array)
            }
        }
        return (children, lowered)
    }
}
