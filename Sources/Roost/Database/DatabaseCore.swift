import RoostFile
import RoostStorage
import Synchronization

/// What the handles of one database share: the store and what belongs to it.
final class DatabaseCore: Sendable {
    /// The directory.
    let path: String
    let store: Store
    let catalog: Tree
    let record: DatabaseRecord
    let vault: BlobVault
    let environment: Environment
    /// How many bodies of earlier revisions are kept of each branch of a document.
    let keptRevisions: Int
    let workers = WorkerPool(limit: 32, share: 16)
    let notifier = ChangeNotifier()
    let openSnapshots = OpenSnapshots()
    let expirations: ExpirationTimer
    let auxiliaryStores: AuxiliaryStores
    let companions = Companions()
    /// Stands for this opening where processes take turns to write.
    let process: WritingProcess?
    /// The thread that is running a transaction; 0 when none is.
    private let writingThread = Atomic<UInt>(0)
    /// How many transactions wait for their turn to be filled.
    private let waitingBatches = Atomic(0)
    private let access: Mutex<Access>

    private struct Access {
        /// The key that opens the database; `nil` when it is not encrypted, or was closed.
        var key: EncryptionKey?
        var isEncrypted: Bool
    }

    /// How many handles are open; -1 once the last was closed.
    private let handles = Mutex(0)

    init(
        path: String, store: Store, catalog: Tree, record: DatabaseRecord, vault: BlobVault,
        auxiliaryStores: AuxiliaryStores, environment: Environment, keptRevisions: Int, key: EncryptionKey?,
        process: WritingProcess?
    ) {
        self.process = process
        self.path = path
        self.store = store
        self.catalog = catalog
        self.record = record
        self.vault = vault
        self.auxiliaryStores = auxiliaryStores
        self.environment = environment
        self.keptRevisions = max(keptRevisions, 0)
        access = Mutex(Access(key: key, isEncrypted: key != nil))
        expirations = ExpirationTimer(environment: environment)
    }

    /// Whether `key` is the one that the database was opened with, for another handle of it.
    func check(_ key: EncryptionKey?) throws(DatabaseError) {
        let isSame = access.withLock { access in
            guard let own = access.key, let key else { return access.key == nil && key == nil }
            return own.isSame(as: key)
        }
        guard isSame else {
            throw DatabaseError(.wrongKey, "\(path) is open with another key, or without one.")
        }
    }

    /// Whether a key is needed to open the database.
    var isEncrypted: Bool { access.withLock { $0.isEncrypted } }

    /// Notes that another key opens the database from now on.
    func setKey(_ key: EncryptionKey?) {
        access.withLock { $0 = Access(key: key, isEncrypted: key != nil) }
    }

    // MARK: Handles

    /// Whether the last handle was closed.
    var isClosed: Bool { handles.withLock { $0 < 0 } }

    /// Counts another handle; `false` when the database was closed meanwhile.
    func retainHandle() -> Bool {
        handles.withLock { count in
            if count >= 0 { count += 1 }
            return count > 0
        }
    }

    /// Counts a handle less, and closes the store with the last.
    func releaseHandle() throws(DatabaseError) {
        let isLast = handles.withLock { count in
            count -= 1
            if count == 0 { count = -1 }
            return count < 0
        }
        guard isLast else { return }
        expirations.stop()
        // Last of all: blobs that are being written are lost with it.
        defer { process?.leave() }
        defer { companions.removeAll() }
        notifier.tell(.closed)
        auxiliaryStores.close()
        defer {
            vault.close()
            access.withLock { $0.key = nil }
        }
        try translating { () throws(StoreError) in try store.close() }
    }

    // MARK: Collections

    /// The names of all collections, sorted.
    func collectionNames(in snapshot: Snapshot) throws(DatabaseError) -> [CollectionName] {
        let cursor = try translating { () throws(StoreError) in
            try snapshot[catalog].cursor(Catalog.collections)
        }
        var names: [CollectionName] = []
        while try translating({ () throws(StoreError) in try cursor.next() }) {
            names.append(try Catalog.name(cursor.key))
        }
        return names
    }

    /// The trees of a collection; `nil` when there is no such collection.
    func trees(of name: CollectionName, in snapshot: Snapshot) throws(DatabaseError) -> CollectionTrees? {
        let bytes = try translating { () throws(StoreError) in try snapshot[catalog, Catalog.collection(name)]
        }
        guard let bytes else { return nil }
        guard let trees = CollectionTrees(number: try CollectionRecord(bytes).number, in: snapshot) else {
            throw DatabaseError.damaged("The catalog")
        }
        return trees
    }

    /// All collections with their trees.
    func collections(
        in snapshot: Snapshot
    ) throws(DatabaseError) -> [(name: CollectionName, trees: CollectionTrees)] {
        var collections: [(name: CollectionName, trees: CollectionTrees)] = []
        for name in try collectionNames(in: snapshot) {
            if let trees = try trees(of: name, in: snapshot) { collections.append((name, trees)) }
        }
        return collections
    }

    // MARK: Writing

    /// A new document ID.
    func makeDocumentID() -> String { UUIDText.timeOrdered(environment) }

    /// Whether this thread is within a transaction.
    var isWriting: Bool { writingThread.load(ordering: .relaxed) == currentThread() }

    /// Begins a transaction, once this caller gets the writer lock.
    ///
    /// - Throws: `cancelled` when `flag` is set by then.
    private func beginBatch(_ flag: CancellationFlag?) throws(DatabaseError) -> WriteTransaction {
        guard !isWriting else {
            throw DatabaseError(
                .nestedWrite,
                "This thread is within a write already, which would wait for itself. Make the change through the transaction."
            )
        }
        waitingBatches.add(1, ordering: .relaxed)
        defer { waitingBatches.subtract(1, ordering: .relaxed) }
        let transaction = try WriteTransaction(self, flag)
        if flag?.isSet == true {
            transaction.rollback()
            throw DatabaseError.cancelledBeforeStart
        }
        writingThread.store(currentThread(), ordering: .relaxed)
        return transaction
    }

    /// Whether others wait until the present transaction is filled.
    var hasWaitingBatches: Bool { waitingBatches.load(ordering: .relaxed) > 0 }

    /// Notes that the transaction is not being filled any more; it still holds the turn.
    func endBatch() { writingThread.store(0, ordering: .relaxed) }

    /// Runs `body` with a transaction and commits it.
    ///
    /// When `body` throws a conflict, what it conflicted with may not be on the medium yet, so that nobody could read it;
    /// the call then returns only when it is.
    func write<R>(cancellation flag: CancellationFlag? = nil, _ body: (WriteTransaction) throws -> R) throws
        -> R
    {
        let transaction = try beginBatch(flag)
        defer { transaction.rollback() }
        let result: R
        do {
            result = try body(transaction)
        } catch {
            if (error as? DatabaseError)?.code == .conflict || error is any OutdatedRead {
                transaction.rollbackAwaitingBase()
            }
            throw error
        }
        try transaction.commit()
        return result
    }

    /// As the other form, for changes that fail with a database error only.
    func write<R>(
        cancellation flag: CancellationFlag? = nil, _ body: (WriteTransaction) throws(DatabaseError) -> R
    ) throws(DatabaseError) -> R {
        let transaction = try beginBatch(flag)
        defer { transaction.rollback() }
        let result: R
        do throws(DatabaseError) {
            result = try body(transaction)
        } catch {
            if error.code == .conflict { transaction.rollbackAwaitingBase() }
            throw error
        }
        try transaction.commit()
        return result
    }
}

/// An error by which a write ends that met something else than what was read before. It can be read when the write returns.
package protocol OutdatedRead: Error {}

extension DatabaseError {
    /// What a task gets that was cancelled before its turn to write.
    static var cancelledBeforeStart: Self {
        Self(.cancelled, "The task was cancelled before the work began; nothing was changed.")
    }
}

// MARK: - OpenSnapshots

/// Knows which snapshots of a database are in use, without keeping them.
final class OpenSnapshots: Sendable {
    private struct State {
        var references: [WeakSnapshot] = []
        /// How many there may be before those of snapshots that have gone are removed.
        var limit = 32
    }

    private let state = Mutex(State())

    /// Those that are in use, and a new one; none can be taken in between.
    func all(_ make: () -> Snapshot) -> [Snapshot] {
        state.withLock { $0.references.compactMap(\.snapshot) + [make()] }
    }

    /// Takes the newest snapshot. Waits for others only where it is the first that takes it.
    func newest(of store: Store) -> Snapshot {
        let snapshot = store.snapshot()
        return snapshot.isKnown.load(ordering: .acquiring) ? snapshot : take { store.snapshot() }
    }

    /// Takes a snapshot and remembers it. O(1) on average.
    func take<E: Error>(_ make: () throws(E) -> Snapshot) throws(E) -> Snapshot {
        let result: Result<Snapshot, E> = state.withLock { state in
            do throws(E) {
                let snapshot = try make()
                // It can be taken without a lock from now on: what it shows is remembered for as long as it is there.
                defer { snapshot.isKnown.store(true, ordering: .releasing) }
                // Most are of the newest commit, as those before.
                if state.references.last?.isOf(snapshot) == true { return .success(snapshot) }
                if state.references.count >= state.limit {
                    state.references.removeAll(where: \.isGone)
                    state.limit = max(32, 2 * state.references.count)
                }
                state.references.append(WeakSnapshot(snapshot))
                return .success(snapshot)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension DatabaseCore {
    /// Everything that somebody may read now or later: the present, the snapshots that are open, the oldest commit
    /// that can be gone back to.
    func readableSnapshots() throws(DatabaseError) -> [Snapshot] {
        let cursor = store.history.makeCursor()
        var oldest: Commit?
        while let commit = try translating({ () throws(StoreError) in try cursor.next() }) { oldest = commit }
        var snapshots = openSnapshots.all { store.snapshot() }
        if let oldest {
            snapshots.append(try translating { () throws(StoreError) in try store.snapshot(at: oldest) })
        }
        return snapshots
    }
}

// MARK: - DatabaseSnapshot

/// The whole database as of one commit: never changes, never waits, and nobody waits for it.
///
/// Take as many as you like, and use each from any thread. While one is held, the file that it reads is not given back
/// after a compaction.
public struct DatabaseSnapshot: Sendable {
    private let core: DatabaseCore
    private let snapshot: Snapshot

    init(_ core: DatabaseCore, _ snapshot: Snapshot) {
        self.core = core
        self.snapshot = snapshot
    }

    /// Whether it is of this database.
    package func isOf(_ database: Database) -> Bool { core === database.core }

    /// The object of type `T` that goes with the snapshot while there is no newer one: see `Database.present(_:)`.
    package func companion<T: AnyObject & Sendable>(_ make: () -> T) -> T { snapshot.companion(make) }

    /// The collection as of this snapshot.
    ///
    /// - Throws: `notFound` when there was no such collection then, or it belongs to another database.
    public subscript(collection: DocumentCollection) -> CollectionSnapshot {
        get throws(DatabaseError) {
            guard collection.database.core === core else { throw DatabaseError.foreign(collection) }
            return try CollectionSnapshot(collection.name, collection.trees, core.catalog, in: snapshot)
        }
    }
}
