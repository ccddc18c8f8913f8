import Foundation
import RoostFile
import RoostStorage
import Synchronization

/// A database of JSON documents in a directory of its own.
///
/// ```swift
/// let db = try Database.open("Notes.roost")
/// let notes = try db.collection("notes")
/// try notes.save(Note(title: "Swifts nest in gables"), id: "n1")
/// ```
///
/// A database may be used from any thread and any task. Readers never wait; writers wait for each other. It closes when
/// the last reference goes, or by ``close()``. Handles of the same database within a process share everything; another
/// process can open it for reading only, or write it by turns with this one (``DatabaseOptions/writers``).
public final class Database: Sendable {
    let core: DatabaseCore
    /// Whether this handle was opened for reading only.
    public let isReadOnly: Bool
    private let isClosed = Atomic<Bool>(false)

    /// A handle that `core` has counted already.
    private init(_ core: DatabaseCore, isReadOnly: Bool) {
        self.core = core
        self.isReadOnly = isReadOnly
    }

    deinit { try? close() }

    /// Opens the database in the directory `path`, making it if there is none (see ``DatabaseOptions``).
    ///
    /// Opening takes the same time whatever the size. A crash before leaves nothing to repair.
    ///
    /// - Throws: `locked` when another process has it open for writing, `notFound`, `notADatabase`,
    ///   `unsupportedFormat`, `damaged`, `wrongKey`.
    public static func open(
        _ path: String, options: DatabaseOptions = DatabaseOptions()
    ) throws(DatabaseError) -> Database {
        let opener = DatabaseOpener(path: path, options: options, environment: .system)
        return Database(try DatabaseRegistry.shared.core(opener), isReadOnly: options.isReadOnly)
    }

    /// Opens the database in the directory at `url`: see ``open(_:options:)-(String,_)``.
    public static func open(
        _ url: URL, options: DatabaseOptions = DatabaseOptions()
    ) throws(DatabaseError) -> Database {
        try open(url.path, options: options)
    }

    /// As ``open(_:options:)-(String,_)``, on a medium, clock and randomness of the caller's choice, sharing nothing.
    package static func open(
        _ path: String, options: DatabaseOptions = DatabaseOptions(), environment: Environment
    ) throws(DatabaseError) -> Database {
        let core = try DatabaseOpener(path: path, options: options, environment: environment).open()
        _ = core.retainHandle()
        return Database(core, isReadOnly: options.isReadOnly)
    }

    /// Ends the use of this handle; the last one to close ends the database's. Snapshots stay readable. Closing twice
    /// does nothing.
    ///
    /// What was saved needs no closing to be safe.
    public func close() throws(DatabaseError) {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        core.notifier.wakeAll()
        try core.releaseHandle()
    }

    /// Whether this handle has not been closed.
    var isOpen: Bool { !isClosed.load(ordering: .relaxed) }

    func checkOpen() throws(DatabaseError) {
        guard isOpen else {
            throw DatabaseError(.closed, "The database \(path) was closed. Open it again.")
        }
    }

    func checkWritable() throws(DatabaseError) {
        try checkOpen()
        guard !isReadOnly else {
            throw DatabaseError(
                .readOnly, "The database \(path) was opened for reading only. Open it for writing.")
        }
    }

    /// The directory's path, as it was given to the first handle.
    public var path: String { core.path }

    /// A random name of the database that its owner keeps to itself. Never changes.
    public var privateUUID: UUID { UUID(core.record.privateUUID) }

    /// A random name by which other databases know this one. Never changes.
    public var publicUUID: UUID { UUID(core.record.publicUUID) }

    /// When the database was made, to the microsecond. Never changes.
    public var creationDate: Date { Date(microsecondsSince1970: core.record.created) }

    /// The engine below.
    package var store: Store { core.store }

    /// The time by the database's clock, in microseconds since 1970.
    package var now: UInt64 { core.environment.clock.now() }
}

extension UUID {
    /// Takes the first 16 of `bytes`, of which there are so many.
    fileprivate init(_ bytes: [UInt8]) {
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &uuid) { unsafe $0.copyBytes(from: bytes.prefix(16)) }
        self.init(uuid: uuid)
    }
}

// MARK: - Access

extension Database {
    /// Runs `body` with a transaction of changes and commits them: all or nothing, with one sync.
    ///
    /// Returns when they are durable (see ``DatabaseOptions/durability``). An error thrown by `body` undoes
    /// everything. Writers run one after the other: keep `body` short, and write through the transaction only.
    ///
    /// - Throws: what `body` throws; `readOnly`, `nestedWrite`, `closed`, `noSpace`, `inputOutput`, `writerFailed`.
    @discardableResult
    public func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try checkWritable()
        return try core.write(body)
    }

    /// As the synchronous form, without blocking a thread of the task's executor.
    ///
    /// A task that is cancelled before its turn has come throws `cancelled`, and nothing was changed. From then on the
    /// write is finished, unless `body` asks with ``WriteTransaction/checkCancellation()``.
    @discardableResult
    public func write<R: Sendable>(_ body: @escaping @Sendable (WriteTransaction) throws -> R) async throws
        -> R
    {
        try await write(for: WorkOwner(), body)
    }

    /// As the form for tasks, in the turns of an owner.
    package func write<R: Sendable>(
        for owner: WorkOwner, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R {
        try checkWritable()
        let core = core
        let cancelled: any Error = DatabaseError.cancelledBeforeStart
        let carried = ReadCounts.carrier()
        return try await core.workers.run(for: owner, cancelled: cancelled) { flag in
            try carried { try core.write(cancellation: flag, body) }
        }
    }

    /// As the form for tasks, with a value that `body` changes along with the documents, such as a draft that it saves.
    ///
    /// - Parameters:
    ///   - state: What `body` may change. It keeps its value when the write fails.
    ///   - body: Makes the changes.
    @discardableResult
    public func write<State: Sendable, R: Sendable>(
        updating state: inout State, _ body: @escaping @Sendable (WriteTransaction, inout State) throws -> R
    ) async throws -> R {
        let before = state
        let (after, result) = try await write { transaction in
            var state = before
            let result = try body(transaction, &state)
            return (state, result)
        }
        state = after
        return result
    }

    /// Runs `body`, which reads, on a thread of Roost's own, so that no thread of the task's executor waits for the medium.
    package func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try checkOpen()
        return try await core.workers.run(cancelled: DatabaseError.cancelledBeforeStart as any Error) { _ in
            try body()
        }
    }

    /// The whole database as of now; see ``DatabaseSnapshot``.
    public func snapshot() throws(DatabaseError) -> DatabaseSnapshot {
        try checkOpen()
        return DatabaseSnapshot(core, core.openSnapshots.newest(of: core.store))
    }

    /// The whole database as of now, with an object of its own that `make` has made: it goes with this state of the database
    /// until there is a newer one, and then with the snapshots that keep it. It must not keep the database.
    package func present<T: AnyObject & Sendable>(
        _ make: () -> T
    ) throws(DatabaseError) -> (snapshot: DatabaseSnapshot, companion: T) {
        try checkOpen()
        let newest = core.store.snapshot()
        if let known = newest.companion(T.self) { return (DatabaseSnapshot(core, newest), known) }
        let taken = core.openSnapshots.newest(of: core.store)
        return (DatabaseSnapshot(core, taken), taken.companion(make))
    }

    /// Runs `body` with the whole database as of now.
    public func read<R>(_ body: (DatabaseSnapshot) throws -> R) throws -> R {
        try body(try snapshot())
    }
}

// MARK: - Collections

extension Database {
    /// The collection that every database has.
    public var defaultCollection: DocumentCollection {
        get throws(DatabaseError) { try collection(CollectionName.defaultName) }
    }

    /// A collection, made by a commit of its own if there is none.
    ///
    /// - Parameters:
    ///   - name: 1 to 251 of the characters A-Z a-z 0-9 _ - %, the first not being _ or %; or `_default`.
    ///   - scope: The group of collections that it belongs to, named by the same rule.
    ///   - createsIfMissing: Whether to make it. A database that is open for reading only never does.
    /// - Throws: `invalidName`; `notFound` when there is none and none is to be made.
    public func collection(
        _ name: String, scope: String = "_default", createsIfMissing: Bool = true
    ) throws(DatabaseError) -> DocumentCollection {
        try checkOpen()
        let name = try CollectionName(name, scope: scope)
        if let collection = try existing(name) { return collection }
        // Another process may have made it.
        if core.process != nil, try core.refresh(), let collection = try existing(name) { return collection }
        guard createsIfMissing, !isReadOnly else { throw DatabaseError.missing(name) }
        try checkWritable()
        _ = try core.write { (transaction) throws(DatabaseError) in try transaction.makeCollection(name) }
        guard let collection = try existing(name) else { throw DatabaseError.missing(name) }
        return collection
    }

    private func existing(_ name: CollectionName) throws(DatabaseError) -> DocumentCollection? {
        try core.trees(of: name, in: core.store.snapshot()).map { DocumentCollection(self, name, $0) }
    }

    /// The names of all scopes that have collections, sorted. `_default` is always there.
    public var scopes: [String] {
        get throws(DatabaseError) {
            try checkOpen()
            return Set(try core.collectionNames(in: core.store.snapshot()).map(\.scope)).sorted()
        }
    }

    /// The collections of a scope, sorted by name.
    public func collections(scope: String = "_default") throws(DatabaseError) -> [DocumentCollection] {
        try checkOpen()
        return try core.collections(in: core.store.snapshot()).filter { $0.name.scope == scope }
            .map { DocumentCollection(self, $0.name, $0.trees) }
    }

    /// Drops a collection with all its documents, at once and for good. The space comes back with compaction.
    ///
    /// Snapshots go on reading it; every later use of the collection fails with `notFound`. A collection made again
    /// under the name begins with sequence 1 and has another ``CollectionSnapshot/epoch``. The default collection, which
    /// always exists, is made again at once, empty.
    ///
    /// - Throws: `notFound`.
    public func drop(_ collection: DocumentCollection) throws(DatabaseError) {
        try checkWritable()
        _ = try core.write { (transaction) throws(DatabaseError) in try transaction.drop(collection) }
    }
}

// MARK: - Async

// Long work for tasks: on threads of Roost's own, and stopped when the task is cancelled.

extension Database {
    /// As ``compact(_:progress:)-(_,ProgressHandler?)``, without blocking a thread of the task's executor.
    ///
    /// - Parameters:
    ///   - options: its speed, its memory, and the form of what it writes.
    ///   - progress: called on a thread of Roost's; returns `false` to stop, which leaves everything as it was.
    /// - Throws: `noSpace`, `inputOutput`, `readOnly`; `cancelled` when the task is cancelled or `progress` says so.
    @discardableResult
    public func compact(
        _ options: CompactionOptions = CompactionOptions(),
        progress: (@Sendable (WorkProgress) -> Bool)? = nil
    ) async throws(DatabaseError) -> CompactionResult {
        try await work { (database, flag) throws(DatabaseError) in
            try database.compact(options) { flag.allows($0, progress) }
        }
    }

    /// As ``check(_:progress:)-(_,ProgressHandler?)``, without blocking a thread of the task's executor.
    ///
    /// - Parameters:
    ///   - options: what to verify.
    ///   - progress: called on a thread of Roost's; returns `false` to stop.
    /// - Returns: what was found; damage does not throw.
    /// - Throws: `inputOutput`; `cancelled` when the task is cancelled or `progress` says so.
    public func check(
        _ options: CheckOptions = CheckOptions(), progress: (@Sendable (WorkProgress) -> Bool)? = nil
    ) async throws(DatabaseError) -> DatabaseCheckReport {
        try await work { (database, flag) throws(DatabaseError) in
            try database.check(options) { flag.allows($0, progress) }
        }
    }

    /// As ``backup(to:progress:)-(_,ProgressHandler?)``, without blocking a thread of the task's executor.
    ///
    /// - Parameters:
    ///   - path: the backup's directory; made if it is missing.
    ///   - progress: called on a thread of Roost's; returns `false` to stop.
    /// - Throws: `noSpace`, `inputOutput`, `notADatabase` when something else is at `path`; `cancelled` when the task is
    ///   cancelled or `progress` says so.
    @discardableResult
    public func backup(
        to path: String, progress: (@Sendable (WorkProgress) -> Bool)? = nil
    ) async throws(DatabaseError) -> BackupReport {
        try await work { (database, flag) throws(DatabaseError) in
            try database.backup(to: path) { flag.allows($0, progress) }
        }
    }

    /// Runs `body` on a thread of Roost's, with a flag that tells when the task is cancelled.
    func work<R: Sendable>(
        _ body: @escaping @Sendable (Database, CancellationFlag) throws(DatabaseError) -> R
    ) async throws(DatabaseError) -> R {
        try await core.workers.run(cancelled: .cancelledBeforeStart) { (flag) throws(DatabaseError) in
            try body(self, flag)
        }
    }
}

extension CancellationFlag {
    /// Whether work may go on: neither the task nor `handler` has had enough.
    fileprivate func allows(_ progress: WorkProgress, _ handler: (@Sendable (WorkProgress) -> Bool)?) -> Bool
    {
        !isSet && handler?(progress) ?? true
    }
}
