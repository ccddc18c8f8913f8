extension RevisionTree {
    /// The revision that stands for the document: the first of ``leaves``, `nil` for an empty tree.
    ///
    /// The document is deleted when its winner is. O(1) while the highest revision is live, O(n) at worst.
    package var winner: Revision? {
        var highestTombstone: Int?
        for index in nodes.indices.reversed() where nodes[index].isLeaf {
            guard nodes[index].flags.contains(.deleted) else { return self[index] }
            if highestTombstone == nil { highestTombstone = index }
        }
        return highestTombstone.map { self[$0] }
    }

    /// The revisions that nothing is based on, in the order in which they would win: live before deleted,
    /// then higher generation first, then higher digest first. O(n).
    package var leaves: [Revision] {
        let descending = reversed().filter(\.isLeaf)
        return descending.filter { !$0.isDeleted } + descending.filter(\.isDeleted)
    }

    /// The leaves that `ancestor` is or led to, in winning order. Empty when it is not in the tree. O(n).
    package func leaves(descendingFrom ancestor: RevisionID) -> [Revision] {
        guard let start = index(of: ancestor) else { return [] }
        var descends = [Bool](repeating: false, count: count)
        descends[start] = true
        for index in nodes.indices[(start + 1)...] {
            forEachParent(of: index) { if descends[$0] { descends[index] = true } }
        }
        return leaves.filter { leaf in index(of: leaf.id).map { descends[$0] } ?? false }
    }

    /// The live leaves besides the winner, in winning order: edits that nobody has reconciled. O(n).
    package var conflicts: [Revision] {
        Array(leaves.dropFirst().prefix { !$0.isDeleted })
    }

    /// The deleted leaves besides the winner, in winning order: branches that were closed. O(n).
    package var deletedConflicts: [Revision] {
        leaves.dropFirst().filter(\.isDeleted)
    }

    /// Whether there is more than one live leaf. O(n).
    package var isConflicted: Bool {
        var live = 0
        for node in nodes.reversed() where node.isLeaf && !node.flags.contains(.deleted) {
            live += 1
            if live > 1 { return true }
        }
        return false
    }
}
