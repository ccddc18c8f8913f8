import Dispatch
import Roost
import RoostStorage
import Synchronization

/// The indexes of one collection, for all who use them in this process.
///
/// They are kept lazily. Who reads one brings it up to the moment that he reads, together with all others of the collection
/// that are known; where only few documents have changed since, these are looked at while reading, and nothing is written.
/// Can be used from any thread: one at a time writes, and who only reads waits for nobody unless what he reads has to be
/// brought up first.
package final class CollectionIndexes: Sendable {
    /// Which moment a reader sees.
    package enum Update: Hashable, Sendable {
        /// All that was committed before.
        case now
        /// As the index was kept last; nothing where it was never built.
        case never
    }

    /// Which indexes are built that were not yet.
    package enum Building: Hashable, Sendable {
        case none, all
        case one(String)
    }

    /// The number of the collection, which names the store too.
    let number: UInt64
    private let stores: AuxiliaryStores
    private let definitions = Mutex<[String: IndexDefinition]>([:])
    /// The turn of the one who writes.
    private let turn = DispatchSemaphore(value: 1)
    private let settings: IndexSettings
    private let progress = Mutex<[String: UInt64]>([:])

    init(number: UInt64, stores: AuxiliaryStores, settings: IndexSettings) {
        self.number = number
        self.stores = stores
        self.settings = settings
    }

    private var storeName: String { "\(number)" }

    // MARK: Definitions

    /// Makes an index known, in the place of another one of that name. It is built when it is first read, or by ``update(to:)``.
    package func define(_ definition: IndexDefinition) {
        precondition(definition.name.utf8.count <= 1_000, "a name of at most 1,000 bytes")
        definitions.withLock { $0[definition.name] = definition }
    }

    /// Forgets an index, and drops its rows.
    package func drop(_ name: String) throws {
        _ = definitions.withLock { $0.removeValue(forKey: name) }
        try withTurn {
            guard let indexes = try open(), indexes.isWritable else { return }
            try indexes.drop(name)
        }
    }

    // MARK: Reading

    /// Calls `body` with an index as of a moment. What is found damaged is thrown away and made anew, once.
    ///
    /// - Parameters:
    ///   - definition: the index; known from then on.
    ///   - collection: the collection that these are the indexes of.
    ///   - snapshot: the moment; `nil` for the present.
    ///   - update: whether the index has to show all of that moment.
    package func read<R>(
        _ definition: IndexDefinition, of collection: DocumentCollection,
        at snapshot: CollectionSnapshot? = nil,
        update: Update = .now, _ body: (IndexReader) throws -> R
    ) throws -> R {
        define(definition)
        do {
            return try body(try reader(definition, collection, snapshot, update))
        } catch let error as StoreError where error.code == .damaged {
            // Damage of the documents would be a DatabaseError.
            try discard(becauseOf: error)
            return try body(try reader(definition, collection, snapshot, update))
        }
    }

    /// Throws the collection's derived data away, to be made anew.
    package func discard(becauseOf error: StoreError) throws {
        try withTurn { try stores.drop(storeName, becauseOf: error.message) }
    }

    private func reader(
        _ definition: IndexDefinition, _ collection: DocumentCollection, _ snapshot: CollectionSnapshot?,
        _ update: Update
    ) throws -> IndexReader {
        if update == .never { return try keptReader(definition, try snapshot ?? collection.snapshot()) }
        var limit = settings.overlayLimit
        for _ in 0..<Self.attempts {
            // The index first, so that it is never ahead of a present that is taken then.
            let kept = try open().map { ($0, $0.store.snapshot()) }
            let moment = try snapshot ?? collection.snapshot()
            if let (indexes, store) = kept,
                let reader = try reader(definition, collection, moment, indexes, store, limit: limit)
            {
                return reader
            }
            guard kept?.0.isWritable == true else { break }
            try self.update(collection, to: moment, building: .one(definition.name))
            // Writers may be faster than the index, and a moment in the past may be far from it.
            limit = limit.addingReportingOverflow(limit).partialValue
        }
        // Nothing that is kept can show this moment.
        let moment = try snapshot ?? collection.snapshot()
        return IndexReader(
            moment, sequence: moment.lastSequence, rows: nil,
            overlay: try IndexOverlay(all: moment, definition) { try Task.checkCancellation() },
            reduction: definition.reduction)
    }

    private static let attempts = 8

    /// The index as it was kept last, with no rows where it was never built.
    private func keptReader(_ definition: IndexDefinition, _ moment: CollectionSnapshot) throws -> IndexReader
    {
        if let indexes = try open() {
            let store = indexes.store.snapshot()
            if let record = try usable(definition, at: moment, indexes, store), record.phase == .complete {
                return try reader(definition, moment, store, record, .none)
            }
        }
        return IndexReader(moment, sequence: 0, rows: nil, overlay: .none, reduction: definition.reduction)
    }

    private func reader(
        _ definition: IndexDefinition, _ snapshot: CollectionSnapshot, _ store: Snapshot,
        _ record: IndexRecord,
        _ overlay: IndexOverlay
    ) throws -> IndexReader {
        guard let tree = store.tree(IndexTrees.rows(record.number)) else {
            throw IndexStore.malformed("an index without its trees")
        }
        return IndexReader(
            snapshot, sequence: record.sequence, rows: try store[tree], overlay: overlay,
            reduction: definition.reduction)
    }

    /// The index as of `moment`, if what is kept is not too far from it.
    private func reader(
        _ definition: IndexDefinition, _ collection: DocumentCollection, _ moment: CollectionSnapshot,
        _ indexes: IndexStore, _ store: Snapshot, limit: Int
    ) throws -> IndexReader? {
        guard let record = try usable(definition, at: moment, indexes, store), record.phase == .complete,
            let changed = try changes(between: record, and: moment, collection, limit: limit)
        else { return nil }
        let overlay =
            changed.isEmpty
            ? .none : try IndexOverlay(changed, in: moment, definition, over: store, record)
        return try reader(definition, moment, store, record, overlay)
    }

    /// The documents that may be other ones in the index than at that moment; `nil` for more than `limit` or when that is
    /// not known any more.
    private func changes(
        between record: IndexRecord, and moment: CollectionSnapshot, _ collection: DocumentCollection,
        limit: Int
    ) throws -> Set<String>? {
        let isAhead = record.sequence > moment.lastSequence || record.purge > moment.purgeSequence
        let later = isAhead ? try collection.snapshot() : moment
        let since = min(record.sequence, moment.lastSequence)
        guard later.epoch == moment.epoch, try later.changeCount(since: since) <= UInt64(limit),
            let purges = try later.purges(since: min(record.purge, moment.purgeSequence))
        else { return nil }
        return Set(try later.changes(since: since).map(\.id)).union(purges.map(\.id))
    }

    /// The record of the index, if it belongs to this definition and this history.
    private func usable(
        _ definition: IndexDefinition, at moment: CollectionSnapshot, _ indexes: IndexStore, _ store: Snapshot
    ) throws(StoreError) -> IndexRecord? {
        guard let record = try indexes.record(definition.name, in: store), record.epoch == moment.epoch,
            record.signature.elementsEqual(definition.signature.utf8)
        else { return nil }
        if let reduction = definition.reduction { indexes.store.register(reduction.stored) }
        return record
    }

    private func open() throws(DatabaseError) -> IndexStore? {
        try stores.store(storeName).map { store in
            if store.isReadOnly { _ = try? store.refresh() }
            return IndexStore(store: store)
        }
    }

    // MARK: Upkeep

    /// Brings indexes up to a moment, or a later one: builds those that have to be, and catches up with all.
    ///
    /// - Parameters:
    ///   - collection: the collection that these are the indexes of.
    ///   - moment: which; `nil` for the present.
    ///   - building: which of the indexes that were not built yet are built.
    /// - Throws: `CancellationError` when the task was cancelled. What was done so far stays.
    package func update(
        _ collection: DocumentCollection, to moment: CollectionSnapshot? = nil, building: Building = .all
    ) throws {
        try withTurn {
            guard let indexes = try open(), indexes.isWritable else { return }
            let moment = try moment ?? collection.snapshot()
            // The documents must not lose what the index has seen of them.
            if collection.database.store.durability != .full { try collection.database.store.sync() }
            var items: [IndexCatchUp.Item] = []
            for definition in definitions.withLock({ Array($0.values) }).sorted(by: { $0.name < $1.name }) {
                let isWanted = building == .all || building == .one(definition.name)
                let record = try record(of: definition, to: moment, indexes, isWanted: isWanted)
                guard let record, record.sequence < moment.lastSequence || record.purge < moment.purgeSequence
                else { continue }
                items.append(IndexCatchUp.Item(definition: definition, record: record))
            }
            try IndexCatchUp(indexes: indexes, snapshot: moment) { try Task.checkCancellation() }.run(items)
        }
    }

    /// As ``update(_:to:building:)`` with one index to build, at another time on another thread.
    package func updateLater(_ collection: DocumentCollection, _ name: String) {
        DispatchQueue.global(qos: .utility).async { try? self.update(collection, building: .one(name)) }
    }

    /// The record of an index that is complete; builds it if it is wanted.
    private func record(
        of definition: IndexDefinition, to moment: CollectionSnapshot, _ indexes: IndexStore, isWanted: Bool
    ) throws -> IndexRecord? {
        var known = try usable(definition, at: moment, indexes, indexes.store.snapshot())
        if let record = known, try moment.purges(since: record.purge) == nil { known = nil }
        if let known, known.phase == .complete { return known }
        guard isWanted else { return nil }
        let start =
            try known
            ?? indexes.begin(
                definition, epoch: moment.epoch, sequence: moment.lastSequence, purge: moment.purgeSequence)
        defer { _ = progress.withLock { $0.removeValue(forKey: definition.name) } }
        let build = IndexBuild(
            indexes: indexes, definition: definition, snapshot: moment, memoryLimit: settings.buildMemory
        ) { mapped in
            try Task.checkCancellation()
            self.progress.withLock { $0[definition.name] = mapped }
        }
        return try build.run(start)
    }

    /// How many documents a build under way has mapped; `nil` while there is none.
    package func progress(of name: String) -> UInt64? { progress.withLock { $0[name] } }

    /// The indexes that are kept, by name.
    package func statuses() throws -> [IndexStatus] {
        guard let indexes = try open() else { return [] }
        return try indexes.statuses()
    }

    private func withTurn<R>(_ body: () throws -> R) rethrows -> R {
        turn.wait()
        defer { turn.signal() }
        return try body()
    }
}
