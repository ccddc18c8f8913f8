extension RevisionTree {
    /// Forgets every revision that is not among the `limit` newest on the way to some leaf, the leaf
    /// included.
    ///
    /// What the forgotten revisions were parents of become roots. Leaves, winner and conflicts stay as they
    /// are. O(n), and nothing to do while the generations span no more than `limit`.
    /// - Parameter limit: The revision limit, at least 1.
    /// - Returns: How many revisions were forgotten.
    @discardableResult
    package mutating func stem(to limit: Int) -> Int {
        precondition(limit >= 1)
        guard count > limit, let lowest = nodes.first, let highest = nodes.last,
            highest.id.generation - lowest.id.generation >= UInt64(limit)
        else { return 0 }
        // How many edits lie between a revision and the nearest leaf that came of it.
        var distance = nodes.map { $0.isLeaf ? 0 : Int32.max }
        for index in nodes.indices.reversed() {
            forEachParent(of: index) { distance[$0] = Swift.min(distance[$0], distance[index] + 1) }
        }
        return removeNodes { distance[$0] >= limit }
    }

    /// Removes those of `ids` that are leaves, each with the ancestors that no other leaf shares, as if
    /// they had never been.
    ///
    /// IDs that are unknown or not of leaves are passed over. O(n + k log n) for k IDs.
    /// - Returns: The leaves that were removed, in the order asked.
    @discardableResult
    package mutating func purge(_ ids: [RevisionID]) -> [RevisionID] {
        let targets = ids.compactMap { id in index(of: id).flatMap { nodes[$0].isLeaf ? $0 : nil } }
        guard !targets.isEmpty else { return [] }
        var children = [Int32](repeating: 0, count: count)
        for index in nodes.indices {
            forEachParent(of: index) { children[$0] += 1 }
        }
        var removed = [Bool](repeating: false, count: count)
        var purged: [RevisionID] = []
        for target in targets where !removed[target] {
            purged.append(nodes[target].id)
            var childless = [target]
            while let index = childless.popLast() {
                removed[index] = true
                forEachParent(of: index) { parent in
                    children[parent] -= 1
                    if children[parent] == 0 { childless.append(parent) }
                }
            }
        }
        removeNodes { removed[$0] }
        return purged
    }

    /// Removes the nodes whose indices `isRemoved` accepts. What remains must be leaves and their ancestors
    /// still, so that no inner node turns into a leaf. Returns how many were removed.
    @discardableResult
    private mutating func removeNodes(_ isRemoved: (Int) -> Bool) -> Int {
        var positions = [Int32](repeating: Node.none, count: count)
        var links: [Link] = []
        var parents: [Int32] = []
        var kept = 0
        for index in nodes.indices where !isRemoved(index) {
            positions[index] = Int32(kept)
            nodes[kept] = nodes[index]
            parents.removeAll(keepingCapacity: true)
            forEachParent(of: index) { if positions[$0] != Node.none { parents.append(positions[$0]) } }
            nodes[kept].parent = parents.first ?? Node.none
            links += parents.dropFirst().reversed().map { Link(child: Int32(kept), parent: $0) }
            kept += 1
        }
        furtherParents = links
        let removed = count - kept
        nodes.removeLast(removed)
        return removed
    }
}
