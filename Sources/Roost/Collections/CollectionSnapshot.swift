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

    /// The document; see ``document(_:)``.
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
