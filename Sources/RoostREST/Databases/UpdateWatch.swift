import Dispatch
import Roost
import Synchronization

/// Notes for `_db_updates` that a database has changed, for as long as it is held.
final class UpdateWatch: Sendable {
    private static let queue = DispatchQueue(label: "roost.updates")

    private struct State {
        /// What has the next commit noted.
        var token: ObservationToken?
        /// The sequence up to which changes are noted.
        var sequence: UInt64 = 0
    }

    private let name: String
    private let updates: DatabaseUpdates
    private let state = Mutex(State())

    init(_ name: String, _ database: Database, _ updates: DatabaseUpdates) {
        self.name = name
        self.updates = updates
        guard let collection = try? database.defaultCollection else { return }
        let sequence = (try? collection.snapshot().lastSequence) ?? 0
        state.withLock { $0.sequence = sequence }
        listen(to: collection)
    }

    /// Waits for the next commit. It is noted on a queue, since a commit waits for who is called by it.
    private func listen(to collection: DocumentCollection) {
        // The collection is not held meanwhile: its database closes when nothing else uses it.
        let wake: @Sendable () -> Void = { [weak self, weak database = collection.database] in
            Self.queue.async { [weak self, weak database] in
                guard let self, let collection = try? database?.defaultCollection else { return }
                self.listen(to: collection)
            }
        }
        guard let token = try? collection.onNextChange(wake),
            let sequence = try? collection.snapshot().lastSequence
        else { return }
        // Read after asking, so that no commit slips in between.
        let isNew = state.withLock { state in
            state.token = token
            defer { state.sequence = max(state.sequence, sequence) }
            return sequence > state.sequence
        }
        if isNew { updates.note(.updated, name) }
    }
}
