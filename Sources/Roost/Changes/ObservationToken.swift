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
