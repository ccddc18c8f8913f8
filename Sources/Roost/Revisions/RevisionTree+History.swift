extension RevisionTree {
    /// `id` and its ancestors, newest first, as far back as they are known but no more than `limit` of them.
    /// Empty when `id` is not in the tree. O(log n + length).
    package func history(of id: RevisionID, limit: Int = .max) -> [RevisionID] {
        var history: [RevisionID] = []
        var next = index(of: id)
        while let index = next, history.count < limit {
            history.append(nodes[index].id)
            next = parentIndex(of: index)
        }
        return history
    }

    /// Whether `id` came about by one or more edits of `ancestor`, as far as this tree knows; `false` when
    /// either is not in it. O(log n + distance).
    package func isAncestor(_ ancestor: RevisionID, of id: RevisionID) -> Bool {
        guard ancestor < id, let target = index(of: ancestor) else { return false }
        var next = index(of: id).flatMap(parentIndex)
        while let index = next, index > target { next = parentIndex(of: index) }
        return next == target
    }

    /// The newest revision from which both came (which is one of them where it is an ancestor of the
    /// other): the base of a three-way merge. `nil` when none is known. O(log n + distance).
    package func commonAncestor(of first: RevisionID, and second: RevisionID) -> RevisionID? {
        guard var left = index(of: first), var right = index(of: second) else { return nil }
        while left != right {
            // A parent stands before its child, so the later of the two cannot be an ancestor of the other.
            if left > right { swap(&left, &right) }
            guard let parent = parentIndex(of: right) else { return nil }
            right = parent
        }
        return nodes[left].id
    }

    /// Which of the revisions that a peer offers are missing here, and what of ours it could build on.
    ///
    /// A revision that is known only as an ancestor is not missing. O(n + k log n) for k offered revisions.
    package func difference(from offered: [RevisionID]) -> RevisionDifference {
        var seen: Set<RevisionID> = []
        let missing = offered.filter { index(of: $0) == nil && seen.insert($0).inserted }
        let newest = missing.max()?.generation ?? 0
        let older = nodes.reversed().filter { $0.isLeaf && $0.id.generation < newest }
        return RevisionDifference(missing: missing, possibleAncestors: older.map(\.id))
    }
}

/// The answer to a peer that asks which of its revisions we lack (CouchDB's `_revs_diff`).
package struct RevisionDifference: Hashable, Sendable {
    /// The revisions asked about that are not in the tree, each once, in the order asked.
    package var missing: [RevisionID]

    /// Our leaves of a lower generation than some missing revision, highest first. The peer may send only
    /// what changed since one of them.
    package var possibleAncestors: [RevisionID]
}
