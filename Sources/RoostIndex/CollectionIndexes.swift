import Dispatch
import Roost
import RoostStorage
import Synchronization

/// The indexes of one collection, for all readers and writers of this process.
///
/// They are kept lazily. Who reads one brings it up to the moment that he reads, together with all others of the collection
/// that are known; where only few documents have changed since, these are looked at while reading, and nothing is written.
/// Can be used from any thread: one at a time writes, and a reader waits for no other thread unless what he reads has to be
/// updated first.
package final class CollectionIndexes: Sendable {
    /// Which moment a reader sees.
    package enum Update: Hashable, Sendable {
        /// All that was committed before.
        case now
        /// As the index was kept last, with what changed since where that is little, so that no reader is shown less than was shown
        /// before; nothing where it was never built.
        case never
    }

    /// Which indexes are built that were not yet.
    package enum Building: Sendable {
        case none, all
        case one(String)

        func includes(_ name: String) -> Bool {
            switch self {
            case .none: false
            case .all: true
            case .one(let wanted): ByteKey(wanted) == ByteKey(name)
            }
        }
    }

    /// The number of the collection, which names the store too.
    let number: UInt64
    private let stores: AuxiliaryStores
    private let definitions = Mutex<[ByteKey: IndexDefinition]>([:])
    /// The writer's turn.
    private let turn = BuildTurn()
    private let settings: IndexSettings
    private let running = Mutex<NamedValues<BuildUnderWay>>([:])
    private let recentChanges = Mutex<[ByteKey: RecentChanges]>([:])
    private let updates = Atomic(0)

    init(number: UInt64, stores: AuxiliaryStores, settings: IndexSettings) {
        self.number = number
        self.stores = stores
        self.settings = settings
    }

    private var storeName: String { "\(number)" }

    // MARK: Definitions

    /// Makes an index known, in the place of another one of that name. It is built when it is first read, or by ``update(_:building:)``.
    package func define(_ definition: IndexDefinition) {
        precondition(definition.name.utf8.count <= 1_000, "a name of at most 1,000 bytes")
        definitions.withLock { $0[ByteKey(definition.name)] = definition }
    }

    /// Forgets an index, and drops its rows.
    package func drop(_ name: String) throws {
        _ = definitions.withLock { $0.removeValue(forKey: ByteKey(name)) }
        _ = recentChanges.withLock { $0.removeValue(forKey: ByteKey(name)) }
        try turn.take {
            guard let indexes = try open(), indexes.isWritable else { return }
            try indexes.drop(name)
        }
    }

    // MARK: Reading

    /// Calls `body` with an index as of a moment; again, if what is kept turns out to be of no use meanwhile.
    ///
    /// Nothing that is wrong with what is kept is the caller's: what is damaged is thrown away and rebuilt, and where the
    /// index can't be kept, as on a full disk, it is made of all documents for this once.
    ///
    /// - Parameters:
    ///   - definition: the index; known from then on.
    ///   - collection: the collection that these are the indexes of.
    ///   - snapshot: the moment; `nil` for the present.
    ///   - update: whether the index has to show all of that moment.
    /// - Throws: `DatabaseError` of the documents, and what the index's functions throw.
    package func read<R>(
        _ definition: IndexDefinition, of collection: DocumentCollection,
        at snapshot: CollectionSnapshot? = nil,
        update: Update = .now, _ body: (IndexReader) throws -> R
    ) throws -> R {
        try readStored(definition, of: collection, at: snapshot, update: update) { kept in
            try body(try reader(definition, kept))
        }
    }

    /// Calls `body` with what an index has kept, for one that has something else than rows: see ``read(_:of:at:update:_:)``.
    package func readStored<R>(
        _ definition: IndexDefinition, of collection: DocumentCollection,
        at snapshot: CollectionSnapshot? = nil,
        update: Update = .now, _ body: (StoredIndex) throws -> R
    ) throws -> R {
        define(definition)
        for _ in 0..<2 {
            do {
                guard var kept = try kept(definition, collection, snapshot, update) else { break }
                kept.memoryLimit = settings.overlayMemory
                return try body(kept)
            } catch let error as StoreError {
                // Damage of the documents would be a DatabaseError.
                if error.code == .damaged { try? discard(becauseOf: error) }
            }
        }
        var none = StoredIndex(try snapshot ?? collection.snapshot(), changed: update == .never ? [] : nil)
        none.memoryLimit = settings.overlayMemory
        return try body(none)
    }

    private func reader(_ definition: IndexDefinition, _ kept: StoredIndex) throws -> IndexReader {
        var overlay = IndexOverlay.none
        if let changed = kept.changed {
            if !changed.isEmpty { overlay = try IndexOverlay(changed, definition, over: kept) }
        } else {
            overlay = try IndexOverlay(all: kept, definition) { try Task.checkCancellation() }
        }
        return IndexReader(
            kept.collection, sequence: kept.sequence, rows: kept.rows, overlay: overlay,
            reduction: definition.reduction)
    }

    /// Throws the collection's derived data away, to be rebuilt.
    package func discard(becauseOf error: StoreError) throws {
        recentChanges.withLock { $0 = [:] }
        try turn.take { try stores.drop(storeName, becauseOf: error.message) }
    }

    /// What is kept of the index with what has changed since; `nil` where it can't be brought near enough to the moment.
    private func kept(
        _ definition: IndexDefinition, _ collection: DocumentCollection, _ snapshot: CollectionSnapshot?,
        _ update: Update
    ) throws -> StoredIndex? {
        if update == .never {
            return try asKept(definition, collection, try snapshot ?? collection.snapshot())
        }
        var limit = settings.overlayLimit
        for _ in 0..<Self.attempts {
            // The index first, so that it is never ahead of a present that is taken then.
            guard let indexes = try openIfPossible() else { return nil }
            let store = indexes.store.snapshot()
            let moment = try snapshot ?? collection.snapshot()
            if let record = try usable(definition, at: moment, indexes, store), record.phase == .complete,
                let changed = try changes(between: record, and: moment, collection, limit: limit)
            {
                return try StoredIndex(moment, store, record, changed, recentChanges(of: definition))
            }
            guard indexes.isWritable else { return nil }
            try self.update(collection, building: .one(definition.name), isAwaited: true)
            // Writers may be faster than the index, and a moment in the past may be far from it.
            limit = limit.addingReportingOverflow(limit).partialValue
        }
        return nil
    }

    private static let attempts = 8

    /// The index as it was kept last, with what changed since where that is little; `nil` where it was never built.
    private func asKept(
        _ definition: IndexDefinition, _ collection: DocumentCollection, _ moment: CollectionSnapshot
    ) throws -> StoredIndex? {
        guard let indexes = try openIfPossible() else { return nil }
        let store = indexes.store.snapshot()
        guard let record = try usable(definition, at: moment, indexes, store), record.phase == .complete
        else { return nil }
        let changed = try changes(between: record, and: moment, collection, limit: settings.overlayLimit)
        return try StoredIndex(moment, store, record, changed ?? [], recentChanges(of: definition))
    }

    private func recentChanges(of definition: IndexDefinition) -> RecentChanges {
        recentChanges.withLock { known in
            let name = ByteKey(definition.name)
            if let found = known[name] { return found }
            let made = RecentChanges()
            known[name] = made
            return made
        }
    }

    /// The documents that may be other ones in the index than at that moment; `nil` for more than `limit` or when that is
    /// not known any more.
    private func changes(
        between record: IndexRecord, and moment: CollectionSnapshot, _ collection: DocumentCollection,
        limit: Int
    ) throws -> Set<ByteKey>? {
        var later = moment
        if record.isAhead(of: later) { later = try collection.snapshot() }
        if record.isAhead(of: later), try collection.database.refresh() {
            later = try collection.snapshot()
        }
        if IndexFailpoint.forgottenChanges.isActive, !record.isAhead(of: moment) { return [] }
        if IndexFailpoint.laterRows.isActive, record.isAhead(of: moment) { return [] }
        let since = min(record.sequence, moment.lastSequence)
        if record.isCurrent(at: moment) { return [] }
        guard !record.isAhead(of: later), later.epoch == moment.epoch,
            try later.changeCount(since: since) <= UInt64(limit),
            let purges = try later.purges(since: min(record.purge, moment.purgeSequence))
        else { return nil }
        return Set(try later.changes(since: since).map { ByteKey($0.id) }).union(
            purges.map { ByteKey($0.id) })
    }

    /// The record of the index, if it belongs to this definition and this history.
    private func usable(
        _ definition: IndexDefinition, at moment: CollectionSnapshot, _ indexes: IndexStore, _ store: Snapshot
    ) throws(StoreError) -> IndexRecord? {
        guard let record = try indexes.record(definition.name, in: store), record.epoch == moment.epoch,
            record.signature.elementsEqual(definition.signature.utf8)
        else { return nil }
        if let reduction = definition.storedReduction(of: record.number) {
            indexes.store.register(reduction)
        }
        return record
    }

    /// The store; `nil` also where it can't be opened or made.
    private func openIfPossible() throws(DatabaseError) -> IndexStore? {
        do throws(DatabaseError) {
            return try open()
        } catch {
            guard error.code != .closed else { throw error }
            return nil
        }
    }

    private func open() throws(DatabaseError) -> IndexStore? {
        try stores.store(storeName).map { store in
            if store.isReadOnly { _ = try? store.refresh() }
            return IndexStore(store: store)
        }
    }

    // MARK: Upkeep

    /// Brings indexes up to the present: builds those that have to be, and catches up with all.
    ///
    /// - Parameters:
    ///   - collection: the collection that these are the indexes of.
    ///   - building: which of the indexes that were not built yet are built.
    ///   - isAwaited: whether a reader waits, so that nothing else is done.
    /// - Throws: `CancellationError` when the task was cancelled. What was done so far stays.
    package func update(
        _ collection: DocumentCollection, building: Building = .all, isAwaited: Bool = false
    ) throws {
        try turn.take {
            defer { updates.add(1, ordering: .releasing) }
            guard let indexes = try open(), indexes.isWritable else { return }
            let moment = try collection.snapshot()
            // The documents must not lose what the index has seen of them.
            if collection.database.store.durability != .full, !IndexFailpoint.unsyncedDocuments.isActive {
                try collection.database.store.sync()
            }
            var items: [IndexCatchUp.Item] = []
            let known = definitions.withLock { $0.sorted { $0.key < $1.key } }
            for definition in known.map(\.value) {
                let isWanted = building.includes(definition.name)
                let record = try record(
                    of: definition, to: moment, indexes, isWanted: isWanted, now: collection.database.now)
                guard let record, record.isBehind(moment) || definition.maintainer != nil && !isAwaited else {
                    continue
                }
                items.append(IndexCatchUp.Item(definition: definition, record: record))
            }
            do {
                try catchUp(items, indexes, moment, isAwaited)
            } catch {
                // Functions of another index that fail are not the caller's trouble.
                guard case .one = building, items.count > 1, !(error is CancellationError) else {
                    throw error
                }
                try catchUp(
                    items.filter { building.includes($0.definition.name) }, indexes, moment, isAwaited)
            }
            // The indexes have learnt of these changes themselves.
            recentChanges.withLock { $0 = [:] }
        }
    }

    /// How often indexes were updated in this process: one that looks at changes besides may need them no more after that.
    package var updateCount: Int { updates.load(ordering: .acquiring) }

    /// Brings indexes that are complete up to a moment.
    private func catchUp(
        _ items: [IndexCatchUp.Item], _ indexes: IndexStore, _ moment: CollectionSnapshot, _ isAwaited: Bool
    ) throws {
        try IndexCatchUp(indexes: indexes, snapshot: moment) { try Task.checkCancellation() }
            .run(items.filter { $0.definition.maintainer == nil })
        for definition in items.map(\.definition) {
            // The record as it is now: this may be the second attempt.
            guard let maintainer = definition.maintainer,
                let record = try usable(definition, at: moment, indexes, indexes.store.snapshot())
            else { continue }
            _ = try upkeep(definition, indexes, record, moment, isAwaited: isAwaited).run(maintainer)
        }
    }

    /// As ``update(_:building:)`` with one index to build, at another time on another thread.
    package func updateLater(_ collection: DocumentCollection, _ name: String) {
        DispatchQueue.global(qos: .utility).async { try? self.update(collection, building: .one(name)) }
    }

    /// The record of an index that is complete; builds it if it is wanted.
    private func record(
        of definition: IndexDefinition, to moment: CollectionSnapshot, _ indexes: IndexStore, isWanted: Bool,
        now: UInt64
    ) throws -> IndexRecord? {
        var known = try usable(definition, at: moment, indexes, indexes.store.snapshot())
        // An older file of the documents was put in the place of the one that the rows were made of.
        if let record = known, try record.isAhead(of: moment) || moment.purges(since: record.purge) == nil {
            known = nil
        }
        if let known, known.phase == .complete { return known }
        guard isWanted else { return nil }
        let start =
            try known
            ?? indexes.begin(
                definition, epoch: moment.epoch,
                sequence: definition.maintainer == nil ? moment.lastSequence : 0,
                purge: moment.purgeSequence)
        let underWay = BuildUnderWay(start: now, total: UInt64(moment.count))
        running.withLock { $0[definition.name] = underWay }
        defer { _ = running.withLock { $0.removeValue(forKey: definition.name) } }
        let built = try build(definition, indexes, start, moment)
        // What was spilled and merged takes several times the room of the index. It may stay for now.
        try? indexes.store.compact(below: Self.leastLiving)
        return built
    }

    /// The part of the file that lives at least when a build is done.
    private static let leastLiving = 2.0 / 3

    private func build(
        _ definition: IndexDefinition, _ indexes: IndexStore, _ start: IndexRecord,
        _ moment: CollectionSnapshot
    ) throws -> IndexRecord {
        if let maintainer = definition.maintainer {
            return try upkeep(definition, indexes, start, moment).run(maintainer)
        }
        let build = IndexBuild(
            indexes: indexes, definition: definition, snapshot: moment, memoryLimit: settings.buildMemory
        ) { mapped in
            try Task.checkCancellation()
            self.note(mapped, of: definition.name)
        }
        return try build.run(start)
    }

    private func upkeep(
        _ definition: IndexDefinition, _ indexes: IndexStore, _ record: IndexRecord,
        _ moment: CollectionSnapshot, isAwaited: Bool = false
    ) throws -> IndexUpkeep {
        try IndexUpkeep(
            indexes, definition.name, record, moment, isAwaited: isAwaited, memoryLimit: settings.buildMemory
        ) { done in
            try Task.checkCancellation()
            self.note(done, of: definition.name)
        }
    }

    private func note(_ mapped: UInt64, of name: String) { running.withLock { $0[name]?.mapped = mapped } }

    /// The indexes that are being built, by name.
    package var builds: NamedValues<BuildUnderWay> { running.withLock { $0 } }

    /// The indexes that are kept, by name.
    package func statuses() throws -> [IndexStatus] {
        guard let indexes = try open() else { return [] }
        return try indexes.statuses()
    }
}

// MARK: - Build under way

/// How far an index is that is being built.
package struct BuildUnderWay: Hashable, Sendable {
    /// When that began, in microseconds since 1970.
    package let start: UInt64
    /// How many documents there are to map.
    package let total: UInt64
    /// How many were mapped.
    package var mapped: UInt64 = 0
}
