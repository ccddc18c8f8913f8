import RoostBytes
import RoostStorage

/// What is stored of a document before a change to it, bodies aside.
struct LoadedDocument {
    var flags: StoredDocument.Flags
    var sequence: UInt64
    var expiration: UInt64?
    var winner: RevisionID
    /// Where the winner's body is.
    var body: ValueReference
    var tree: RevisionTree

    var isLive: Bool { !flags.contains(.deleted) }
}

extension CollectionReader {
    /// All that is stored of a document, bodies aside; `nil` when there is no such document.
    func load(_ id: ByteView) throws(DatabaseError) -> LoadedDocument? {
        let loaded = try withEntry(id) { (entry, place) throws(DatabaseError) in
            LoadedDocument(
                flags: entry.flags, sequence: entry.sequence, expiration: entry.expiration,
                winner: entry.winner,
                body: place, tree: try RevisionTree(in: entry))
        }
        guard var loaded, loaded.flags.contains(.elsewhere) else { return loaded }
        let bytes = try engine { () throws(StoreError) in
            try source[trees.extras, Key(ExtrasKey.revisions(of: id))]
        }
        guard let bytes else { throw DatabaseError.damaged("The list of a document's revisions") }
        loaded.tree = try RevisionTree(bytes.span)
        return loaded
    }
}

extension RevisionTree {
    /// The tree in a document's entry; without revisions where it is elsewhere.
    fileprivate init(in entry: StoredDocument) throws(DatabaseError) {
        if entry.flags.contains(.single) {
            var flags: RevisionFlags = []
            if entry.flags.contains(.deleted) { flags.insert(.deleted) }
            if entry.flags.contains(.hasAttachments) { flags.insert(.hasAttachments) }
            self.init(only: entry.winner, flags: flags, sequence: entry.sequence)
        } else if entry.flags.contains(.elsewhere) {
            self.init()
        } else {
            let bytes = unsafe entry.tree.buffer.assumingMemoryBound(to: UInt8.self)
            try unsafe self.init(bytes.span)
        }
    }

    /// The tree of a document with one revision.
    init(only id: RevisionID, flags: RevisionFlags, sequence: UInt64) {
        nodes = [Node(id: id, flags: flags, isLeaf: true, parent: Node.none, sequence: sequence)]
    }
}
