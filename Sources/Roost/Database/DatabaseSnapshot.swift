import RoostStorage

/// The whole database as of one commit: never changes, never waits, and nobody waits for it.
///
/// Take as many as you like, and use each from any thread. While one is held, the file that it reads is not given back
/// after a compaction.
public struct DatabaseSnapshot: Sendable {
    private let core: DatabaseCore
    private let snapshot: Snapshot

    init(_ core: DatabaseCore, _ snapshot: Snapshot) {
        self.core = core
        self.snapshot = snapshot
    }

    /// Whether it is of this database.
    package func isOf(_ database: Database) -> Bool { core === database.core }

    /// The object of type `T` that goes with the snapshot while there is no newer one: see `Database.present(_:)`.
    package func companion<T: AnyObject & Sendable>(_ make: () -> T) -> T { snapshot.companion(make) }

    /// The collection as of this snapshot.
    ///
    /// - Throws: `notFound` when there was no such collection then, or it belongs to another database.
    public subscript(collection: DocumentCollection) -> CollectionSnapshot {
        get throws(DatabaseError) {
            guard collection.database.core === core else { throw DatabaseError.foreign(collection) }
            return try CollectionSnapshot(collection.name, collection.trees, core.catalog, in: snapshot)
        }
    }
}
