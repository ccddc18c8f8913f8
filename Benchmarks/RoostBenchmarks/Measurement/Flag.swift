import Synchronization

/// Raised once by one thread, seen by others.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() {
        value.store(true, ordering: .relaxed)
    }
}
