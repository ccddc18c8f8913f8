extension RevisionTree {
    /// Adds a revision that was made elsewhere, with its history (`new_edits=false` in CouchDB's terms).
    ///
    /// `history` holds the revision's ID, then its parent's, and so on, as far back as the sender knows.
    /// Ancestors not known here are added by name only. What is known already is kept; an unknown
    /// sequence or parent is filled in, and another parent than the one known is kept beside it. Neither order nor repetition of such calls changes the outcome. The
    /// tree is not changed by a call that throws.
    ///
    /// O(length + log n) when all that is new is higher than any revision in the tree (amortised), else O(n).
    /// - Parameters:
    ///   - flags: The flags of the revision itself; those of its ancestors are not known from a history.
    ///   - sequence: The sequence under which the revision is stored here.
    /// - Throws: `corruptRevisionData` when `history` is empty or its generations do not go down one by one;
    ///   `limitExceeded` beyond ``maximumCount``.
    @discardableResult
    package mutating func insert(
        history: [RevisionID], flags: RevisionFlags = [], sequence: UInt64
    ) throws(DatabaseError) -> RevisionInsertion {
        var branch = try Self(branch: history)
        branch.nodes[branch.count - 1].flags = flags
        branch.nodes[branch.count - 1].sequence = sequence

        var firstKnown = 0
        while firstKnown < history.count, index(of: history[firstKnown]) == nil { firstKnown += 1 }
        let outcome = outcome(ofJoiningAt: firstKnown, in: history)
        if !append(branch, newCount: firstKnown) { try merge(branch) }
        return outcome
    }

    /// Adds all that `other` knows: the union of revisions and parent links.
    ///
    /// Where both know a revision, its flags are united, and this tree's sequence is kept unless
    /// it has none. The tree is not changed by a call that throws. O(n + m).
    /// - Throws: `limitExceeded` beyond ``maximumCount``.
    package mutating func merge(_ other: Self) throws(DatabaseError) {
        var union = RevisionUnion(of: self, and: other)
        var left = 0
        var right = 0
        while left < count || right < other.count {
            if right == other.count || left < count && nodes[left].id < other.nodes[right].id {
                union.appendLeft()
                left += 1
            } else if left == count || other.nodes[right].id < nodes[left].id {
                union.appendRight()
                right += 1
            } else {
                union.appendBoth()
                left += 1
                right += 1
            }
        }
        self = try union.finish()
    }

    /// The tree that is nothing but `history`, given newest first.
    private init(branch history: [RevisionID]) throws(DatabaseError) {
        guard let newest = history.first else {
            throw DatabaseError(
                .corruptRevisionData, "A revision came with an empty history. It must at least name itself.")
        }
        nodes = []
        nodes.reserveCapacity(history.count)
        for id in history.reversed() {
            let parent = nodes.last
            guard parent == nil || parent?.id.generation == id.generation - 1 else {
                throw DatabaseError(
                    .corruptRevisionData,
                    "The history of revision \(newest) does not go back one generation at a time: "
                        + "\(id) follows \(parent?.id.description ?? ""). Send the history without gaps.")
            }
            nodes.append(
                Node(id: id, flags: [], isLeaf: id == newest, parent: Int32(nodes.count) - 1, sequence: 0))
        }
    }

    private func outcome(ofJoiningAt firstKnown: Int, in history: [RevisionID]) -> RevisionInsertion {
        if firstKnown == 0 { return .known }
        if isEmpty { return .extendedLeaf }
        guard firstKnown < history.count, let joint = self[history[firstKnown]] else { return .newBranch }
        return joint.isLeaf ? .extendedLeaf : .newBranch
    }

    /// The common cases of ``merge(_:)`` in place: `branch` is one line, of which the `newCount` newest
    /// revisions are new and higher than all here, and the older ones are known here with the same links.
    /// Answers whether that was so; if not, nothing was done.
    private mutating func append(_ branch: Self, newCount: Int) -> Bool {
        let firstNew = branch.count - newCount
        var parent = Node.none
        if firstNew > 0 {
            guard let joint = index(of: branch.nodes[firstNew - 1].id),
                knowsLine(branch, through: firstNew - 1, at: joint)
            else { return false }
            parent = Int32(joint)
        }
        guard newCount > 0 else {
            nodes[Int(parent)].fill(from: branch.nodes[firstNew - 1])
            return true
        }
        guard count + newCount <= Self.maximumCount,
            nodes.last.map({ $0.id < branch.nodes[firstNew].id }) ?? true
        else { return false }
        if parent >= 0 { nodes[Int(parent)].isLeaf = false }
        for var node in branch.nodes[firstNew...] {
            node.parent = parent
            parent = Int32(nodes.count)
            nodes.append(node)
        }
        return true
    }

    /// Whether the revisions of `branch` up to index `last`, which is our `joint`, are linked here as they
    /// are there.
    private func knowsLine(_ branch: Self, through last: Int, at joint: Int) -> Bool {
        var here = joint
        for there in (0..<last).reversed() {
            guard let parent = parentIndex(of: here), nodes[parent].id == branch.nodes[there].id else {
                return false
            }
            here = parent
        }
        return true
    }
}

extension RevisionTree.Node {
    /// Takes over what `other`, the same revision as another tree has it, knows and this one does not.
    mutating func fill(from other: Self) {
        flags.formUnion(other.flags)
        if sequence == 0 { sequence = other.sequence }
    }
}
