import Synchronization

/// The databases whose compaction was asked for and is not over, by their own names: so that it is under way for whoever asks
/// directly after.
final class CompactionRequests: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func contains(_ database: String) -> Bool { counts.withLock { $0[database] != nil } }

    func begin(_ database: String) { counts.withLock { $0[database, default: 0] += 1 } }

    func end(_ database: String) {
        counts.withLock { counts in
            guard let count = counts[database] else { return }
            counts[database] = count > 1 ? count - 1 : nil
        }
    }
}
