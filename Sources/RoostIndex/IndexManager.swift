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
        /// Collections that will be brought up.
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
        // What is left lying is nobody's trouble who reads.
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

    /// Removes, once, the stores of collections that were dropped while nobody looked.
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
        // What goes wrong here goes wrong again for whoever reads, and he is told.
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
