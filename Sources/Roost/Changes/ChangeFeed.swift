import Synchronization

/// The changes of a collection, past and to come, as an asynchronous sequence that does not end by itself.
///
/// ```swift
/// for try await change in notes.changes(since: bookmark) {
///     …
///     bookmark = change.sequence
/// }
/// ```
///
/// It reads the changes from the database as they are asked for and keeps a bookmark, not a queue: a consumer may take as
/// long as it likes. Of a document that changed several times meanwhile it gets the last change. To go on after a
/// restart, keep the sequence of the last change that was dealt with. The sequence ends when its task is cancelled or
/// the database closed, and throws `notFound` when the collection is dropped.
public struct ChangeFeed: AsyncSequence, Sendable {
    /// A change.
    public typealias Element = DocumentChange

    let collection: DocumentCollection
    let since: UInt64

    /// An iterator that begins after the feed's sequence.
    public func makeAsyncIterator() -> Iterator { Iterator(collection: collection, bookmark: since) }

    /// Walks over the changes. Belongs to one task.
    public struct Iterator: AsyncIteratorProtocol {
        private let collection: DocumentCollection
        /// The last sequence that was read.
        private var bookmark: UInt64
        /// What was read and not handed out yet, newest first.
        private var page: [DocumentChange] = []

        private static let pageSize = 256

        init(collection: DocumentCollection, bookmark: UInt64) {
            self.collection = collection
            self.bookmark = bookmark
        }

        /// The next change, once there is one; `nil` when the task was cancelled or the database closed.
        ///
        /// - Throws: ``DatabaseError``, such as `notFound` when the collection was dropped.
        public mutating func next() async throws -> DocumentChange? {
            while page.isEmpty {
                let alarm = Alarm()
                // Asked for first, so that no commit slips in between reading and waiting.
                guard !Task.isCancelled, let registration = try? collection.onNextChange({ alarm.ring() })
                else {
                    return nil
                }
                guard let changes = try readPage() else { return nil }
                page = changes
                guard page.isEmpty else { break }
                await withTaskCancellationHandler {
                    await alarm.wait()
                } onCancel: {
                    alarm.ring()
                }
                registration.cancel()
            }
            let change = page.popLast()
            if let change { bookmark = change.sequence }
            return change
        }

        /// The changes that come next, newest first; `nil` when the database was closed.
        private func readPage() throws(DatabaseError) -> [DocumentChange]? {
            do throws(DatabaseError) {
                return try collection.reader.changes(since: bookmark, limit: Self.pageSize).reversed()
            } catch {
                guard error.code == .closed else { throw error }
                return nil
            }
        }
    }
}

extension DocumentCollection {
    /// The changes after `sequence`, past and to come: see ``ChangeFeed``.
    public func changes(since sequence: UInt64 = 0) -> ChangeFeed {
        ChangeFeed(collection: self, since: sequence)
    }
}

/// Wakes one task, once, whether it sleeps already or not.
private final class Alarm: Sendable {
    private enum State {
        case quiet
        case awaited(CheckedContinuation<Void, Never>)
        case rung
    }

    private let state = Mutex(State.quiet)

    /// Returns once the alarm has rung.
    func wait() async {
        await withCheckedContinuation { continuation in
            let hasRung = state.withLock { state in
                if case .rung = state { return true }
                state = .awaited(continuation)
                return false
            }
            if hasRung { continuation.resume() }
        }
    }

    func ring() {
        let sleeper: CheckedContinuation<Void, Never>? = state.withLock { state in
            defer { state = .rung }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        sleeper?.resume()
    }
}

// MARK: - ObservationToken

/// Keeps a listener registered: it is called until ``cancel()``, or until nobody holds this any more.
public final class ObservationToken: Sendable {
    private let end: @Sendable () -> Void

    /// - Parameter end: Removes the listener; doing it twice does nothing.
    package init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Of a listener or waiter of `hub`.
    convenience init(_ hub: ChangeHub, _ key: UInt64) { self.init { hub.remove(key) } }

    deinit { cancel() }

    /// Ends the calls; one that is under way may still finish. Doing it twice does nothing.
    public func cancel() { end() }
}

extension DocumentCollection {
    /// Has `listener` called with the changes of the collection from now on.
    ///
    /// It is called after the commits, on a queue of Roost's that all listeners of the database share: hand longer work
    /// over. The changes come oldest first; of a document that changed several times since the last call, the last change
    /// counts. Changes made through any handle in this process are told. A purge is told too (``DocumentChange/isPurged``).
    ///
    /// Changes that can't be read are not passed over: `failure` is called with the error, and they are read again after a second and
    /// with the next commit. When the collection is dropped, or the database closed, `failure` is called once, with `notFound` or
    /// `closed`, and the listener no more.
    ///
    /// - Parameters:
    ///   - sequence: The sequence after which changes are told, those that were made before too; by default that of now.
    ///   - failure: Called on the same queue when the changes can't be read; by default nothing.
    ///   - listener: Gets what changed since it was last called, never an empty array.
    /// - Returns: What keeps the listener registered.
    /// - Throws: `notFound` when the collection was dropped, `closed`.
    public func observe(
        since sequence: UInt64? = nil, failure: @escaping @Sendable (DatabaseError) -> Void = { _ in },
        _ listener: @escaping @Sendable ([DocumentChange]) -> Void
    ) throws(DatabaseError) -> ObservationToken {
        let present = try snapshot().lastSequence
        let hub = database.core.notifier.hub(self)
        let key = hub.listen(since: sequence ?? present, to: nil, failing: failure, listener)
        return ObservationToken(hub, key)
    }

    /// Has `listener` called with each change of one document from now on; see ``observe(since:failure:_:)``.
    public func observe(
        _ id: String, failure: @escaping @Sendable (DatabaseError) -> Void = { _ in },
        _ listener: @escaping @Sendable (DocumentChange) -> Void
    ) throws(DatabaseError) -> ObservationToken {
        let start = try snapshot().lastSequence
        let hub = database.core.notifier.hub(self)
        return ObservationToken(
            hub, hub.listen(since: start, to: id, failing: failure) { for change in $0 { listener(change) } })
    }

    /// Has `wake` called once: with the next commit that changes the collection, when it is dropped, or when the database is
    /// closed. Then read
    /// ``CollectionSnapshot/changes(since:limit:isDescending:)`` from where you were, and ask again.
    ///
    /// It is called on the thread that committed: set a flag or resume something, no more. Read once more after asking,
    /// since a commit may have come before.
    ///
    /// - Returns: What keeps `wake` registered.
    public func onNextChange(_ wake: @escaping @Sendable () -> Void) throws(DatabaseError) -> ObservationToken
    {
        try database.checkOpen()
        let hub = database.core.notifier.hub(self)
        return ObservationToken(hub, hub.wait(wake))
    }
}
