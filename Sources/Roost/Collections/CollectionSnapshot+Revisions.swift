import RoostBytes
import RoostStorage

/// One revision that is known of a document; see ``CollectionSnapshot/revisions(of:)``.
public struct RevisionInfo: Sendable, Hashable {
    /// The revision.
    public let id: RevisionID
    /// The revision that it is an edit of; `nil` for a first one, and where that is not known any more.
    public let parent: RevisionID?
    /// Whether it is a tombstone. Not known of revisions that came as the ancestors of others only.
    public let isDeleted: Bool
    /// Whether nothing is an edit of it. All leaves have a body, of others those of ``CollectionSnapshot/earlierRevisions(of:)``.
    public let isLeaf: Bool
    /// Whether it has attachments. Not known of revisions that came as the ancestors of others only.
    public let hasAttachments: Bool
    /// Whether it is in conflict with the winner: a live leaf besides it.
    public let isConflict: Bool
    /// The collection's sequence when it was stored here; 0 when it came as the ancestor of another only.
    public let sequence: UInt64

    init(_ revision: Revision, in tree: RevisionTree, winner: RevisionID?) {
        id = revision.id
        parent = tree.parent(of: revision.id)
        isDeleted = revision.isDeleted
        isLeaf = revision.isLeaf
        hasAttachments = revision.flags.contains(.hasAttachments)
        isConflict = revision.isLeaf && !revision.isDeleted && revision.id != winner
        sequence = revision.sequence
    }
}

/// Which of the revisions that a peer offers are missing here (CouchDB's `_revs_diff`).
public struct MissingRevisions: Sendable, Hashable {
    /// The revisions asked about that are not known, each once, in the order asked.
    public let missing: [RevisionID]
    /// Leaves that the missing ones may be edits of, highest first.
    public let possibleAncestors: [RevisionID]
}

extension CollectionSnapshot {
    /// A certain revision of a document; `nil` when it is not known, or known but edited since: bodies of revisions that
    /// are not leaves are only kept where ``DatabaseOptions/keptRevisions`` says so.
    public func document(_ id: String, revision: RevisionID) throws(DatabaseError) -> Document? {
        try id.withUTF8View { (key) throws(DatabaseError) in
            guard let loaded = try reader.load(key), let known = loaded.tree[revision] else { return nil }
            guard !known.isLeaf else { return try reader.document(id, key, loaded, known) }
            return try reader.earlierDocument(id, key, known)
        }
    }

    /// The revisions of a document that are no leaves, and whose bodies are kept (``DatabaseOptions/keptRevisions``).
    public func earlierRevisions(of id: String) throws(DatabaseError) -> Set<RevisionID> {
        try id.withUTF8View { (key) throws(DatabaseError) in
            let prefix = ExtrasKey.earlierBodies(of: key)
            let cursor = try reader.extras.cursor(KeyRange(prefix: Key(prefix)))
            var found: Set<RevisionID> = []
            while try translating({ () throws(StoreError) in try cursor.next() }) {
                found.insert(try RevisionID(cursor.keyView.dropFirst(prefix.count)))
            }
            guard !found.isEmpty else { return [] }
            let tree = try revisionTree(of: id)
            return found.filter { tree[$0]?.isLeaf == false }
        }
    }

    /// The document at each of its leaves, in winning order: live before deleted, then the higher revision first.
    /// Empty when there is no such document.
    public func openRevisions(of id: String) throws(DatabaseError) -> [Document] {
        try leaves(of: id) { $0.leaves }
    }

    /// As ``openRevisions(of:)``, of the leaves that `includes` lets in. No others are read.
    package func openRevisions(
        of id: String, where includes: (RevisionID) -> Bool
    ) throws(DatabaseError) -> [Document] {
        try leaves(of: id) { $0.leaves.filter { includes($0.id) } }
    }

    /// The leaves that `includes` lets in, and all their ancestors that are known. O(n log n) in the number of revisions.
    package func ancestry(
        of id: String, leaves includes: (RevisionID) -> Bool
    ) throws(DatabaseError) -> Set<RevisionID> {
        let tree = try revisionTree(of: id)
        var found: Set<RevisionID> = []
        for leaf in tree.leaves where includes(leaf.id) {
            var next: RevisionID? = leaf.id
            while let revision = next, found.insert(revision).inserted { next = tree.parent(of: revision) }
        }
        return found
    }

    /// The live leaves besides the winner: edits that nobody has reconciled with it yet.
    public func conflicts(of id: String) throws(DatabaseError) -> [Document] {
        try leaves(of: id) { $0.conflicts }
    }

    private func leaves(
        of id: String, _ choose: (RevisionTree) -> [Revision]
    ) throws(DatabaseError) -> [Document] {
        try id.withUTF8View { (key) throws(DatabaseError) in
            guard let loaded = try reader.load(key) else { return [] }
            var documents: [Document] = []
            for leaf in choose(loaded.tree) { documents.append(try reader.document(id, key, loaded, leaf)) }
            return documents
        }
    }

    /// A revision and its ancestors, newest first, as far back as they are known; the winner's by default. Empty when
    /// the revision is not known.
    public func history(of id: String, revision: RevisionID? = nil) throws(DatabaseError) -> [RevisionID] {
        let tree = try revisionTree(of: id)
        guard let revision = revision ?? tree.winner?.id else { return [] }
        return tree.history(of: revision)
    }

    /// All that is known of a document's revisions, highest first.
    public func revisions(of id: String) throws(DatabaseError) -> [RevisionInfo] {
        let tree = try revisionTree(of: id)
        let winner = tree.winner?.id
        return tree.reversed().map { RevisionInfo($0, in: tree, winner: winner) }
    }

    /// The document's leaves without their bodies, in winning order: live before deleted, then the higher revision first.
    /// Empty when there is no such document. O(n) in the number of revisions.
    public func leaves(of id: String) throws(DatabaseError) -> [RevisionInfo] {
        let tree = try revisionTree(of: id)
        let winner = tree.winner?.id
        return tree.leaves.map { RevisionInfo($0, in: tree, winner: winner) }
    }

    /// The leaves that came about by edits of `revision`, itself among them while it is one, in winning order, without their
    /// bodies (`latest=true` in CouchDB's terms). Empty when the revision is not known. O(n) in the number of revisions.
    public func leaves(
        of id: String, descendingFrom revision: RevisionID
    ) throws(DatabaseError) -> [RevisionInfo] {
        let tree = try revisionTree(of: id)
        let winner = tree.winner?.id
        return tree.leaves(descendingFrom: revision).map { RevisionInfo($0, in: tree, winner: winner) }
    }

    /// Which of the `offered` revisions of a document are missing here, and what of ours they could be edits of.
    public func missingRevisions(of id: String, from offered: [RevisionID]) throws(DatabaseError)
        -> MissingRevisions
    {
        MissingRevisions(try revisionTree(of: id).difference(from: offered))
    }

    func revisionTree(of id: String) throws(DatabaseError) -> RevisionTree {
        try id.withUTF8View { (key) throws(DatabaseError) in try reader.load(key)?.tree ?? RevisionTree() }
    }
}

extension CollectionReader {
    /// The document at one of its leaves.
    func document(
        _ id: String, _ key: ByteView, _ loaded: LoadedDocument, _ leaf: Revision
    ) throws(DatabaseError) -> Document {
        var flags = loaded.flags.intersection([.conflicted, .severalLeaves])
        if leaf.isDeleted { flags.insert(.deleted) }
        return Document(
            id: id, revision: leaf.id, sequence: loaded.sequence, flags: flags,
            body: try body(at: try place(of: leaf.id, key, loaded)))
    }

    /// The document at a revision that is no leaf; `nil` when its body is not kept.
    func earlierDocument(
        _ id: String, _ key: ByteView, _ revision: Revision
    ) throws(DatabaseError) -> Document? {
        guard let place = try earlierPlace(key, revision.id) else { return nil }
        return Document(
            id: id, revision: revision.id, sequence: revision.sequence,
            flags: revision.isDeleted ? .deleted : [], body: try body(at: place))
    }

    /// Where the body of a revision is that is no leaf; `nil` when it is not kept.
    func earlierPlace(_ key: ByteView, _ revision: RevisionID) throws(DatabaseError) -> ValueReference? {
        let place = try translating { () throws(StoreError) in
            try ExtrasKey.earlierBody(of: revision, key).withView { (key) throws(StoreError) in
                try source.withEntry(key, in: trees.extras) { $1 }
            }
        }
        return place ?? nil
    }

    /// Where the body of a leaf is.
    func place(
        of leaf: RevisionID, _ key: ByteView, _ loaded: LoadedDocument
    ) throws(DatabaseError) -> ValueReference {
        if leaf == loaded.winner { return loaded.body }
        let place = try translating { () throws(StoreError) in
            try ExtrasKey.body(of: leaf, key).withView { (key) throws(StoreError) in
                try source.withEntry(key, in: trees.extras) { $1 }
            }
        }
        guard let place = place ?? nil else { throw DatabaseError.damaged("The list of a document's bodies") }
        return place
    }
}
