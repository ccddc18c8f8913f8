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
        let snapshot = Snapshot(state: state)
        newest.withLock { $0 = snapshot }
    }
}
