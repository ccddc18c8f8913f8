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
