import Dispatch
import Synchronization

/// Tells those who observe one collection of its changes.
///
/// It keeps no changes. Each listener has a bookmark, the sequence up to which it was told, and the hub reads on from the
/// lowest. So a slow listener costs a bookmark and not a queue, a document that changed many times meanwhile is told of
/// once, and a listener may be added at any time, even while others are told.
final class ChangeHub: Sendable {
    /// Reads changes after a sequence, oldest first.
    typealias Reading = @Sendable (_ since: UInt64, _ limit: Int) throws(DatabaseError) -> [DocumentChange]

    private struct Listener {
        /// It was told of all changes up to here.
        var bookmark: UInt64
        /// How many purges there had been when it was added.
        let earlierPurges: UInt64
        /// The one document to tell of; `nil` for all.
        let document: String?
        let tell: @Sendable ([DocumentChange]) -> Void
        /// Called when the changes can't be read.
        let fail: @Sendable (DatabaseError) -> Void

        /// Those of `changes` that it is to hear of.
        func heard(_ changes: [DocumentChange]) -> [DocumentChange] {
            guard let document else { return changes }
            return changes.filter { $0.id.utf8.elementsEqual(document.utf8) }
        }
    }

    /// A listener, and what it is told now.
    private typealias Call = (tell: @Sendable ([DocumentChange]) -> Void, changes: [DocumentChange])

    private struct State {
        var listeners: [UInt64: Listener] = [:]
        /// Called with the next commit, once.
        var waiters: [UInt64: @Sendable () -> Void] = [:]
        var nextKey: UInt64 = 0
        /// What was purged since listeners were last told, and how many purges that makes in all.
        var purges: [DocumentChange] = []
        var purgeCount: UInt64 = 0
        var isScheduled = false
        /// Whether it is read again after a while, since that failed.
        var isRetrying = false
    }

    private let state = Mutex(State())
    /// Serial, so that no listener is called twice at a time.
    private let queue: DispatchQueue
    private let read: Reading
    private static let pageSize = 500
    private let retryDelay: DispatchTimeInterval

    /// - Parameter retryDelay: After what time it is read again when that has failed.
    init(
        queue: DispatchQueue, retryDelay: DispatchTimeInterval = .seconds(1), read: @escaping Reading
    ) {
        self.queue = queue
        self.retryDelay = retryDelay
        self.read = read
    }

    // MARK: Observing

    /// Adds a listener for changes after `sequence`; answers the key to remove it by.
    func listen(
        since sequence: UInt64, to document: String?,
        failing fail: @escaping @Sendable (DatabaseError) -> Void,
        _ tell: @escaping @Sendable ([DocumentChange]) -> Void
    ) -> UInt64 {
        let key = state.withLock { state in
            state.nextKey += 1
            state.listeners[state.nextKey] = Listener(
                bookmark: sequence, earlierPurges: state.purgeCount, document: document, tell: tell,
                fail: fail)
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

    /// Called after every commit that changed the collection or dropped it.
    func noteCommit(purged: [DocumentChange] = []) {
        let waiters = state.withLock { state in
            let waiters = state.waiters.values
            state.waiters.removeAll()
            state.purgeCount += UInt64(purged.count)
            if !state.listeners.isEmpty { state.purges += purged }
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
        for call in takePurges() { call.tell(call.changes) }
        do throws(DatabaseError) {
            while let bookmark = lowestBookmark {
                let changes = try read(bookmark, Self.pageSize)
                guard let newest = changes.last?.sequence else { return }
                for call in take(changes, after: bookmark, to: newest) { call.tell(call.changes) }
            }
        } catch {
            report(error)
        }
    }

    /// Tells the listeners that the changes can't be read. They keep their bookmarks, and it is read again after a while; but of a
    /// collection that was dropped, or a database that was closed, nothing more comes.
    private func report(_ error: DatabaseError) {
        let isOver = error.isOfMissingCollection || error.code == .closed
        let (listeners, retries) = state.withLock { state in
            let listeners = Array(state.listeners.values)
            if isOver { state.listeners.removeAll() }
            let retries = !isOver && !state.isRetrying
            if retries { state.isRetrying = true }
            return (listeners, retries)
        }
        for listener in listeners { listener.fail(error) }
        guard retries else { return }
        queue.asyncAfter(deadline: .now() + retryDelay) {
            self.state.withLock { $0.isRetrying = false }
            self.schedule()
        }
    }

    private var lowestBookmark: UInt64? { state.withLock { $0.listeners.values.map(\.bookmark).min() } }

    /// Moves bookmarks from `start` or beyond to `end`; answers who is to hear what of the changes in between.
    ///
    /// A listener that was added meanwhile with an earlier bookmark waits for the next page, which begins there.
    private func take(_ changes: [DocumentChange], after start: UInt64, to end: UInt64) -> [Call] {
        state.withLock { state in
            var calls: [Call] = []
            for (key, listener) in state.listeners where (start..<end).contains(listener.bookmark) {
                state.listeners[key]?.bookmark = end
                let heard = listener.heard(changes.filter { $0.sequence > listener.bookmark })
                if !heard.isEmpty { calls.append((listener.tell, heard)) }
            }
            return calls
        }
    }

    /// Takes what was purged; answers who is to hear what of it. Those who came later don't.
    private func takePurges() -> [Call] {
        state.withLock { state in
            state.isScheduled = false
            let first = state.purgeCount - UInt64(state.purges.count)
            var calls: [Call] = []
            for listener in state.listeners.values {
                let earlier = listener.earlierPurges > first ? Int(listener.earlierPurges - first) : 0
                let heard = listener.heard(Array(state.purges.dropFirst(earlier)))
                if !heard.isEmpty { calls.append((listener.tell, heard)) }
            }
            state.purges.removeAll()
            return calls
        }
    }
}
