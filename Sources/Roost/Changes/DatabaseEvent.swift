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
