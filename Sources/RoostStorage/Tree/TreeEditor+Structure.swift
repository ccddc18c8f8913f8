import RoostBytes

/// Changes of inner nodes: children replaced, nodes split, merged and removed, the root raised and lowered.
extension TreeEditor {
    /// Replaces children of the last node of `path`, or the root, and mends the shape of the tree above.
    ///
    /// The first of the new children starts where the first of the old ones did, so `separators[0]` counts only where
    /// `range` is empty.
    func replace(
        _ range: Range<Int>, _ path: [Step], with children: [Child], separators: [[UInt8]]
    ) throws(StoreError) {
        guard let step = path.last else { return try replaceRoot(with: children, separators) }
        let above = Array(path.dropLast())
        let node = step.node
        let before = node.summary
        var separators = separators
        if !separators.isEmpty, !range.isEmpty { separators[0] = node.separators.key(range.lowerBound).array }
        try check(separators.dropFirst(range.isEmpty ? 0 : 1), replacing: range, of: node)
        node.replace(range, with: children, separators: separators)
        adjust(above, by: node.summary - before)
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
        _ separators: ArraySlice<[UInt8]>, replacing range: Range<Int>, of node: InnerNode
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

    /// Makes a new root of what takes the old one's place.
    func replaceRoot(with children: [Child], _ separators: [[UInt8]]) throws(StoreError) {
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
        let node = InnerNode(
            owner: context.owner, level: level, separators: SeparatorTable(separators), children: children)
        root = Child(node)
        if isTooLarge(node) { try split(node, [], packing: false) }
    }

    private func isTooLarge(_ node: InnerNode) -> Bool {
        node.storedSize > context.nodeSize && node.count >= 4
    }

    /// Makes a leaf without changes yet the root.
    private func setRoot(_ leaf: LeafNode) {
        pendingBytes += leaf.pendingBytes
        root = Child(leaf)
    }

    private func removeNode(_ above: [Step]) throws(StoreError) {
        guard let step = above.last else { return setRoot(LeafNode(owner: context.owner)) }
        try replace(step.index..<step.index + 1, above, with: [], separators: [])
    }

    /// Splits `node` in two, in the middle, or, when it grows at its end, near the end; and the parts again while they
    /// are larger than a node, as where many children came at once.
    private func split(_ node: InnerNode, _ above: [Step], packing: Bool) throws(StoreError) {
        var parts: [InnerNode] = []
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

    private func part(of node: InnerNode, _ range: Range<Int>) -> InnerNode {
        let separators = range.map { $0 == range.lowerBound ? [] : node.separators.key($0).array }
        return InnerNode(
            owner: context.owner, level: node.level, separators: SeparatorTable(separators),
            children: range.map { node[$0] })
    }

    /// Joins `node`, which has few children left, with a neighbour, if both fit into one node.
    private func merge(_ node: InnerNode, _ above: [Step]) throws(StoreError) {
        guard let step = above.last else { return }
        let left = step.index > 0 ? step.index - 1 : step.index
        let parent = step.node
        guard let first = try ownedNeighbour(parent, left, Array(above.dropLast())),
            let second = try ownedNeighbour(parent, left + 1, Array(above.dropLast()))
        else { return }
        guard first.storedSize + second.storedSize <= context.nodeSize else { return }
        var separators = (0..<first.count).map { first.separators.key($0).array }
        separators.append(parent.separators.key(left + 1).array)
        separators += (0..<second.count).dropFirst().map { second.separators.key($0).array }
        let joined = InnerNode(
            owner: context.owner, level: node.level, separators: SeparatorTable(separators),
            children: (0..<first.count).map { first[$0] } + (0..<second.count).map { second[$0] })
        try replace(left..<left + 2, above, with: [Child(joined)], separators: [[]])
    }

    private func ownedNeighbour(
        _ parent: InnerNode, _ index: Int, _ above: [Step]
    ) throws(StoreError) -> InnerNode? {
        let kept = path
        path = above
        defer { path = kept }
        return try ownedChild(parent, index) as? InnerNode
    }

    /// A root with a single child gives way to it.
    private func lowerRoot() throws(StoreError) {
        while let inner = root.memory as? InnerNode, inner.count == 1 {
            let child = inner[0]
            if child.memory != nil {
                root = child
            } else {
                let node = try TreeEditor.memory(for: child.stored, level: inner.level - 1, context)
                if let leaf = node as? LeafNode { pendingBytes += leaf.pendingBytes }
                root = Child(node)
            }
        }
    }
}
