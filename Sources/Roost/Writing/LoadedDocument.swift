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

extension LoadedDocument {
    /// What the entry of a document says. A revision tree that is elsewhere is still to be read.
    init(reading entry: StoredDocument, body: ValueReference) throws(DatabaseError) {
        self.init(
            flags: entry.flags, sequence: entry.sequence, expiration: entry.expiration, winner: entry.winner,
            body: body, tree: try RevisionTree(in: entry))
    }
}

extension CollectionReader {
    /// All that is stored of a document, bodies aside; `nil` when there is no such document.
    func load(_ id: ByteView) throws(DatabaseError) -> LoadedDocument? {
        let loaded = try withEntry(id) { (entry, place) throws(DatabaseError) in
            try LoadedDocument(reading: entry, body: place)
        }
        guard var loaded, loaded.flags.contains(.elsewhere) else { return loaded }
        loaded.tree = try longTree(of: id)
        return loaded
    }

    /// A revision tree that is not in the document's entry.
    func longTree(of id: ByteView) throws(DatabaseError) -> RevisionTree {
        let bytes = try translating { () throws(StoreError) in
            try source[trees.extras, Key(ExtrasKey.revisions(of: id))]
        }
        guard let bytes else { throw DatabaseError.damaged("The list of a document's revisions") }
        return try RevisionTree(bytes.span)
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
