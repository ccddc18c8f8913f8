import RoostBytes
import RoostStorage

extension CollectionWriter {
    /// Adds a revision that was made elsewhere, with its history, newest first; `false` when it was known already.
    ///
    /// A known revision may still come with ancestors that were not known to be its own, and then join branches.
    func insert(
        _ id: DocumentID, _ body: DocumentBody, _ attachments: NamedValues<PreparedAttachment>?,
        isDeleted: Bool,
        history: [RevisionID]
    ) throws(DatabaseError) -> Bool {
        let key = keyView(id)
        let loaded = try load(key)
        var tree = loaded?.tree ?? RevisionTree()
        if let loaded, let revision = history.first, loaded.tree[revision] != nil {
            // What kind of revision it is was settled when it came; only its history may tell something new.
            try tree.insert(history: history, sequence: 0)
            tree.stem(to: record.revisionLimit)
            if !tree.hasSameLinks(as: loaded.tree) {
                _ = try store(
                    tree, newLeaf: nil, of: key, loaded, touched: history, sequence: nextSequence())
            }
            return false
        }
        let body = try complete(
            body, attachments, history: history.dropFirst(), isDeleted: isDeleted, isEdit: false,
            generation: history.first?.generation ?? 1, key, loaded)
        let flags = RevisionFlags(of: body, isDeleted: isDeleted)
        let insertion = try tree.insert(history: history, flags: flags, sequence: record.lastSequence + 1)
        if insertion == .newBranch { try checkLeaves(of: tree, id) }
        tree.stem(to: record.revisionLimit)
        let place = try append(body)
        _ = try store(
            tree, newLeaf: (history[0], place), of: key, loaded, touched: history, sequence: nextSequence())
        return true
    }

    /// Refuses a document with too many leaves. O(1) up to as many revisions, then O(n).
    private func checkLeaves(of tree: RevisionTree, _ id: DocumentID) throws(DatabaseError) {
        guard tree.count <= RevisionTree.maximumBranchedCount else {
            throw DatabaseError(
                .limitExceeded,
                "The document \(DatabaseError.quoted(id.string)) has \(tree.count) revisions, which is too many for another "
                    + "conflict. Resolve its conflicts, and purge the leaves that are deleted.")
        }
        let most = RevisionTree.maximumLeafCount
        guard tree.count > most, tree.lazy.filter(\.isLeaf).count > most else { return }
        throw DatabaseError(
            .limitExceeded,
            "The document \(DatabaseError.quoted(id.string)) has \(most) revisions that nothing is based on, in conflict or "
                + "deleted, and takes no more. Resolve its conflicts, and purge the leaves that are deleted.")
    }

    /// Removes leaves with what only they descend from, or the whole document where `revisions` is `nil`.
    ///
    /// - Returns: Those leaves that were there and are gone.
    func purge(
        _ id: ByteView, _ loaded: LoadedDocument, _ revisions: [RevisionID]?
    ) throws(DatabaseError) -> [RevisionID] {
        try flush()
        var tree = loaded.tree
        let purged = tree.purge(revisions ?? tree.leaves.map(\.id))
        guard !purged.isEmpty else { return [] }
        try removeEarlierBodies(of: id)
        if tree.isEmpty {
            try remove(id, loaded)
        } else {
            _ = try store(tree, newLeaf: nil, of: id, loaded, touched: purged, sequence: nextSequence())
        }
        try logPurge(of: id, purged)
        return purged
    }

    /// Forgets what a document has of revisions beyond the limit. That is no change of it.
    func shortenHistory(of id: ByteView) throws(DatabaseError) {
        try flush()
        guard var loaded = try reader.load(id), loaded.tree.stem(to: record.revisionLimit) > 0 else { return }
        try removeEarlierBodies(of: id)
        beginChange()
        try putEntry(id, loaded)
        endChange()
    }

    /// Removes the bodies of a document's earlier revisions.
    private func removeEarlierBodies(of id: ByteView) throws(DatabaseError) {
        let range = KeyRange(prefix: Key(ExtrasKey.earlierBodies(of: id)))
        try translating { () throws(StoreError) in
            if keptRevisions == 0 {
                if hasEarlierBodies == nil {
                    let count = try transaction[trees.extras].count(in: ExtrasKey.allEarlierBodies)
                    hasEarlierBodies = count > 0
                }
                guard hasEarlierBodies == true else { return }
            }
            guard try transaction[trees.extras].count(in: range) > 0 else { return }
            try transaction.delete(range, in: trees.extras)
        }
    }

    /// Removes the bodies of the earlier revisions of all documents.
    func removeEarlierBodies() throws(DatabaseError) {
        try translating { () throws(StoreError) in
            try transaction.delete(ExtrasKey.allEarlierBodies, in: trees.extras)
        }
    }

    /// Remembers a purge, and forgets the one that is too old by now.
    private func logPurge(of id: ByteView, _ leaves: [RevisionID]) throws(DatabaseError) {
        beginChange()
        record.lastPurge += 1
        try put(StoredPurge.encode(id, leaves), under: ExtrasKey.purge(record.lastPurge))
        if record.lastPurge > StoredPurge.limit {
            try removeExtra(ExtrasKey.purge(record.lastPurge - StoredPurge.limit))
        }
        endChange()
    }

    /// Removes every trace of a document. Its sequence is not given again: the record keeps the last one.
    private func remove(_ id: ByteView, _ loaded: LoadedDocument) throws(DatabaseError) {
        beginChange()
        try translating { () throws(StoreError) in
            try transaction.delete(id, in: trees.documents)
            try Sequences.withKey(loaded.sequence) { (sequence) throws(StoreError) in
                try transaction.deleteKnown(sequence, in: trees.changes)
            }
        }
        if !loaded.flags.isDisjoint(with: [.elsewhere, .severalLeaves]) {
            try translating { () throws(StoreError) in
                try transaction.delete(KeyRange(prefix: Key(ExtrasKey.revisions(of: id))), in: trees.extras)
            }
        }
        if let expiration = loaded.expiration { try removeExtra(ExtrasKey.expiration(expiration, id)) }
        count(loaded, nil)
        endChange()
    }

    /// Sets when a document is to be purged, in microseconds since 1970; `nil` for never. Not an edit.
    ///
    /// - Returns: Whether there is such a document.
    func setExpiration(_ id: ByteView, _ time: UInt64?) throws(DatabaseError) -> Bool {
        try flush()
        guard var loaded = try reader.load(id) else { return false }
        guard loaded.expiration != time else { return true }
        beginChange()
        if let old = loaded.expiration { try removeExtra(ExtrasKey.expiration(old, id)) }
        if let time { try put([], under: ExtrasKey.expiration(time, id)) }
        loaded.expiration = time
        try putEntry(id, loaded)
        endChange()
        return true
    }
}

// MARK: - Revisions

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
