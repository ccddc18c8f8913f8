import RoostBytes
import RoostStorage

extension CollectionWriter {
    /// Stores a document with the revisions `tree`, which has at least one.
    ///
    /// The body of the winner belongs to the document's entry, those of the other leaves to entries of their own; a
    /// body changes hands when its revision wins or stops winning, and goes when its revision is a leaf no more, unless
    /// earlier bodies are kept.
    ///
    /// - Parameter touched: All revisions that can have ceased to be leaves.
    func store(
        _ tree: RevisionTree, newLeaf: (id: RevisionID, body: ValueReference)?, of id: ByteView,
        _ loaded: LoadedDocument?, touched: some Sequence<RevisionID>, sequence: UInt64
    ) throws(DatabaseError) -> LoadedDocument {
        guard let winner = tree.winner else { preconditionFailure("a document has at least one revision") }
        beginChange()
        let body = try takeBody(of: winner.id, newLeaf, of: id, loaded)
        if let loaded { try releaseBodies(loaded, touched, in: tree, winner: winner.id, of: id) }
        if let newLeaf, newLeaf.id != winner.id {
            try put(body: newLeaf.body, under: ExtrasKey.body(of: newLeaf.id, id))
        }
        var flags = loaded?.flags.subtracting(.shownInChanges) ?? []
        if winner.isDeleted { flags.insert(.deleted) }
        if winner.flags.contains(.hasAttachments) { flags.insert(.hasAttachments) }
        if tree.isConflicted { flags.insert(.conflicted) }
        if tree.hasSeveralLeaves { flags.insert(.severalLeaves) }
        let document = LoadedDocument(
            flags: flags, sequence: sequence, expiration: loaded?.expiration, winner: winner.id, body: body,
            tree: tree)
        try put(id, document, replacing: loaded?.sequence)
        count(loaded, document)
        endChange()
        return document
    }

    /// The body of the revision that is to win, taken from where it is.
    private func takeBody(
        of winner: RevisionID, _ newLeaf: (id: RevisionID, body: ValueReference)?, of id: ByteView,
        _ loaded: LoadedDocument?
    ) throws(DatabaseError) -> ValueReference {
        if let newLeaf, newLeaf.id == winner { return newLeaf.body }
        if let loaded, loaded.winner == winner { return loaded.body }
        guard let loaded else { throw DatabaseError.damaged("The list of a document's bodies") }
        let body = try reader.place(of: winner, id, loaded)
        try removeExtra(ExtrasKey.body(of: winner, id))
        return body
    }

    /// Puts the body of the former winner aside if it is a leaf still, and keeps or drops those of leaves that were edited.
    private func releaseBodies(
        _ loaded: LoadedDocument, _ touched: some Sequence<RevisionID>, in tree: RevisionTree,
        winner: RevisionID, of id: ByteView
    ) throws(DatabaseError) {
        if loaded.winner != winner, let former = tree[loaded.winner] {
            if former.isLeaf {
                try put(body: loaded.body, under: ExtrasKey.body(of: loaded.winner, id))
            } else {
                try keep(loaded.body, of: loaded.winner, id, loaded.tree)
            }
        }
        guard loaded.flags.contains(.severalLeaves) else { return }
        for leaf in touched where leaf != loaded.winner && leaf != winner {
            guard loaded.tree[leaf]?.isLeaf == true, tree[leaf]?.isLeaf != true else { continue }
            let body = keptRevisions > 0 && tree[leaf] != nil ? try reader.place(of: leaf, id, loaded) : nil
            try removeExtra(ExtrasKey.body(of: leaf, id))
            if let body { try keep(body, of: leaf, id, loaded.tree) }
        }
    }

    /// Keeps the body of a revision that has been edited, if the options say so, and forgets the ancestors' bodies that are
    /// too many by now.
    ///
    /// - Parameter tree: The revisions before the edit.
    private func keep(
        _ body: ValueReference, of revision: RevisionID, _ id: ByteView, _ tree: RevisionTree
    ) throws(DatabaseError) {
        let most = min(keptRevisions, record.revisionLimit - 1)
        if most > 0 { try put(body: body, under: ExtrasKey.earlierBody(of: revision, id)) }
        // Ancestors that are known by name only never had a body here.
        for ancestor in tree.history(of: revision).dropFirst(max(most, 1)) where tree[ancestor]?.sequence != 0
        {
            let key = ExtrasKey.earlierBody(of: ancestor, id)
            guard
                try translating({ () throws(StoreError) in try transaction[trees.extras].contains(Key(key)) })
            else { return }
            try removeExtra(key)
        }
    }

    /// Keeps the number of live documents.
    func count(_ old: LoadedDocument?, _ new: LoadedDocument?) {
        let before = old?.isLive ?? false
        let after = new?.isLive ?? false
        // The number comes from the file, which may be damaged.
        if before && !after { record.liveCount = max(record.liveCount, 1) - 1 }
        if after && !before { record.liveCount &+= 1 }
    }
}

extension RevisionTree {
    /// Whether there is more than one leaf. O(n).
    var hasSeveralLeaves: Bool {
        var found = false
        for node in nodes.reversed() where node.isLeaf {
            if found { return true }
            found = true
        }
        return false
    }
}
