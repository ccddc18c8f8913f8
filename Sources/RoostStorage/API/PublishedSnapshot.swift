import Synchronization

/// The newest commit's snapshot, one for each of a few threads: taking and releasing it counts references, and where two
/// threads count the same ones, each waits for the other's cache line. With one snapshot for all, two threads read
/// little more than one alone.
///
/// An object of its own, so that the commits' queue can publish without a weak reference to the store: an object that has
/// ever had one counts its references at half the speed.
@safe final class PublishedSnapshot: Sendable {
    private static let count = 8
    private let threadNumber = ThreadNumber()
    /// Lives as long as this object.
    private nonisolated(unsafe) let places: UnsafeMutablePointer<Place>

    /// The snapshot of some threads, in a cache line of its own.
    private struct Place: ~Copyable {
        let newest: Mutex<Snapshot>
        private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)

        init(_ snapshot: Snapshot) { newest = Mutex(snapshot) }
    }

    init(_ state: StoreState) {
        unsafe places = .allocate(capacity: PublishedSnapshot.count)
        for index in 0..<PublishedSnapshot.count {
            unsafe (places + index).initialize(to: Place(Snapshot(state: state, isNewest: true)))
        }
    }

    deinit {
        for index in 0..<PublishedSnapshot.count { unsafe places[index].newest.withLock { $0.retire() } }
        unsafe places.deinitialize(count: PublishedSnapshot.count)
        unsafe places.deallocate()
    }

    var snapshot: Snapshot {
        unsafe places[threadNumber.current & (PublishedSnapshot.count - 1)].newest.withLock { $0 }
    }

    /// Puts `state` in the place of what was newest.
    func publish(_ state: StoreState) {
        var snapshots = (0..<PublishedSnapshot.count).map { _ in Snapshot(state: state, isNewest: true) }
        swap(&snapshots, from: 0)
        for old in snapshots { old.retire() }
        // What only the old ones still held is freed outside the locks, where no reader waits for it.
        _ = consume snapshots
    }

    /// Exchanges the snapshots from `index` on while holding the locks of all before: nobody sees the new commit before
    /// everybody does.
    private func swap(_ snapshots: inout [Snapshot], from index: Int) {
        guard index < snapshots.count else { return }
        unsafe places[index].newest.withLock {
            Swift.swap(&$0, &snapshots[index])
            swap(&snapshots, from: index + 1)
        }
    }
}
