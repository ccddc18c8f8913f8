import Synchronization

/// The newest snapshot, which everybody shares who takes one.
///
/// An object of its own, so that the commits' queue can publish without a weak reference to the store: an object that has
/// ever had one counts its references at half the speed.
final class PublishedSnapshot: Sendable {
    private let newest: Mutex<Snapshot>

    init(_ state: StoreState) { newest = Mutex(Snapshot(state: state)) }

    var snapshot: Snapshot { newest.withLock { $0 } }

    func publish(_ state: StoreState) {
        var snapshot = Snapshot(state: state)
        // What only the old one still held is freed outside the lock, where no reader waits for it.
        newest.withLock { swap(&$0, &snapshot) }
    }
}
