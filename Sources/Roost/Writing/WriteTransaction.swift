import RoostBlobs
import RoostBytes
import RoostFile
import RoostStorage

/// Changes to documents, in any collections of a database, that become visible and durable together or not at all.
///
/// ``Database/write(_:)-4124m`` hands one to its closure. It reads what it has written; everybody else reads what was there
/// before until it is committed, and everybody else who writes waits. Use it within the closure, from one thread.
public final class WriteTransaction {
    let core: DatabaseCore
    let maker = BodyMaker()
    private let transaction: StoreTransaction
    private var writers: [CollectionName: CollectionWriter] = [:]
    /// The one that was asked for last.
    private var lastWriter: CollectionWriter?
    private var isOpen = true
    /// Set when the task that waits for the write is cancelled.
    private let flag: CancellationFlag?
    /// The earliest expiration that was set, in microseconds since 1970.
    var nextExpiration: UInt64?
    /// What became of the transaction, for the drafts that were saved in it.
    let outcome = TransactionOutcome()
    /// Keeps the blobs that the changes refer to in the store until the transaction has ended.
    var pins: [BlobPin] = []
    /// The contents that were stored for the changes, removed with the transaction unless the changes are committed and name them.
    var holds: [BlobHold] = []
    /// The blobs that the changes name.
    private var named: [BlobDigest] = []
    /// What was purged, for those who listen.
    private var purged: [CollectionTrees: [DocumentChange]] = [:]
    /// The writers of collections that were dropped.
    private var dropped: [CollectionWriter] = []

    init(_ core: DatabaseCore, _ flag: CancellationFlag?) throws(DatabaseError) {
        self.core = core
        self.flag = flag
        transaction = try translating { () throws(StoreError) in try core.store.beginWriting() }
    }

    /// The writer of a collection, made when it is first asked for.
    func writer(_ collection: DocumentCollection) throws(DatabaseError) -> CollectionWriter {
        if let lastWriter, lastWriter.trees == collection.trees, collection.database.core === core, isOpen {
            return lastWriter
        }
        try check(collection)
        let writer = try writer(collection.name, collection.trees)
        lastWriter = writer
        return writer
    }

    /// The writer of a collection of this database.
    func writer(_ name: CollectionName, _ trees: CollectionTrees) throws(DatabaseError) -> CollectionWriter {
        try checkOpen()
        if let writer = writers[name], writer.trees == trees { return writer }
        let writer = try CollectionWriter(
            name, trees, catalog: core.catalog, keptRevisions: core.keptRevisions, in: transaction)
        writers[name] = writer
        return writer
    }

    func reader(_ collection: DocumentCollection) throws(DatabaseError) -> CollectionReader<StoreTransaction>
    {
        try check(collection)
        try writers[collection.name]?.flush()
        return CollectionReader(source: transaction, trees: collection.trees)
    }

    private func check(_ collection: DocumentCollection) throws(DatabaseError) {
        try checkOpen()
        guard collection.database.core === core else { throw DatabaseError.foreign(collection) }
    }

    private func checkOpen() throws(DatabaseError) {
        guard isOpen else {
            throw DatabaseError(
                .closed, "The transaction has ended. Use it only within the closure it was passed to.")
        }
    }

    /// Ends the write, and with it undoes everything, if the task that waits for it has been cancelled.
    ///
    /// Long writes ask now and then; a write that never does is finished.
    ///
    /// - Throws: `cancelled`.
    public func checkCancellation() throws(DatabaseError) {
        guard flag?.isSet == true || Task.isCancelled else { return }
        throw DatabaseError(.cancelled, "The task was cancelled during the write; nothing was changed.")
    }

    /// Whether other writes wait until this one has ended, so that one which can go on in another should.
    package var isWaitedFor: Bool { core.hasWaitingBatches }

    /// Makes everything durable and visible, and tells those who observe.
    func commit() throws(DatabaseError) {
        try checkOpen()
        end()
        for writer in writers.values { try writer.finish(in: core.catalog) }
        try translating { () throws(StoreError) in _ = try transaction.commit() }
        core.vault.blobs.name(named)
        releaseBlobs()
        outcome.commit()
        for writer in writers.values where writer.hasChanged {
            core.notifier.tellOfCommit(
                writer.name, writer.trees, writer.record, purged: purged[writer.trees] ?? [])
        }
        for writer in dropped {
            core.notifier.tellOfDrop(writer.name, writer.trees, number: writer.record.number)
        }
        if let nextExpiration { core.expirations.schedule(at: nextExpiration, core) }
    }

    /// Remembers to tell listeners of a purge.
    func notePurge(_ id: String, at revision: RevisionID, in trees: CollectionTrees) {
        purged[trees, default: []].append(
            DocumentChange(id: id, sequence: 0, revision: revision, flags: [], isPurged: true))
    }

    /// Undoes everything, unless it was committed.
    func rollback() {
        undo()
        transaction.rollback()
    }

    /// Undoes everything, and returns when what the transaction began with can be read.
    func rollbackAwaitingBase() {
        undo()
        transaction.rollbackAwaitingBase()
    }

    private func undo() {
        if isOpen { end() }
        releaseBlobs()
        outcome.undo()
    }

    /// Notes that a document that was saved has these attachments.
    func name(_ attachments: NamedValues<PreparedAttachment>?) {
        for (_, attachment) in attachments ?? [:] {
            if let digest = attachment.stored.flatMap({ BlobDigest($0.digest) }) { named.append(digest) }
        }
    }

    /// Notes that a document that was saved names these blobs in its properties, so that they stay when the last of these references goes.
    package func name(_ blobs: [Blob]) { named += blobs.compactMap { BlobDigest($0.digest) } }

    /// Whoever waits for the transaction may look at once what is left of the blobs.
    private func releaseBlobs() {
        pins = []
        holds = []
    }

    private func end() {
        isOpen = false
        core.endBatch()
    }

    // MARK: Collections

    /// Makes a collection, if there is none of that name.
    func makeCollection(_ name: CollectionName) throws(DatabaseError) -> CollectionName {
        try checkOpen()
        try transaction.makeCollection(name, catalog: core.catalog, core.environment)
        return name
    }

    /// Drops a collection with all its documents. The default collection, which always exists, is made again, empty.
    func drop(_ collection: DocumentCollection) throws(DatabaseError) -> CollectionName {
        try check(collection)
        // Making the writer checks that the collection is there still.
        dropped.append(try writer(collection))
        writers[collection.name] = nil
        lastWriter = nil
        try translating { () throws(StoreError) in
            try transaction.delete(Catalog.collection(collection.name), in: core.catalog)
            for tree in [collection.trees.documents, collection.trees.changes, collection.trees.extras] {
                try transaction.drop(tree)
            }
        }
        if collection.name == .default { _ = try makeCollection(.default) }
        return collection.name
    }
}

extension StoreTransaction {
    /// Makes a collection with its trees and its record, if there is none of that name.
    func makeCollection(
        _ name: CollectionName, catalog: Tree, _ environment: Environment
    ) throws(DatabaseError) {
        let key = Catalog.collection(name)
        let (isThere, bytes) = try translating { () throws(StoreError) in
            (try self[catalog].contains(key), try self[catalog].value(Catalog.database))
        }
        guard !isThere else { return }
        guard let bytes else { throw DatabaseError.damaged("The catalog") }
        var database = try DatabaseRecord(bytes)
        let record = CollectionRecord(number: database.nextCollection, environment)
        database.nextCollection += 1
        try translating { () throws(StoreError) in
            _ = try CollectionTrees(number: record.number, in: self)
            try put(key, record.encoded, in: catalog)
            try put(Catalog.database, database.encoded, in: catalog)
        }
    }
}

extension DatabaseError {
    static func foreign(_ collection: DocumentCollection) -> Self {
        Self(
            .notFound,
            "The collection \(collection.name) belongs to another database. Ask this database for its collection."
        )
    }
}
