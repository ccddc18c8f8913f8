// MARK: Editing

extension RevisionTree {
    /// The revision that an edit becomes a child of: compare-and-swap on the revision the author was
    /// looking at.
    ///
    /// - A leaf that is named is edited, be it live, a conflict or a tombstone.
    /// - With no revision named, the document must be new (answers `nil`: the edit is its first revision) or
    ///   deleted (answers the winning tombstone: the edit creates the document again).
    ///
    /// O(n) at worst, O(log n) for a leaf.
    /// - Throws: `conflict` when the document has been edited since `base`, exists although no base is
    ///   named, or does not know `base`.
    package func parentForEdit(of base: RevisionID?) throws(DatabaseError) -> RevisionID? {
        let winner = self.winner
        if let base {
            guard let index = index(of: base) else {
                throw Self.conflict("Revision \(base) is not known here", winner)
            }
            guard nodes[index].isLeaf else {
                throw Self.conflict("Revision \(base) has been replaced by a later one", winner)
            }
            return base
        }
        guard let winner, !winner.isDeleted else { return winner?.id }
        throw Self.conflict("The document exists already, and the change names no revision", winner)
    }

    /// Adds the edit `id` of the leaf `parent`, or the first revision of a document where `parent` is `nil`.
    ///
    /// To make the same edit twice is to make it once. The tree is not changed by a call that throws. O(1)
    /// when `id` is higher than any revision in the tree (amortised; plus O(log n) to look), O(n)
    /// otherwise.
    /// - Throws: `conflict` when `parent` is not a leaf, `corruptRevisionData` when `id` is not of the
    ///   generation after `parent`'s, `limitExceeded` beyond ``maximumCount``.
    @discardableResult
    package mutating func edit(
        _ parent: RevisionID?, as id: RevisionID, flags: RevisionFlags = [], sequence: UInt64
    ) throws(DatabaseError) -> RevisionInsertion {
        guard id.generation == (parent?.generation ?? 0) + 1 else {
            throw DatabaseError(
                .corruptRevisionData,
                "Revision \(id) cannot be an edit of \(parent?.description ?? "nothing"): the generation "
                    + "before the hyphen must go up by one. Name the parent that the revision was made from.")
        }
        if isEmpty, parent == nil {
            self = Self(only: id, flags: flags, sequence: sequence)
            return .extendedLeaf
        }
        if self[id] == nil || self.parent(of: id) != parent {
            guard try parentForEdit(of: parent) == parent else {
                throw Self.conflict("The document was deleted, and the change names no revision", winner)
            }
        }
        return try insert(
            history: parent.map { [id, $0] } ?? [id], flags: flags, sequence: sequence)
    }

    private static func conflict(_ what: String, _ winner: Revision?) -> DatabaseError {
        let now =
            winner.map { "It is now at \($0.id)\($0.isDeleted ? ", deleted" : "")." } ?? "It has no revision."
        return DatabaseError(.conflict, "\(what). \(now) Read the document again and repeat the change.")
    }
}

// MARK: Merging

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

// MARK: Pruning

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
