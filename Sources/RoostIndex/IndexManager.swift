import Dispatch
import Roost
import RoostStorage
import Synchronization

/// The indexes of all collections of a database, one of a kind for all its handles in this process.
///
/// After commits it brings the indexes that are built up in the background, so that readers seldom have to: at once where
/// many documents have changed, otherwise when there was some quiet. It takes no part in the commit and syncs nothing.
package final class IndexManager: Sendable {
    private let stores: AuxiliaryStores
    private let settings = Mutex(IndexSettings())
    private let queue = DispatchQueue(label: "roost.indexes", qos: .utility)
    private let state = Mutex(State())

    private struct State {
        var collections: [UInt64: CollectionIndexes] = [:]
        /// Handles through which the collections can be read; the manager must not keep them.
        var handles: [UInt64: Handle] = [:]
        /// Collections that will be updated.
        var scheduled: Set<UInt64> = []
        var observation: ObservationToken?
        var isCleaned = false
    }

    private struct Handle {
        weak var database: Database?
        let name: String
        let scope: String
    }

    private init(_ stores: AuxiliaryStores) { self.stores = stores }

    /// The manager of the database's indexes.
    package static func of(_ database: Database) -> IndexManager {
        let manager = database.companion { IndexManager(database.auxiliaryStores) }
        manager.observe(database)
        return manager
    }

    private func observe(_ database: Database) {
        state.withLock { state in
            guard state.observation == nil else { return }
            state.observation = database.observeEvents { [weak self] event in self?.note(event) }
        }
    }

    /// Sets what upkeep may take, for collections whose indexes were not asked for yet.
    package func configure(_ settings: IndexSettings) { self.settings.withLock { $0 = settings } }

    /// The indexes of the collection that has this number.
    fileprivate func indexes(of collection: DocumentCollection, _ number: UInt64) -> CollectionIndexes {
        let known = state.withLock { state in
            state.handles[number]?.database != nil ? state.collections[number] : nil
        }
        if let known { return known }
        let settings = settings.withLock { $0 }
        // Files that can't be removed do not concern readers.
        try? removeStrays(collection.database)
        return state.withLock { state in
            state.handles[number] = Handle(
                database: collection.database, name: collection.collectionName, scope: collection.scopeName)
            if let known = state.collections[number] { return known }
            let made = CollectionIndexes(number: number, stores: stores, settings: settings)
            state.collections[number] = made
            return made
        }
    }

    /// Removes, once, the stores of collections that were dropped while this process did not have the database open.
    private func removeStrays(_ database: Database) throws(DatabaseError) {
        let isFirst = state.withLock { state in
            defer { state.isCleaned = true }
            return !state.isCleaned
        }
        guard isFirst, !database.isReadOnly else { return }
        var known: Set<String> = []
        for scope in try database.scopes {
            for collection in try database.collections(scope: scope) {
                known.insert("\(try collection.snapshot().number)")
            }
        }
        for name in try stores.names() where !known.contains(name) { try stores.drop(name) }
    }

    /// The indexes of all collections that are being built.
    package var builds: [(scope: String, collection: String, index: String, build: BuildUnderWay)] {
        let known = state.withLock { state in
            state.collections.map { ($0.value, state.handles[$0.key]) }
        }
        return known.flatMap { indexes, handle in
            indexes.builds.map { (handle?.scope ?? "", handle?.name ?? "", $0.key, $0.value) }
        }
    }

    // MARK: Following

    /// Called on the thread that committed: takes a note, no more.
    private func note(_ event: DatabaseEvent) {
        switch event {
        case .changed(_, let number, _, _):
            let isNew = state.withLock {
                $0.collections[number] != nil && $0.scheduled.insert(number).inserted
            }
            guard isNew else { return }
            let quiet = settings.withLock { $0.quiet }
            queue.asyncAfter(deadline: .now() + quiet) { [weak self] in self?.follow(number) }
        case .dropped(_, let number):
            state.withLock { state in
                state.collections[number] = nil
                state.handles[number] = nil
            }
            queue.async { [stores] in try? stores.drop("\(number)") }
        case .refreshed, .keyChanged, .closed: break
        }
    }

    private func follow(_ number: UInt64) {
        let (indexes, handle) = state.withLock { state in
            state.scheduled.remove(number)
            return (state.collections[number], state.handles[number])
        }
        guard let indexes, let handle, let database = handle.database,
            let collection = try? database.collections(scope: handle.scope)
                .first(where: { $0.collectionName == handle.name })
        else { return }
        // What fails here fails again for a reader, which gets the error.
        try? indexes.update(collection, building: .none)
    }

    /// Waits until what was to be done in the background is done.
    package func waitForFollower() { queue.sync {} }
}

extension DocumentCollection {
    /// The indexes of this collection.
    package var indexes: CollectionIndexes {
        get throws(DatabaseError) { indexes(at: try snapshot()) }
    }

    /// The indexes of this collection, of which `documents` is one moment.
    package func indexes(at documents: CollectionSnapshot) -> CollectionIndexes {
        IndexManager.of(database).indexes(of: self, documents.number)
    }
}

// MARK: - Index settings

/// What upkeep may take.
package struct IndexSettings: Sendable {
    /// How many documents may have changed for a reader to look at them himself.
    package var overlayLimit = 200
    /// About how many bytes a reader makes of these in memory, and of all documents where an index can't be stored.
    package var overlayMemory = 256 << 20
    /// About how many bytes of rows or words a build collects in memory.
    package var buildMemory = 128 << 20
    /// How many seconds after a change indexes are updated in the background.
    package var quiet = 0.5

    package init() {}
}

// MARK: - Index status

/// How an index stands.
package struct IndexStatus: Sendable, Hashable {
    /// Its kind, a slash and its own name.
    package let name: String
    /// All that its rows depend on besides the documents, such as the version of a view.
    package var signature: String { String(decoding: record.signature, as: UTF8.self) }
    /// Whether it was built; a build that was cut off goes on when it is read.
    package var isComplete: Bool { record.phase == .complete }
    /// How many rows it has; 0 while it is built.
    package let rows: UInt64
    /// About how many bytes its trees take in the file; what stands in the log alone does not count yet.
    package let bytes: UInt64
    /// The collection's history that its rows belong to.
    package var epoch: UInt64 { record.epoch }
    /// The update sequence of the collection up to which it was kept.
    package var sequence: UInt64 { record.sequence }
    /// The purge sequence up to which it was kept.
    package var purge: UInt64 { record.purge }
    let record: IndexRecord

    init(name: String, _ record: IndexRecord, rows: UInt64, bytes: UInt64) {
        self.name = name
        self.rows = rows
        self.bytes = bytes
        self.record = record
    }
}

// MARK: - Derived store

/// What is derived from the documents of one collection, for people to look at.
package struct DerivedStore: Sendable {
    /// The file, in the database's directory.
    package let file: String
    /// The collection; `nil` for one that is there no more, whose store the next writer removes.
    package let collection: DocumentCollection?
    /// The moment of the collection that the indexes are compared with.
    package private(set) var moment: CollectionSnapshot?
    /// How large the file is.
    package let fileBytes: UInt64
    /// The indexes, by name; none where they can't be read.
    package private(set) var indexes: [IndexStatus] = []
    /// Why what is derived can't be relied on. It is rebuilt when it is read next.
    package private(set) var damage: String?

    /// How an index stands to the documents.
    package enum Standing: String, Sendable {
        /// It shows the newest commit.
        case current
        /// What has changed since is looked at, or caught up with, by its reader.
        case behind
        /// It is being built, or goes on being built when it is read next.
        case building
        /// It was made of other documents, such as those before a restore, and is rebuilt when it is read.
        case foreign
    }

    /// How `index`, one of ``indexes``, stands to the documents.
    package func standing(of index: IndexStatus) -> Standing {
        guard let moment, index.epoch == moment.epoch, !index.record.isAhead(of: moment) else {
            return .foreign
        }
        guard index.isComplete else { return .building }
        return index.record.isCurrent(at: moment) ? .current : .behind
    }

    fileprivate init(
        _ stores: AuxiliaryStores, _ name: String, _ collection: DocumentCollection?,
        checking: CheckOptions?, progress: ProgressHandler?
    ) throws {
        file = "derived/\(name).roost"
        self.collection = collection
        fileBytes = try stores.fileBytes(name)
        do throws(StoreError) {
            if let checking { try check(stores, name, checking, progress) }
            if damage == nil { try look(stores, name, progress, isChecked: checking != nil) }
        } catch {
            guard error.code != .cancelled else { throw error }
            damage = error.message
        }
        // After the indexes, which can't be ahead of it then.
        moment = try collection?.snapshot()
    }

    private mutating func check(
        _ stores: AuxiliaryStores, _ name: String, _ checking: CheckOptions, _ progress: ProgressHandler?
    ) throws(StoreError) {
        let report = try stores.check(name, checking, progress: progress)
        let worst = report.findings.max { $0.severity < $1.severity }
        if let worst, worst.severity == .error { damage = "\(worst)" }
    }

    private mutating func look(
        _ stores: AuxiliaryStores, _ name: String, _ progress: ProgressHandler?, isChecked: Bool
    ) throws(StoreError) {
        let store = try stores.storeToLook(name)
        defer { try? store.close() }
        do {
            let kept = IndexStore(store: store)
            indexes = try kept.statuses()
            guard isChecked else { return }
            damage = try kept.findings { done, total in
                guard progress?(WorkProgress(completed: done, total: total)) != false else {
                    throw StoreError(.cancelled, "The check was cancelled.")
                }
            }.first
        } catch {
            throw error as? StoreError ?? StoreError(.damaged, error.sentence)
        }
    }
}

extension Database {
    /// What is derived from the documents, by collection. Nothing is opened that was not, updated, thrown away or written.
    ///
    /// - Parameters:
    ///   - checking: what to verify; `nil` to read only what indexes there are, in O(number of indexes).
    ///   - progress: called on this thread while something is verified; returns `false` to stop.
    /// - Throws: `DatabaseError`; `StoreError` with `cancelled`. Damage is in the answer.
    package func derivedStores(
        checking: CheckOptions? = nil, progress: ProgressHandler? = nil
    ) throws -> [DerivedStore] {
        var collections: [String: DocumentCollection] = [:]
        for scope in try scopes {
            for collection in try self.collections(scope: scope) {
                collections["\(try collection.snapshot().number)"] = collection
            }
        }
        return try auxiliaryStores.names().map { name in
            try DerivedStore(
                auxiliaryStores, name, collections[name], checking: checking, progress: progress)
        }
    }
}

// MARK: - Build turn

/// The writer's turn, in the order of arrival. A waiting caller can be cancelled, and takes no thread of a pool.
final class BuildTurn: Sendable {
    private struct State {
        var isTaken = false
        /// The waiting callers by number, the lowest first.
        var waiting: [(number: UInt64, signal: DispatchSemaphore)] = []
        var lastNumber: UInt64 = 0
    }

    /// The longest time until a waiting caller notices that its task is cancelled.
    private static let interval = DispatchTimeInterval.milliseconds(20)

    private let state = Mutex(State())

    /// Calls `body` when the turn has come.
    ///
    /// - Throws: what `body` throws; `CancellationError` when the task is cancelled before.
    func take<R>(_ body: () throws -> R) throws -> R {
        let place = state.withLock { state -> (number: UInt64, signal: DispatchSemaphore)? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.lastNumber += 1
            let place = (number: state.lastNumber, signal: DispatchSemaphore(value: 0))
            state.waiting.append(place)
            return place
        }
        if let place { try WorkerPool.waiting { try wait(place.number, place.signal) } }
        defer { pass() }
        return try body()
    }

    private func wait(_ number: UInt64, _ signal: DispatchSemaphore) throws {
        while signal.wait(timeout: .now() + Self.interval) == .timedOut {
            guard Task.isCancelled else { continue }
            // The turn may have come meanwhile.
            let hasLeft = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
                    return false
                }
                state.waiting.remove(at: index)
                return true
            }
            if hasLeft { throw CancellationError() }
        }
    }

    /// Gives the turn to the caller that has waited longest.
    private func pass() {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return
            }
            state.waiting.removeFirst().signal.signal()
        }
    }
}
