import Dispatch
import RoostStorage
import Synchronization

/// Tells of all that happens to a database: those who listen to its events, and the hubs of the collections that anybody
/// observes.
final class ChangeNotifier: Sendable {
    private struct State {
        var hubs: [CollectionTrees: ChangeHub] = [:]
        var listeners: [UInt64: @Sendable (DatabaseEvent) -> Void] = [:]
        var nextKey: UInt64 = 0
    }

    private let state = Mutex(State())
    /// Spares commits the lock.
    private let isUsed = Atomic<Bool>(false)
    private let queue = DispatchQueue(label: "roost.changes")

    /// The hub of a collection, made when it is first asked for.
    func hub(_ collection: DocumentCollection) -> ChangeHub {
        isUsed.store(true, ordering: .releasing)
        let core = collection.database.core
        let trees = collection.trees
        return state.withLock { state in
            if let hub = state.hubs[trees] { return hub }
            let hub = ChangeHub(queue: queue) { [weak core] (since, limit) throws(DatabaseError) in
                guard let core else { return [] }
                let reader = CollectionReader(source: core.store.snapshot(), trees: trees)
                return try reader.changes(since: since, limit: limit)
            }
            state.hubs[trees] = hub
            return hub
        }
    }

    /// Adds a listener to all events; answers the key to remove it by.
    func listen(_ listener: @escaping @Sendable (DatabaseEvent) -> Void) -> UInt64 {
        isUsed.store(true, ordering: .releasing)
        return state.withLock { state in
            state.nextKey += 1
            state.listeners[state.nextKey] = listener
            return state.nextKey
        }
    }

    /// Removes a listener.
    func remove(_ key: UInt64) {
        _ = state.withLock { $0.listeners.removeValue(forKey: key) }
    }

    /// Whether anybody has ever asked to be told.
    var hasListeners: Bool { isUsed.load(ordering: .acquiring) }

    // MARK: Telling

    /// Tells of what has happened.
    func tell(_ event: DatabaseEvent) {
        guard hasListeners else { return }
        for listener in state.withLock({ Array($0.listeners.values) }) { listener(event) }
    }

    /// Tells of a commit that changed documents of a collection.
    func tellOfCommit(
        _ name: CollectionName, _ trees: CollectionTrees, _ record: CollectionRecord, purged: [DocumentChange]
    ) {
        guard hasListeners else { return }
        state.withLock { $0.hubs[trees] }?.noteCommit(purged: purged)
        tell(.changed(name, number: record.number, lastSequence: record.lastSequence, purged: purged))
    }

    /// Tells that a collection was dropped: whoever waits for its changes finds that there are none any more.
    func tellOfDrop(_ name: CollectionName, _ trees: CollectionTrees, number: UInt64) {
        guard hasListeners else { return }
        state.withLock { $0.hubs.removeValue(forKey: trees) }?.noteCommit()
        tell(.dropped(name, number: number))
    }

    /// Wakes everybody who waits for a commit, so that they see that a handle was closed, or what another process did.
    func wakeAll() {
        for hub in state.withLock({ Array($0.hubs.values) }) { hub.noteCommit() }
    }
}

// MARK: - ChangeHub

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

// MARK: - DatabaseEvent

/// What has happened to a database, for what is derived from its documents: indexes, live queries, feeds of other
/// protocols.
package enum DatabaseEvent: Sendable {
    /// A commit changed or purged documents of a collection.
    ///
    /// - Parameters:
    ///   - collection: The collection's name.
    ///   - number: Tells it from others of that name that were dropped, or will be made.
    ///   - lastSequence: Its update sequence after the commit. Commits that end at the same time may be told in either
    ///     order.
    ///   - purged: What was purged, oldest first; see ``DocumentChange/isPurged``.
    case changed(_ collection: CollectionName, number: UInt64, lastSequence: UInt64, purged: [DocumentChange])
    /// A collection was dropped.
    case dropped(_ collection: CollectionName, number: UInt64)
    /// Another process has committed, which a handle for reading has taken in.
    case refreshed
    /// The database has another key, or none.
    case keyChanged
    /// The last handle is being closed; nothing more will be told.
    case closed
}

extension Database {
    /// Has `listener` called with all that happens to the database from now on, through any handle in this process.
    ///
    /// It is called on the thread that made the change, once that is durable and can be read: take a note or wake
    /// somebody, no more.
    ///
    /// - Returns: What keeps the listener registered.
    package func observeEvents(_ listener: @escaping @Sendable (DatabaseEvent) -> Void) -> ObservationToken {
        let notifier = core.notifier
        let key = notifier.listen(listener)
        return ObservationToken { notifier.remove(key) }
    }
}

// MARK: - Following

/// Where processes take turns to write: what others have committed.
extension DatabaseCore {
    /// Takes in what other processes have committed, and tells of it; whether there was anything new. Within a transaction, which
    /// began with the newest, it does nothing.
    func refresh() throws(DatabaseError) -> Bool {
        if isWriting { return false }
        return try translating { () throws(StoreError) in try store.refresh() }
    }

    /// Has those who listen told of what other processes commit, whenever the store catches up with that.
    func followOthers() {
        store.whenCaughtUp { [weak self] before, now in self?.tellOfOthers(since: before, now) }
    }

    private func tellOfOthers(since before: Snapshot, _ now: Snapshot) {
        // The first that expires may be another document now.
        expirations.schedule(at: 0, self)
        guard notifier.hasListeners else { return }
        do throws(DatabaseError) {
            let present = try records(in: now)
            for (name, old) in try records(in: before) {
                guard let trees = CollectionTrees(number: old.number, in: before) else { continue }
                guard let new = present[name], new.number == old.number else {
                    notifier.tellOfDrop(name, trees, number: old.number)
                    continue
                }
                guard new != old else { continue }
                let purges = try CollectionReader(source: now, trees: trees).purges(since: old.lastPurge)
                notifier.tellOfCommit(name, trees, new, purged: purges.compactMap(\.change))
            }
        } catch {
            // Whoever reads is told what is wrong.
            notifier.wakeAll()
            notifier.tell(.refreshed)
        }
    }

    private func records(in snapshot: Snapshot) throws(DatabaseError) -> [CollectionName: CollectionRecord] {
        let cursor = try translating { () throws(StoreError) in
            try snapshot[catalog].cursor(Catalog.collections)
        }
        var records: [CollectionName: CollectionRecord] = [:]
        while try translating({ () throws(StoreError) in try cursor.next() }) {
            let bytes = try translating { () throws(StoreError) in try cursor.value() }
            records[try Catalog.name(cursor.key)] = try CollectionRecord(bytes)
        }
        return records
    }
}

extension Purge {
    /// As listeners hear of it.
    fileprivate var change: DocumentChange? {
        revisions.first.map { DocumentChange(id: id, sequence: 0, revision: $0, flags: [], isPurged: true) }
    }
}
