import RoostBytes
import RoostStorage

/// The revisions of one document at a snapshot, decoded once, for callers that ask for many of them. Bodies are read when they are
/// asked for.
package struct DocumentRevisions {
    private let id: String
    private let reader: CollectionReader<Snapshot>
    private let loaded: LoadedDocument

    fileprivate init(_ id: String, _ reader: CollectionReader<Snapshot>, _ loaded: LoadedDocument) {
        self.id = id
        self.reader = reader
        self.loaded = loaded
    }

    /// The number of revisions.
    package var count: Int { loaded.tree.count }

    /// The leaves, the winner first. O(n).
    package var leaves: [RevisionID] { loaded.tree.leaves.map(\.id) }

    /// The leaves that came about by edits of `revision`, itself while it is one; empty when the revision is not known. O(1) for a
    /// leaf, O(n) for others.
    package func leaves(descendingFrom revision: RevisionID) -> [RevisionID] {
        guard let known = loaded.tree[revision] else { return [] }
        return known.isLeaf ? [revision] : loaded.tree.leaves(descendingFrom: revision).map(\.id)
    }

    /// The revision and its ancestors, newest first; empty when the revision is not known.
    package func history(of revision: RevisionID) -> [RevisionID] { loaded.tree.history(of: revision) }

    /// Whether there is a body of a revision; see ``CollectionSnapshot/document(_:revision:)``.
    package func hasBody(_ revision: RevisionID) throws(DatabaseError) -> Bool {
        guard let known = loaded.tree[revision] else { return false }
        guard !known.isLeaf else { return true }
        return try id.withUTF8View { (key) throws(DatabaseError) in
            try reader.earlierPlace(key, revision) != nil
        }
    }

    /// The document at a revision; see ``CollectionSnapshot/document(_:revision:)``.
    package func document(_ revision: RevisionID) throws(DatabaseError) -> Document? {
        guard let known = loaded.tree[revision] else { return nil }
        return try id.withUTF8View { (key) throws(DatabaseError) in
            guard !known.isLeaf else { return try reader.document(id, key, loaded, known) }
            return try reader.earlierDocument(id, key, known)
        }
    }
}

extension CollectionSnapshot {
    /// The revisions of a document; `nil` when there is no such document.
    package func documentRevisions(_ id: String) throws(DatabaseError) -> DocumentRevisions? {
        try id.withUTF8View { (key) throws(DatabaseError) in
            try reader.load(key).map { DocumentRevisions(id, reader, $0) }
        }
    }
}
