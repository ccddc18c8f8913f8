import Foundation
import RoostBytes
import RoostStorage

/// A collection as of one commit, to be read from any thread.
public struct CollectionSnapshot: Sendable {
    let reader: CollectionReader<Snapshot>
    private let record: CollectionRecord

    /// - Throws: `notFound` when the snapshot has no such collection.
    init(
        _ name: CollectionName, _ trees: CollectionTrees, _ catalog: Tree, in snapshot: Snapshot
    ) throws(DatabaseError) {
        let bytes = try translating { () throws(StoreError) in try snapshot[catalog, Catalog.collection(name)]
        }
        guard let bytes else { throw DatabaseError.missing(name) }
        record = try CollectionRecord(bytes)
        reader = CollectionReader(source: snapshot, trees: trees)
        guard trees.documents.name == "documents/\(record.number)" else { throw DatabaseError.missing(name) }
    }

    /// Whether it is of this collection; of one and the same database.
    package func isOf(_ collection: DocumentCollection) -> Bool {
        reader.trees.documents.id == collection.trees.documents.id
    }

    /// Tells the collection from others of its name that were dropped, or will be made.
    package var number: UInt64 { record.number }

    /// How many documents there are that are not deleted. O(1).
    public var count: Int { Int(clamping: record.liveCount) }

    /// How many documents there are that are deleted. O(1).
    public var deletedCount: Int {
        get throws(DatabaseError) { Int(clamping: try reader.documents.count &- record.liveCount) }
    }

    /// The last sequence given to a change; 0 when there was none. Sequences only grow and are never given again.
    public var lastSequence: UInt64 { record.lastSequence }

    /// A random number that names the history to which the sequences belong.
    ///
    /// What a peer knows of sequences holds only while the epoch stays the same. A collection gets a new one when it is
    /// made, so also when it was dropped and made again, and when its database is salvaged or a backup is opened for writing.
    public var epoch: UInt64 { record.epoch }

    /// When the collection was made, to the microsecond.
    public var creationDate: Date { Date(microsecondsSince1970: record.created) }

    /// The last purge sequence given; 0 when nothing was purged. See ``purges(since:)``.
    public var purgeSequence: UInt64 { record.lastPurge }

    /// How many revisions back from a leaf a document's history is kept.
    public var revisionLimit: Int { record.revisionLimit }

    /// The document, in the revision that wins where there are conflicts; `nil` when there is none or it is deleted.
    ///
    /// - Parameters:
    ///   - id: The document's ID.
    ///   - includingDeleted: Whether to return the winning tombstone of a document that is deleted.
    public func document(
        _ id: String, includingDeleted: Bool = false
    ) throws(DatabaseError) -> Document? {
        try reader.document(id, includingDeleted: includingDeleted)
    }

    /// How many bytes the winner's body takes in the file; `nil` where there is no document.
    package func storedLength(of id: String) throws(DatabaseError) -> Int? {
        try id.withUTF8View { (key) throws(DatabaseError) in
            try reader.withEntry(key) { (_, place) throws(DatabaseError) in place.storedLength }
        }
    }

    /// The document as ``document(_:, includingDeleted: true)``, unless its body takes more than `length` bytes in the file.
    package func document(_ id: String, upTo length: Int) throws(DatabaseError) -> SizedDocument? {
        try reader.document(id, upTo: length)
    }

    /// The document's properties decoded as a `T`; `nil` when there is none or it is deleted.
    ///
    /// - Throws: `decodingFailed` when the properties are not those of a `T`.
    public func document<T: Decodable>(_ id: String, as type: T.Type = T.self) throws(DatabaseError)
        -> Versioned<T>?
    {
        try document(id).map { (document) throws(DatabaseError) in try Versioned(document) }
    }

    /// The document, as by `document(_:)`.
    public subscript(id: String) -> Document? {
        get throws(DatabaseError) { try document(id) }
    }

    /// A document's winning revision, without its body, and whether that is a tombstone; `nil` when there is no such document.
    package func winner(of id: String) throws(DatabaseError) -> (revision: RevisionID, isDeleted: Bool)? {
        try id.withUTF8View { (key) throws(DatabaseError) in
            try reader.withEntry(key) { (entry, _) throws(DatabaseError) in
                (entry.winner, entry.flags.contains(.deleted))
            }
        }
    }

    /// The sequence of a document's newest change, without its body; `nil` when there is no such document.
    package func sequence(of id: String) throws(DatabaseError) -> UInt64? {
        try id.withUTF8View { (key) throws(DatabaseError) in
            try reader.withEntry(key) { (entry, _) throws(DatabaseError) in entry.sequence }
        }
    }

    /// Whether there is a document of that ID that is not deleted.
    public func contains(_ id: String) throws(DatabaseError) -> Bool {
        try id.withUTF8View { (key) throws(DatabaseError) in
            try reader.withEntry(key) { (entry, _) throws(DatabaseError) in !entry.flags.contains(.deleted) }
                ?? false
        }
    }
}

// MARK: - Batch

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

// MARK: - Purges

extension CollectionSnapshot {
    /// What was purged after the purge sequence `sequence`, oldest first: for whoever keeps something that was derived from
    /// the documents.
    ///
    /// The last 1000 purges of a collection are remembered.
    ///
    /// - Returns: `nil` when some of what was asked for is forgotten; then everything must be derived anew.
    /// - Throws: `damaged`, `inputOutput`.
    public func purges(since sequence: UInt64) throws(DatabaseError) -> [Purge]? {
        guard sequence < purgeSequence else { return [] }
        guard purgeSequence - sequence <= StoredPurge.limit else { return nil }
        return try reader.purges(since: sequence)
    }

    /// About how many bytes of the file the collection takes: its documents with their bodies, revisions and local
    /// documents. Blobs do not count. O(1).
    public var storedBytes: UInt64 {
        get throws(DatabaseError) {
            // Bodies belong to the documents' entries; those of the changes refer to them.
            try reader.documents.storedBytes &+ reader.changes.storedBytes &+ reader.extras.storedBytes
        }
    }
}

extension CollectionReader {
    /// The purges after the purge sequence `sequence` that are remembered, oldest first.
    func purges(since sequence: UInt64) throws(DatabaseError) -> [Purge] {
        let cursor = try extras.cursor(ExtrasKey.purges(since: sequence))
        var purges: [Purge] = []
        while try translating({ () throws(StoreError) in try cursor.next() }) {
            let sequence = Sequences.number(cursor.keyView.dropFirst(1))
            let stored = try translating { () throws(StoreError) in try cursor.value() }
            purges.append(
                try stored.withView { (bytes) throws(DatabaseError) in
                    try Purge(sequence: sequence, stored: bytes)
                })
        }
        return purges
    }
}

// MARK: - Sequence

/// ```swift
/// for try await document in try notes.snapshot() { … }      // one document in memory at a time
/// for document in try notes.documents(limit: 10) { … }      // without tasks, all in memory
/// ```
///
/// Documents that are not deleted come in the order of their IDs. Reading may fail, which a loop without `try` could not tell
/// from the end.
extension CollectionSnapshot: AsyncSequence {
    /// A document.
    public typealias Element = Document
    /// What reading throws.
    public typealias Failure = DatabaseError

    /// An iterator before the first document.
    public func makeAsyncIterator() -> Iterator { Iterator(snapshot: self) }

    /// Walks over the documents. Belongs to one task; never suspends it.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let snapshot: CollectionSnapshot
        private var cursor: DocumentCursor?

        fileprivate init(snapshot: CollectionSnapshot) { self.snapshot = snapshot }

        /// The next document; `nil` after the last.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(DatabaseError) -> Document? {
            if cursor == nil { cursor = try snapshot.cursor() }
            return try cursor?.next()
        }
    }
}
