extension RevisionTree {
    /// `id` and its ancestors, newest first, through the highest parent where there are several, as far back as they are known but no more than `limit` of them.
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
    /// either is not in it. O(n).
    package func isAncestor(_ ancestor: RevisionID, of id: RevisionID) -> Bool {
        guard ancestor < id, let target = index(of: ancestor), let start = index(of: id) else { return false }
        return ancestry(of: start)[target]
    }

    /// The newest revision from which both came (which is one of them where it is an ancestor of the
    /// other): the base of a three-way merge. `nil` when none is known. O(n).
    package func commonAncestor(of first: RevisionID, and second: RevisionID) -> RevisionID? {
        guard let left = index(of: first), let right = index(of: second) else { return nil }
        let (ofLeft, ofRight) = (ancestry(of: left), ancestry(of: right))
        // A parent stands before its child, so the last that both have is the newest.
        return (0...Swift.min(left, right)).last { ofLeft[$0] && ofRight[$0] }.map { nodes[$0].id }
    }

    /// Which of the nodes up to `index` are that one or its ancestors.
    private func ancestry(of index: Int) -> [Bool] {
        var marked = [Bool](repeating: false, count: index + 1)
        marked[index] = true
        for node in marked.indices.reversed() where marked[node] {
            forEachParent(of: node) { marked[$0] = true }
        }
        return marked
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
