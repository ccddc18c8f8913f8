import RoostFile

/// A held lock on a simulated disk.
final class SimulatedLock: FileLock {
    private let medium: SimulatedMedium
    private let node: NodeID
    private let token: UInt64

    init(_ medium: SimulatedMedium, _ node: NodeID, _ token: UInt64) {
        self.medium = medium
        self.node = node
        self.token = token
    }

    deinit { release() }

    func release() {
        medium.withState { disk in
            if disk.locks[node] == token { disk.locks[node] = nil }
        }
    }
}
