import RoostBytes
import RoostStorage

/// Where trees are read: a snapshot, or a transaction with the changes made so far.
protocol TreeSource {
    subscript(tree: Tree) -> TreeView { get throws(StoreError) }
    subscript(tree: Tree, key: Key) -> [UInt8]? { get throws(StoreError) }
    /// Calls `body` with the inline bytes of the entry under `key` and the value that it leads to, if any.
    func withEntry<R>(
        _ key: ByteView, in tree: Tree, _ body: (ByteView, ValueReference?) -> R
    ) throws(StoreError) -> R?
    /// Calls `body` with a value that an entry of `tree` leads to, valid during the call.
    func withValue<R>(
        at reference: ValueReference, in tree: Tree, _ body: (ByteView) -> R
    ) throws(StoreError) -> R
}

extension StoreTransaction: TreeSource {}

extension Snapshot: TreeSource {
    func withEntry<R>(
        _ key: ByteView, in tree: Tree, _ body: (ByteView, ValueReference?) -> R
    ) throws(StoreError) -> R? {
        try self[tree].withEntry(key, body)
    }

    func withValue<R>(
        at reference: ValueReference, in tree: Tree, _ body: (ByteView) -> R
    ) throws(StoreError) -> R {
        try self[tree].withValue(at: reference, body)
    }
}

/// Reads the documents of one collection from its trees.
struct CollectionReader<Source: TreeSource> {
    let source: Source
    let trees: CollectionTrees

    var documents: TreeView {
        get throws(DatabaseError) { try translating { () throws(StoreError) in try source[trees.documents] } }
    }
    var changes: TreeView {
        get throws(DatabaseError) { try translating { () throws(StoreError) in try source[trees.changes] } }
    }
    var extras: TreeView {
        get throws(DatabaseError) { try translating { () throws(StoreError) in try source[trees.extras] } }
    }

    /// Calls `body` with the entry of a document, valid during the call, and the place of the winner's body; `nil` when
    /// there is no such document.
    func withEntry<R>(
        _ id: ByteView, _ body: (StoredDocument, ValueReference) throws(DatabaseError) -> R
    ) throws(DatabaseError) -> R? {
        try source.withDocument(id, in: trees.documents, body)
    }

    /// The body at `place`.
    func body(at place: ValueReference) throws(DatabaseError) -> DocumentBody {
        try source.body(at: place, in: trees.documents)
    }

    /// The document's winner; `nil` when there is none or, unless asked for, when it is a tombstone.
    func document(_ id: String, includingDeleted: Bool) throws(DatabaseError) -> Document? {
        try source.document(id, in: trees.documents, includingDeleted: includingDeleted)
    }

    /// The document's winner, also where that is a tombstone, unless its body takes more than `length` bytes in the file; `nil`
    /// when there is none.
    func document(_ id: String, upTo length: Int) throws(DatabaseError) -> SizedDocument? {
        try source.document(id, in: trees.documents, includingDeleted: true, upTo: length)
    }
}

/// Documents in a tree of them. The tree is given apart from its collection's others: their object is shared by all threads, and where
/// each read counted a reference to it, each would wait for the others' cache lines.
extension TreeSource {
    /// See ``CollectionReader/withEntry(_:_:)``.
    fileprivate func withDocument<R>(
        _ id: ByteView, in tree: Tree,
        _ body: (StoredDocument, ValueReference) throws(DatabaseError) -> R
    ) throws(DatabaseError) -> R? {
        let result: Result<R, DatabaseError>? = try translating { () throws(StoreError) in
            try withEntry(id, in: tree) { (inline, value) in
                Result { () throws(DatabaseError) in
                    guard let value else { throw DatabaseError.damaged("The entry of a document") }
                    return try body(try StoredDocument(inline), value)
                }
            }
        }
        return try result?.get()
    }

    fileprivate func body(at place: ValueReference, in tree: Tree) throws(DatabaseError) -> DocumentBody {
        ReadCounts.note(.bodies)
        return try translating { () throws(StoreError) in
            try withValue(at: place, in: tree) { bytes in
                Result { () throws(DatabaseError) in try DocumentBody(stored: bytes) }
            }
        }.get()
    }

    /// See ``CollectionReader/document(_:includingDeleted:)``.
    func document(
        _ id: String, in tree: Tree, includingDeleted: Bool
    ) throws(DatabaseError) -> Document? {
        let found = try document(id, in: tree, includingDeleted: includingDeleted, upTo: .max)
        return if case .read(let document)? = found { document } else { nil }
    }

    /// See ``CollectionReader/document(_:upTo:)``.
    fileprivate func document(
        _ id: String, in tree: Tree, includingDeleted: Bool, upTo length: Int
    ) throws(DatabaseError) -> SizedDocument? {
        let found = try id.withUTF8View { (key) throws(DatabaseError) in
            try withDocument(key, in: tree) { (entry, place) throws(DatabaseError) in
                (flags: entry.flags, sequence: entry.sequence, winner: entry.winner, place: place)
            }
        }
        guard let found, includingDeleted || !found.flags.contains(.deleted) else { return nil }
        guard found.place.storedLength <= length else { return .larger }
        return .read(
            Document(
                id: id, revision: found.winner, sequence: found.sequence, flags: found.flags,
                body: try body(at: found.place, in: tree)))
    }
}

/// A document that was read only if it is not too large.
package enum SizedDocument {
    case read(Document)
    case larger
}

extension CollectionReader: Sendable where Source: Sendable {}

extension String {
    /// Calls `body` with the UTF-8, valid during the call.
    @inline(__always)
    func withUTF8View<R>(_ body: (ByteView) throws(DatabaseError) -> R) throws(DatabaseError) -> R {
        var copy = self
        let result: Result<R, DatabaseError> = copy.withUTF8 { buffer in
            Result { () throws(DatabaseError) in try body(unsafe ByteView(UnsafeRawBufferPointer(buffer))) }
        }
        return try result.get()
    }
}
