import RoostFile
import RoostStorage

/// Looking after a database: its size, its integrity, its past.
extension Database {
    /// Writes what lives into a new file and puts it in the old one's place, while others read and write.
    ///
    /// It starts by itself when little of the file is alive, so there is seldom a reason to ask for it. Older commits
    /// are gone afterwards, as are the bodies of earlier revisions, and the space that they took; snapshots that are open stay valid. A crash at any moment
    /// leaves the old file or the new one, each complete.
    ///
    /// Then it removes the blobs that nothing names any more: no revision that is stored, no snapshot that is open. Those
    /// that were stored within the last hour, since the database was opened, wait for their document. A compaction
    /// that starts by itself leaves blobs alone. Where processes take turns to write, so does every compaction while another one has
    /// the database open, or if one has written to it while blobs were looked for.
    ///
    /// - Parameters:
    ///   - options: its speed, its memory, and the form of what it writes.
    ///   - progress: called on this thread; returns `false` to stop, which leaves everything as it was.
    /// - Throws: `noSpace`, `inputOutput`, `readOnly`, `cancelled`; `locked` while another process compacts.
    @discardableResult
    public func compact(
        _ options: CompactionOptions = CompactionOptions(), progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> CompactionResult {
        let result = try compactDocuments(options, progress: progress)
        try core.removeUnreferencedBlobs()
        return result
    }

    /// How far a compaction of the documents is that is running, whoever asked for it; `nil` while there is none.
    package var compactionUnderWay: WorkUnderWay? { core.store.compactionUnderWay }

    /// As ``compact(_:progress:)-(_,ProgressHandler?)``, without looking at blobs.
    func compactDocuments(
        _ options: CompactionOptions, progress: ProgressHandler?
    ) throws(DatabaseError) -> CompactionResult {
        try checkWritable()
        _ = try core.refresh()
        try removeEarlierRevisions()
        try shortenHistories()
        return try translating { () throws(StoreError) in try core.store.compact(options, progress: progress)
        }
    }

    /// Removes the bodies of all earlier revisions (``DatabaseOptions/keptRevisions``), durably.
    ///
    /// - Throws: `noSpace`, `inputOutput`, `readOnly`.
    package func removeEarlierRevisions() throws(DatabaseError) {
        let range = ExtrasKey.allEarlierBodies
        let snapshot = core.store.snapshot()
        var count: UInt64 = 0
        for (_, trees) in try core.collections(in: snapshot) {
            count += try translating { () throws(StoreError) in try snapshot[trees.extras].count(in: range) }
        }
        guard count > 0 else { return }
        try core.write { (transaction) throws(DatabaseError) in
            // Nobody else makes or drops collections meanwhile.
            for (name, trees) in try core.collections(in: core.store.snapshot()) {
                try transaction.writer(name, trees).removeEarlierBodies()
            }
        }
    }

    /// How many documents are shortened in one commit.
    private static let shortenedTogether = 1000

    /// Forgets revisions beyond the limits of the collections, durably, where these were lowered since.
    ///
    /// - Throws: `noSpace`, `inputOutput`, `readOnly`.
    private func shortenHistories() throws(DatabaseError) {
        for scope in try scopes {
            for collection in try collections(scope: scope) {
                do throws(DatabaseError) {
                    try shortenHistories(in: collection)
                } catch {
                    // One that was dropped meanwhile has none.
                    guard error.code == .notFound else { throw error }
                }
            }
        }
    }

    private func shortenHistories(in collection: DocumentCollection) throws(DatabaseError) {
        let snapshot = try collection.snapshot()
        let limit = snapshot.revisionLimit
        var place: UInt64 = 0
        while true {
            let changes = try snapshot.changes(since: place, limit: Self.shortenedTogether)
            guard let last = changes.last else { return }
            place = last.sequence
            var long: [String] = []
            for change in changes
            where change.revision.generation > UInt64(limit) || change.hasSeveralLeaves {
                var tree = try snapshot.revisionTree(of: change.id)
                if tree.stem(to: limit) > 0 { long.append(change.id) }
            }
            guard !long.isEmpty else { continue }
            let shortened = long
            try core.write { (transaction) throws(DatabaseError) in
                let writer = try transaction.writer(collection)
                for id in shortened {
                    try writer.shortenHistory(of: writer.keyView(DocumentID(revisioned: id)))
                }
            }
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
            try translating { () throws(StoreError) in
                try core.openSnapshots.take { () throws(StoreError) in try core.store.snapshot(at: commit) }
            })
    }

    /// In a database that was opened for reading only, or that processes write by turns: takes in what others have committed
    /// since, and tells those who observe. Anywhere else nobody else commits.
    ///
    /// Two or three system calls where there is nothing new. Where processes take turns it waits for a turn when there is. Within a
    /// write, which begins with all that there is, it does nothing.
    ///
    /// - Returns: whether there was anything new.
    /// - Throws: `closed`, `damaged`, `inputOutput`, `writerFailed`.
    @discardableResult
    public func refresh() throws(DatabaseError) -> Bool {
        try checkOpen()
        let isNew = try core.refresh()
        if isNew, core.store.isReadOnly {
            core.notifier.wakeAll()
            core.notifier.tell(.refreshed)
        }
        return isNew
    }

    /// What the file of the documents ended with when the database was opened. Where that is no clean shutdown, commits may be
    /// lost that only this tells of: see `FileEnding`. All handles of the database within the process share it.
    public var ending: FileEnding { core.store.ending }

    /// How large the database is. O(number of collections).
    public func statistics() throws(DatabaseError) -> StoreStatistics {
        try checkOpen()
        return try translating { () throws(StoreError) in try core.store.statistics() }
    }
}

// MARK: - Inspection

extension Database {
    /// Finds out where the bytes of the database in the directory `path` are, which need not be open. Takes no lock,
    /// writes nothing, and makes the best of damaged files.
    ///
    /// The trees of a collection are named after its number, in the order in which the collections were made:
    /// `documents/1` has the documents by ID, `changes/1` by sequence, `extras/1` local documents and expirations;
    /// `catalog` lists the collections.
    ///
    /// - Parameters:
    ///   - path: the database's directory.
    ///   - key: its key, where it is encrypted.
    ///   - inspecting: how finely to look.
    ///   - progress: called on this thread; returns `false` to stop.
    /// - Throws: `notFound`, `notADatabase`, `wrongKey`, `damaged` where nothing can be told, `inputOutput`, `cancelled`.
    public static func inspect(
        _ path: String, key: EncryptionKey? = nil, _ inspecting: InspectionOptions = InspectionOptions(),
        progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> StoreInspection {
        var opening = DatabaseOptions()
        opening.key = key
        let store = opening.store
        try DatabaseOpener.requireDocuments(at: path, Environment.system.medium)
        return try translating { () throws(StoreError) in
            try Store.inspect(
                DatabaseOpener.dataPath(path), options: store, inspecting: inspecting, progress: progress)
        }
    }

    /// As ``inspect(_:key:_:progress:)``, of this database as of its newest commit, while others read and write.
    public func inspect(
        _ inspecting: InspectionOptions = InspectionOptions(), progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> StoreInspection {
        try checkOpen()
        return try translating { () throws(StoreError) in
            try core.store.inspect(inspecting, progress: progress)
        }
    }

    /// The file that holds the documents of the database in the directory `path`.
    package static func dataFile(of path: String) -> String { DatabaseOpener.dataPath(path) }

    /// Opens the file of the database in the directory `path` to be looked at byte by byte.
    ///
    /// - Throws: `notFound`, `notADatabase`, `wrongKey`, `damaged` when both headers are lost.
    package static func dump(_ path: String, key: EncryptionKey?) throws(DatabaseError) -> FileDump {
        var opening = DatabaseOptions()
        opening.key = key
        let store = opening.store
        try DatabaseOpener.requireDocuments(at: path, Environment.system.medium)
        return try translating { () throws(StoreError) in
            try FileDump(DatabaseOpener.dataPath(path), options: store)
        }
    }
}
