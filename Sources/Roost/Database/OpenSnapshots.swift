import RoostStorage
import Synchronization

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
