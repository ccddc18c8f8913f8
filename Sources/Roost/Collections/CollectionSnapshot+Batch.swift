import RoostBytes
import RoostStorage

// Many documents at once cost less than one after another: their IDs are looked up in their order, and each node of the
// collection's tree is visited once.

extension CollectionSnapshot {
    /// The documents of `ids`, in the order of `ids`, each in the revision that wins; `nil` where there is none or, unless
    /// asked for, where it is deleted.
    ///
    /// All of them are in memory at once. O(m log m + n) for m IDs and n nodes of the tree on the ways to them.
    ///
    /// - Throws: `damaged`, `inputOutput`.
    public func documents(
        ids: [String], includingDeleted: Bool = false
    ) throws(DatabaseError) -> [Document?] {
        let found = try reader.entries(of: ids) { (entry, place) throws(DatabaseError) in
            (revision: entry.winner, sequence: entry.sequence, flags: entry.flags, place: place)
        }
        var documents: [Document?] = []
        documents.reserveCapacity(ids.count)
        for (id, entry) in zip(ids, found) {
            guard let entry, includingDeleted || !entry.flags.contains(.deleted) else {
                documents.append(nil)
                continue
            }
            documents.append(
                Document(
                    id: id, revision: entry.revision, sequence: entry.sequence, flags: entry.flags,
                    body: try reader.body(at: entry.place)))
        }
        return documents
    }

    /// For each document which of the `offered` revisions are missing here, in the order of `offered`; see
    /// ``missingRevisions(of:from:)``.
    ///
    /// O(m log m + n) for m documents and n nodes of the tree on the ways to them.
    ///
    /// - Throws: `damaged`, `inputOutput`.
    public func missingRevisions(
        from offered: [(id: String, revisions: [RevisionID])]
    ) throws(DatabaseError) -> [MissingRevisions] {
        let found = try reader.entries(of: offered.map(\.id)) { (entry, place) throws(DatabaseError) in
            try LoadedDocument(reading: entry, body: place)
        }
        var answers: [MissingRevisions] = []
        for (document, loaded) in zip(offered, found) {
            var tree = loaded?.tree ?? RevisionTree()
            if let loaded, loaded.flags.contains(.elsewhere) {
                tree = try document.id.withUTF8View { (id) throws(DatabaseError) in
                    try reader.longTree(of: id)
                }
            }
            answers.append(MissingRevisions(tree.difference(from: document.revisions)))
        }
        return answers
    }
}

extension MissingRevisions {
    init(_ difference: RevisionDifference) {
        self.init(missing: difference.missing, possibleAncestors: difference.possibleAncestors)
    }
}

extension CollectionReader {
    /// Calls `body` with the entry of each of the documents that are there and the place of the winner's body; returns the
    /// answers in the order of `ids`.
    func entries<R>(
        of ids: [String], _ body: (StoredDocument, ValueReference) throws(DatabaseError) -> R
    ) throws(DatabaseError) -> [R?] {
        var answers = [R?](repeating: nil, count: ids.count)
        var failure: DatabaseError?
        try translating { () throws(StoreError) in
            try source[trees.documents].forEachEntry(of: ids.map { Key($0) }) { (index, inline, value) in
                do throws(DatabaseError) {
                    guard let value else { throw DatabaseError.damaged("The entry of a document") }
                    answers[index] = try body(try StoredDocument(inline), value)
                } catch {
                    failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
        return answers
    }
}
