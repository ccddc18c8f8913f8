import RoostBlobs
import RoostStorage

/// Looking after a database: its size, its integrity, its past.
extension Database {
    /// Writes what lives into a new file and puts it in the old one's place, while others read and write.
    ///
    /// It starts by itself when little of the file is alive, so there is seldom a reason to ask for it. Older commits
    /// are gone afterwards, and the space that they took; snapshots that are open stay valid. A crash at any moment
    /// leaves the old file or the new one, each complete.
    ///
    /// Then it removes the blobs that nothing names any more: no revision that is stored, no snapshot that is open. Those
    /// that were stored within the last hour, since the database was opened, wait for their document. A compaction
    /// that starts by itself leaves blobs alone.
    ///
    /// - Parameters:
    ///   - options: its speed, its memory, and the form of what it writes.
    ///   - progress: called on this thread; returns `false` to stop, which leaves everything as it was.
    /// - Throws: `noSpace`, `inputOutput`, `readOnly`, `cancelled`.
    @discardableResult
    public func compact(
        _ options: CompactionOptions = CompactionOptions(), progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> CompactionResult {
        let result = try compactDocuments(options, progress: progress)
        try core.removeUnreferencedBlobs()
        return result
    }

    /// As ``compact(_:progress:)-(_,ProgressHandler?)``, without looking at blobs.
    func compactDocuments(
        _ options: CompactionOptions, progress: ProgressHandler?
    ) throws(DatabaseError) -> CompactionResult {
        try checkWritable()
        return try engine { () throws(StoreError) in try core.store.compact(options, progress: progress) }
    }

    /// Verifies every byte of the file, and all that the newest commit leads to.
    ///
    /// - Returns: what was found; damage does not throw.
    /// - Throws: `inputOutput`, `cancelled`.
    public func check(
        _ options: CheckOptions = CheckOptions(), progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> CheckReport {
        try engine { () throws(StoreError) in try core.store.check(options, progress: progress) }
    }

    /// As ``check(_:progress:)-(_,ProgressHandler?)``, for a database that need not be open: takes no lock and writes nothing.
    ///
    /// - Throws: `notFound`, `notADatabase`, `wrongKey`, `inputOutput`, `cancelled`.
    public static func check(
        _ path: String, key: EncryptionKey? = nil, _ options: CheckOptions = CheckOptions(),
        progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> CheckReport {
        var opening = DatabaseOptions()
        opening.key = key
        let store = opening.store
        return try engine { () throws(StoreError) in
            try Store.check(
                DatabaseOpener.dataPath(path), options: store, checking: options, progress: progress)
        }
    }

    /// The commits back to the last compaction, newest first.
    public var history: History { core.store.history }

    /// The database as of an older commit. What was deleted or changed since is there as it was.
    ///
    /// - Throws: `notFound` when a compaction has removed the commit.
    public func snapshot(at commit: Commit) throws(DatabaseError) -> DatabaseSnapshot {
        try checkOpen()
        return DatabaseSnapshot(
            core,
            try engine { () throws(StoreError) in
                try core.openSnapshots.take { () throws(StoreError) in try core.store.snapshot(at: commit) }
            })
    }

    /// In a database that was opened for reading only: takes in what another process has committed since.
    ///
    /// - Returns: whether there was anything new.
    @discardableResult
    public func refresh() throws(DatabaseError) -> Bool {
        try checkOpen()
        let isNew = try engine { () throws(StoreError) in try core.store.refresh() }
        if isNew {
            core.notifier.wakeAll()
            core.notifier.tell(.refreshed)
        }
        return isNew
    }

    /// How large the database is. O(1).
    public func statistics() throws(DatabaseError) -> StoreStatistics {
        try checkOpen()
        return try engine { () throws(StoreError) in try core.store.statistics() }
    }
}

extension Database {
    /// Rescues what can be read of the damaged database at `path` into a new one at `destination`, and counts its
    /// documents anew. Writes nothing to the damaged one, which nobody should have open.
    ///
    /// The keys of an encrypted database's blobs stand among its documents. Where these keys are lost, nothing can read the
    /// blobs that were sealed under them; ``verifyBlobs(_:)`` names these, and a backup has them.
    ///
    /// - Parameters:
    ///   - path: the damaged database's directory.
    ///   - destination: the new database's directory; made if it is missing.
    ///   - key: the key of the damaged database, and of the new one.
    ///   - progress: called on this thread; returns `false` to stop.
    /// - Returns: what was lost, as far as that can be told.
    /// - Throws: `notADatabase`, `alreadyExists` when there is something at `destination`, `noSpace`, `cancelled`.
    @discardableResult
    public static func salvage(
        _ path: String, to destination: String, key: EncryptionKey? = nil, progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> SalvageReport {
        var options = DatabaseOptions()
        options.key = key
        try DatabaseOpener(path: destination, options: options, environment: .system).makeDirectory()
        let store = options.store
        let report = try engine { () throws(StoreError) in
            try Store.salvage(
                DatabaseOpener.dataPath(path), to: DatabaseOpener.dataPath(destination), options: store,
                progress: progress)
        }
        do throws(DatabaseError) {
            let database = try open(destination, options: options)
            try database.core.recount()
            let blobs = BlobStore(BlobVault.path(path), .plain, environment: .system)
            blobs.setLayouts(database.core.vault.blobs.layouts)
            try blobCall { () throws(BlobError) in
                try BlobMirror(of: blobs, in: database.core.vault.blobs).copyMissing { _ in }
            }
            try database.close()
        } catch {
            // Without its catalog it is no database any more, but what was rescued is there for the engine.
            guard [.notADatabase, .damaged].contains(error.code) else { throw error }
        }
        return report
    }
}
