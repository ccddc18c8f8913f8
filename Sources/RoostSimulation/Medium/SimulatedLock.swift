import RoostFile

/// A held lock on a simulated disk.
final class SimulatedLock: FileLock {
    private let medium: SimulatedMedium
    private let node: NodeID

    init(_ medium: SimulatedMedium, _ node: NodeID) {
        self.medium = medium
        self.node = node
    }

    deinit {
        medium.withState { $0.locks[node] = nil }
    }
}
