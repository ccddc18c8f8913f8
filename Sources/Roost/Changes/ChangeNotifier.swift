import Dispatch
import RoostStorage
import Synchronization

/// The hubs of those collections of a database that anybody observes.
final class ChangeNotifier: Sendable {
    private let hubs = Mutex<[CollectionTrees: ChangeHub]>([:])
    private let isUsed = Atomic<Bool>(false)
    private let queue = DispatchQueue(label: "roost.changes")

    /// The hub of a collection, made when it is first asked for.
    func hub(_ collection: DocumentCollection) -> ChangeHub {
        isUsed.store(true, ordering: .releasing)
        let core = collection.database.core
        let trees = collection.trees
        return hubs.withLock { hubs in
            if let hub = hubs[trees] { return hub }
            let hub = ChangeHub(queue: queue) { [weak core] (since, limit) throws(DatabaseError) in
                guard let core else { return [] }
                let reader = CollectionReader(source: core.store.snapshot(), trees: trees)
                return try reader.changes(since: since, limit: limit)
            }
            hubs[trees] = hub
            return hub
        }
    }

    /// The hub of a collection, if anybody has observed it.
    func existingHub(_ trees: CollectionTrees) -> ChangeHub? {
        guard isUsed.load(ordering: .acquiring) else { return nil }
        return hubs.withLock { $0[trees] }
    }

    /// Wakes everybody who waits for a commit, so that they see that a handle was closed.
    func wakeAll() {
        for hub in hubs.withLock({ Array($0.values) }) { hub.noteCommit(purged: []) }
    }
}
