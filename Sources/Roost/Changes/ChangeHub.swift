import Dispatch
import RoostStorage
import Synchronization

/// Tells those who observe one collection of its changes.
///
/// It keeps no changes. It remembers up to which sequence its listeners were told and reads on from there, so that a
/// slow listener costs a bookmark and not a queue, and a document that changed many times meanwhile is told of once.
final class ChangeHub: Sendable {
    /// Reads changes after a sequence, oldest first.
    typealias Reading = @Sendable (_ since: UInt64, _ limit: Int) throws(DatabaseError) -> [Change]

    private struct Listener {
        /// Told of changes after this sequence only.
        let since: UInt64
        /// The one document to tell of; `nil` for all.
        let document: String?
        let tell: @Sendable ([Change]) -> Void
    }

    private struct State {
        var listeners: [UInt64: Listener] = [:]
        /// Called with the next commit, once.
        var waiters: [UInt64: @Sendable () -> Void] = [:]
        var nextKey: UInt64 = 0
        /// Everything up to here was told.
        var bookmark: UInt64 = 0
        /// What was purged since listeners were last told, by ID.
        var purged: [String: Change] = [:]
        var isScheduled = false
    }

    private let state = Mutex(State())
    private let queue: DispatchQueue
    private let read: Reading
    private static let pageSize = 500

    init(queue: DispatchQueue, read: @escaping Reading) {
        self.queue = queue
        self.read = read
    }

    /// Whether anybody listens, and would hear of purges.
    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    // MARK: Observing

    /// Adds a listener for changes after `sequence`; answers the key to remove it by.
    func listen(
        since sequence: UInt64, to document: String?, _ tell: @escaping @Sendable ([Change]) -> Void
    ) -> UInt64 {
        let key = state.withLock { state in
            if state.listeners.isEmpty { state.bookmark = sequence }
            state.bookmark = min(state.bookmark, sequence)
            state.nextKey += 1
            state.listeners[state.nextKey] = Listener(since: sequence, document: document, tell: tell)
            return state.nextKey
        }
        schedule()
        return key
    }

    /// Has `wake` called with the next commit that changes the collection; answers the key to take that back by.
    func wait(_ wake: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.nextKey += 1
            state.waiters[state.nextKey] = wake
            return state.nextKey
        }
    }

    /// Removes a listener or a waiter.
    func remove(_ key: UInt64) {
        state.withLock { state in
            state.listeners[key] = nil
            state.waiters[key] = nil
        }
    }

    // MARK: Telling

    /// Called after every commit that changed the collection.
    func noteCommit(purged: [Change]) {
        let waiters = state.withLock { state in
            let waiters = state.waiters.values
            state.waiters.removeAll()
            if !state.listeners.isEmpty {
                for change in purged { state.purged[change.id] = change }
            }
            return Array(waiters)
        }
        for wake in waiters { wake() }
        schedule()
    }

    private func schedule() {
        let isNeeded = state.withLock { state in
            guard !state.listeners.isEmpty, !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        if isNeeded { queue.async { self.tellAll() } }
    }

    private func tellAll() {
        let (bookmark, purged) = state.withLock { state in
            state.isScheduled = false
            defer { state.purged.removeAll() }
            return (state.bookmark, Array(state.purged.values))
        }
        if !purged.isEmpty { tell(purged) }
        var last = bookmark
        // A collection that was dropped or closed has nothing more to tell.
        while let changes = try? read(last, Self.pageSize), let newest = changes.last {
            tell(changes)
            last = newest.sequence
        }
        state.withLock { $0.bookmark = max($0.bookmark, last) }
    }

    private func tell(_ changes: [Change]) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners {
            let heard = changes.filter { change in
                (change.isPurged || change.sequence > listener.since)
                    && (listener.document.map { $0.utf8.elementsEqual(change.id.utf8) } ?? true)
            }
            if !heard.isEmpty { listener.tell(heard) }
        }
    }
}
