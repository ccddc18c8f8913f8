import Dispatch
import RoostStorage
import Synchronization

/// Tells of all that happens to a database: those who listen to its events, and the hubs of the collections that anybody
/// observes.
final class ChangeNotifier: Sendable {
    private struct State {
        var hubs: [CollectionTrees: ChangeHub] = [:]
        var listeners: [UInt64: @Sendable (DatabaseEvent) -> Void] = [:]
        var nextKey: UInt64 = 0
    }

    private let state = Mutex(State())
    /// Spares commits the lock.
    private let isUsed = Atomic<Bool>(false)
    private let queue = DispatchQueue(label: "roost.changes")

    /// The hub of a collection, made when it is first asked for.
    func hub(_ collection: DocumentCollection) -> ChangeHub {
        isUsed.store(true, ordering: .releasing)
        let core = collection.database.core
        let trees = collection.trees
        return state.withLock { state in
            if let hub = state.hubs[trees] { return hub }
            let hub = ChangeHub(queue: queue) { [weak core] (since, limit) throws(DatabaseError) in
                guard let core else { return [] }
                let reader = CollectionReader(source: core.store.snapshot(), trees: trees)
                return try reader.changes(since: since, limit: limit)
            }
            state.hubs[trees] = hub
            return hub
        }
    }

    /// Adds a listener to all events; answers the key to remove it by.
    func listen(_ listener: @escaping @Sendable (DatabaseEvent) -> Void) -> UInt64 {
        isUsed.store(true, ordering: .releasing)
        return state.withLock { state in
            state.nextKey += 1
            state.listeners[state.nextKey] = listener
            return state.nextKey
        }
    }

    /// Removes a listener.
    func remove(_ key: UInt64) {
        _ = state.withLock { $0.listeners.removeValue(forKey: key) }
    }

    /// Whether anybody has ever asked to be told.
    var hasListeners: Bool { isUsed.load(ordering: .acquiring) }

    // MARK: Telling

    /// Tells of what has happened.
    func tell(_ event: DatabaseEvent) {
        guard hasListeners else { return }
        for listener in state.withLock({ Array($0.listeners.values) }) { listener(event) }
    }

    /// Tells of a commit that changed documents of a collection.
    func tellOfCommit(
        _ name: CollectionName, _ trees: CollectionTrees, _ record: CollectionRecord, purged: [DocumentChange]
    ) {
        guard hasListeners else { return }
        state.withLock { $0.hubs[trees] }?.noteCommit(purged: purged)
        tell(.changed(name, number: record.number, lastSequence: record.lastSequence, purged: purged))
    }

    /// Tells that a collection was dropped: whoever waits for its changes finds that there are none any more.
    func tellOfDrop(_ name: CollectionName, _ trees: CollectionTrees, number: UInt64) {
        guard hasListeners else { return }
        state.withLock { $0.hubs.removeValue(forKey: trees) }?.noteCommit()
        tell(.dropped(name, number: number))
    }

    /// Wakes everybody who waits for a commit, so that they see that a handle was closed, or what another process did.
    func wakeAll() {
        for hub in state.withLock({ Array($0.hubs.values) }) { hub.noteCommit() }
    }
}
