import RoostBytes

/// The tree's shape: the walk down to a leaf, children of branch nodes replaced, nodes split, merged and removed, the root raised
/// and lowered, whole subtrees dropped.
extension TreeEditor {
    // MARK: Walking down

    /// A node in memory for a stored one.
    static func memory(
        for child: StoredChild, level: UInt8, _ context: Context
    ) throws(StoreError) -> MemoryNode {
        guard level > 0 else { return LeafNode(owner: context.owner, base: child) }
        let pin = context.file.cache.reclaimer.readers.pin()
        let page = try context.file.page(child.chunk, pin)
        guard page.level == level, page.count > 0 else {
            throw context.file.damaged("a node of another level", child.chunk)
        }
        // What is built of the separators relies on their order.
        if let fault = PageCheck(page: page, lower: nil, upper: nil).fault() {
            throw context.file.damaged(fault, child.chunk)
        }
        let branch = Branch.stored(page, child.chunk)
        var children: [Child] = []
        children.reserveCapacity(page.count)
        for index in 0..<page.count { children.append(try branch.child(index, in: context.file)) }
        return BranchNode(
            owner: context.owner, level: level, separators: SeparatorTable(page), children: children)
    }

    /// Walks down to the leaf whose span includes `key`, making every node on the way, which is then ``path``, this
    /// transaction's own.
    func descend(_ key: ByteView) throws(StoreError) -> LeafNode {
        path.reset()
        var node = ownedRoot()
        while node.level > 0 {
            let branch = unsafe unsafeDowncast(node, to: BranchNode.self)
            let index = branch.separators.childIndex(key)
            node = try ownedChild(branch, index, at: path)
            path.append(branch, index)
        }
        return unsafe unsafeDowncast(node, to: LeafNode.self)
    }

    /// Walks to the tree's last leaf, in the same way.
    func descendToLast() throws(StoreError) -> LeafNode {
        path.reset()
        var node = ownedRoot()
        while let branch = node as? BranchNode {
            node = try ownedChild(branch, branch.count - 1, at: path)
            path.append(branch, branch.count - 1)
        }
        guard let leaf = node as? LeafNode else { preconditionFailure("a node is a leaf or a branch") }
        return leaf
    }

    /// Walks to the first leaf in memory that is `wanted` and whose span ends after `position`, in the same way.
    func firstLeaf(from position: [UInt8], where wanted: (LeafNode) -> Bool) -> LeafNode? {
        path.reset()
        return firstLeaf(below: ownedRoot(), from: position, where: wanted)
    }

    private func firstLeaf(
        below node: MemoryNode, from position: [UInt8], where wanted: (LeafNode) -> Bool
    ) -> LeafNode? {
        if let leaf = node as? LeafNode { return wanted(leaf) ? leaf : nil }
        guard let branch = node as? BranchNode else { return nil }
        let first = position.withView { branch.separators.childIndex($0) }
        for index in first..<branch.count {
            guard let memory = branch.memory(index) else { continue }
            path.append(branch, index)
            let found = firstLeaf(
                below: owned(memory, branch, index), from: index == first ? position : [], where: wanted)
            if let found { return found }
            path.removeLast()
        }
        return nil
    }

    func ownedRoot() -> MemoryNode {
        let node = top
        if node.owner == context.owner { return node }
        let copy = copy(of: node)
        root = Child(copy)
        return copy
    }

    /// A copy that this transaction may change; one of a leaf takes more memory, as it has room for some changes.
    private func copy(of node: MemoryNode) -> MemoryNode {
        let copy = node.copy(owner: context.owner)
        if node.level == 0 {
            pendingBytes += unsafe unsafeDowncast(copy, to: LeafNode.self).pendingBytes
            pendingBytes -= unsafe unsafeDowncast(node, to: LeafNode.self).pendingBytes
        }
        return copy
    }

    /// The child of `branch`, a node at the end of `path`, as a node that this transaction may change.
    @inline(__always)
    func ownedChild(_ branch: BranchNode, _ index: Int, at path: TreePath) throws(StoreError) -> MemoryNode {
        guard let memory = branch.memory(index) else { return try loadedChild(branch, index, at: path) }
        return owned(memory, branch, index)
    }

    /// The child `memory` of `branch` as a node that this transaction may change.
    @inline(__always)
    func owned(_ memory: MemoryNode, _ branch: BranchNode, _ index: Int) -> MemoryNode {
        if memory.owner == context.owner { return memory }
        let copy = copy(of: memory)
        branch.setMemory(copy, at: index)
        return copy
    }

    @inline(never)
    private func loadedChild(
        _ branch: BranchNode, _ index: Int, at path: TreePath
    ) throws(StoreError) -> MemoryNode {
        let child = branch[index]
        let node = try TreeEditor.memory(for: child.stored, level: branch.level - 1, context)
        branch.setMemory(node, at: index)
        if let leaf = node as? LeafNode { pendingBytes += leaf.pendingBytes }
        let change = node.summary - child.stored.summary
        branch.summary += change
        path.adjust(by: change)
        return node
    }

    // MARK: Children replaced

    /// Replaces children of the last node of `path`, or the root, and mends the shape of the tree above.
    ///
    /// The first of the new children starts where the first of the old ones did, so `separators[0]` counts only where
    /// `range` is empty.
    func replace(
        _ range: Range<Int>, _ path: TreePath, with children: [Child], separators: [[UInt8]]
    ) throws(StoreError) {
        guard let step = path.last else { return try replaceRoot(with: children, separators) }
        let above = path.parent
        let node = step.node
        let before = node.summary
        var separators = separators
        if !separators.isEmpty, !range.isEmpty { separators[0] = node.separators.key(range.lowerBound).array }
        try check(separators.dropFirst(range.isEmpty ? 0 : 1), replacing: range, of: node)
        // Branch nodes give way to others above the same leaves, or to nothing.
        if node.level == 1 || children.isEmpty {
            recount(range.map { node[$0] }, replacedBy: children)
        }
        node.replace(range, with: children, separators: separators)
        above.adjust(by: node.summary - before)
        if node.count == 0 {
            try removeNode(above)
        } else if isTooLarge(node) {
            try split(node, above, packing: range.upperBound >= node.count - children.count + range.count)
        } else if let parent = above.last, parent.node.count > 1, node.storedSize < context.nodeSize / 4 {
            try merge(node, above)
        }
        try lowerRoot()
    }

    /// Refuses separators that don't fit between their neighbours, as those of a leaf with keys outside its span.
    private func check(
        _ separators: ArraySlice<[UInt8]>, replacing range: Range<Int>, of node: BranchNode
    ) throws(StoreError) {
        let table = node.separators
        guard let first = separators.first, let last = separators.last else { return }
        let before = range.isEmpty ? range.lowerBound - 1 : range.lowerBound
        let fits =
            (before <= 0 || first.withView { table.key(before).compare($0) < 0 })
            && (range.upperBound >= table.count
                || last.withView { $0.compare(table.key(range.upperBound)) < 0 })
        guard fits else {
            throw context.file.damaged(
                "keys outside the span of their leaf", node[max(before, 0)].stored.chunk)
        }
    }

    /// Bytes that the changes pending at and below `child` take.
    private static func pendingBytes(below child: Child) -> Int {
        switch child.memory {
        case let leaf as LeafNode: leaf.pendingBytes
        case let branch as BranchNode: (0..<branch.count).reduce(0) { $0 + pendingBytes(below: branch[$1]) }
        default: 0
        }
    }

    /// Counts what is pending in `children` in the place of what was in `old`.
    private func recount(_ old: [Child], replacedBy children: [Child]) {
        for child in old { pendingBytes -= TreeEditor.pendingBytes(below: child) }
        for child in children { pendingBytes += TreeEditor.pendingBytes(below: child) }
    }

    /// Makes a new root of what takes the place of the old one, which is a leaf.
    func replaceRoot(with children: [Child], _ separators: [[UInt8]]) throws(StoreError) {
        recount([root], replacedBy: children)
        switch children.count {
        case 0:
            setRoot(LeafNode(owner: context.owner))
        case 1 where children[0].memory != nil:
            root = children[0]
        case 1:
            setRoot(LeafNode(owner: context.owner, base: children[0].stored))
        default:
            try raiseRoot(1, [[]] + separators.dropFirst(), children)
        }
    }

    /// Makes a new root above `children`.
    private func raiseRoot(
        _ level: UInt8, _ separators: [[UInt8]], _ children: [Child]
    ) throws(StoreError) {
        let node = BranchNode(
            owner: context.owner, level: level, separators: SeparatorTable(separators), children: children)
        root = Child(node)
        if isTooLarge(node) { try split(node, TreePath(), packing: false) }
    }

    func isTooLarge(_ node: BranchNode) -> Bool {
        node.storedSize > context.nodeSize && node.count >= 4
    }

    /// Makes a leaf without changes yet the root.
    private func setRoot(_ leaf: LeafNode) {
        pendingBytes += leaf.pendingBytes
        root = Child(leaf)
    }

    private func removeNode(_ above: TreePath) throws(StoreError) {
        guard let step = above.last else { return setRoot(LeafNode(owner: context.owner)) }
        try replace(step.index..<step.index + 1, above, with: [], separators: [])
    }

    /// Splits `node` in two, in the middle, or, when it grows at its end, near the end; and the parts again while they
    /// are larger than a node, as where many children came at once.
    func split(_ node: BranchNode, _ above: TreePath, packing: Bool) throws(StoreError) {
        var parts: [BranchNode] = []
        var separators: [[UInt8]] = []
        var rest = [(node, node.separators.key(0).array, packing ? node.count - 2 : node.count / 2)]
        while let (next, separator, middle) = rest.popLast() {
            if next !== node, !isTooLarge(next) {
                parts.append(next)
                separators.append(separator)
                continue
            }
            let (left, right) = (part(of: next, 0..<middle), part(of: next, middle..<next.count))
            rest.append((right, next.separators.key(middle).array, right.count / 2))
            rest.append((left, separator, left.count / 2))
        }
        if let step = above.last {
            try replace(
                step.index..<step.index + 1, above, with: parts.map { Child($0) }, separators: separators)
        } else {
            try raiseRoot(node.level + 1, separators, parts.map { Child($0) })
        }
    }

    private func part(of node: BranchNode, _ range: Range<Int>) -> BranchNode {
        let separators = range.map { $0 == range.lowerBound ? [] : node.separators.key($0).array }
        return BranchNode(
            owner: context.owner, level: node.level, separators: SeparatorTable(separators),
            children: range.map { node[$0] })
    }

    /// Joins `node`, which has few children left, with a neighbour, if both fit into one node.
    private func merge(_ node: BranchNode, _ above: TreePath) throws(StoreError) {
        guard let step = above.last else { return }
        let left = step.index > 0 ? step.index - 1 : step.index
        let parent = step.node
        guard let first = try ownedChild(parent, left, at: above.parent) as? BranchNode,
            let second = try ownedChild(parent, left + 1, at: above.parent) as? BranchNode
        else { return }
        guard first.storedSize + second.storedSize <= context.nodeSize else { return }
        var separators = (0..<first.count).map { first.separators.key($0).array }
        separators.append(parent.separators.key(left + 1).array)
        separators += (0..<second.count).dropFirst().map { second.separators.key($0).array }
        let joined = BranchNode(
            owner: context.owner, level: node.level, separators: SeparatorTable(separators),
            children: (0..<first.count).map { first[$0] } + (0..<second.count).map { second[$0] })
        try replace(left..<left + 2, above, with: [Child(joined)], separators: [[]])
    }

    /// A root with a single child gives way to it.
    private func lowerRoot() throws(StoreError) {
        // What is divided among threads keeps its level, and nothing else grows lower then.
        guard !isSealed else { return }
        while let branch = root.memory as? BranchNode, branch.count == 1 {
            let child = branch[0]
            if child.memory != nil {
                root = child
            } else {
                let node = try TreeEditor.memory(for: child.stored, level: branch.level - 1, context)
                if let leaf = node as? LeafNode { pendingBytes += leaf.pendingBytes }
                root = Child(node)
            }
        }
    }

    // MARK: Ranges deleted

    /// Drops the topmost run of children that lie within the range; `false` when there is none left.
    func dropCovered(_ lower: [UInt8]?, _ upper: [UInt8]?) throws(StoreError) -> Bool {
        for alongLower in [true, false] {
            var (lower, upper) = (lower, upper)
            path.reset()
            var node = ownedRoot()
            while let branch = node as? BranchNode {
                let range = covered(branch, lower, upper)
                if !range.isEmpty {
                    path.append(branch, range.lowerBound)
                    try replace(range, path, with: [], separators: [])
                    return true
                }
                let first = lower.map { key in key.withView { branch.separators.childIndex($0) } } ?? 0
                let last =
                    upper.map { key in key.withView { branch.separators.childIndex(below: $0) } } ?? branch
                    .count - 1
                // Where the two ends part, everything to the right of the lower one is in the range, and everything
                // to the left of the upper one.
                if first < last {
                    if alongLower { upper = nil } else { lower = nil }
                }
                let index = alongLower ? first : max(first, last)
                node = try ownedChild(branch, index, at: path)
                path.append(branch, index)
            }
        }
        return false
    }

    /// The children of `branch` all of whose keys are in the range. The first child starts where `branch` does, which
    /// is at or above `lower` only if that is open.
    private func covered(_ branch: BranchNode, _ lower: [UInt8]?, _ upper: [UInt8]?) -> Range<Int> {
        var start = 0
        if let lower {
            start = lower.withView { branch.separators.childIndex(below: $0) } + 1
        }
        let end = upper.map { key in key.withView { branch.separators.childIndex($0) } } ?? branch.count
        return start..<max(start, end)
    }

    /// Deletes what is left of the range, which lies in the leaves at its two ends.
    func deleteOneByOne(_ lower: [UInt8]?, _ upper: [UInt8]?) throws(StoreError) {
        let image = LeafImage()
        var from = lower ?? []
        while true {
            let place = try reader(for: context.owner).locate(.key(from), into: image)
            let page = image.page
            for index in from.withView({ page.search($0).index })..<page.count {
                let key = page.key(index)
                if let upper, !key.lexicographicallyPrecedes(upper) { return }
                try key.withView { (view) throws(StoreError) in _ = try deleteUnlogged(view) }
            }
            guard let next = place.upper else { return }
            guard from.lexicographicallyPrecedes(next) else {
                throw context.file.damaged(
                    "branch nodes with separators out of order", .nowhere)
            }
            from = next
            if let upper, !from.lexicographicallyPrecedes(upper) { return }
        }
    }
}
