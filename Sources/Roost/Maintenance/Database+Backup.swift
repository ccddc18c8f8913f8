import RoostBlobs
import RoostFile
import RoostStorage

extension Database {
    /// Copies the database as it is now into the directory at `path`, while others read and write. Where an earlier
    /// backup of this database is there, only what came since is copied, unless a compaction lies between.
    ///
    /// The copy is a database of its own, with its blobs; open it, or move it back, to restore. Whatever ends the work, a
    /// kill, a power failure or a full disk, the directory holds the old backup or the new one, each complete; where there was
    /// no backup before, it holds none until the new one is complete. Backing up again goes on with what was copied.
    ///
    /// - Parameters:
    ///   - path: the backup's directory; made if it is missing.
    ///   - progress: called on this thread; returns `false` to stop.
    /// - Throws: `noSpace`, `inputOutput`, `alreadyExists` when something else is at `path`, `unsupportedFormat` when a backup
    ///   is there whose blobs are sealed under keys that this database lacks, as where an older backup was restored since,
    ///   `invalidName` when `path` lies inside of this database, whose directory holds nothing but its own files, `locked`
    ///   when somebody writes to the backup, `cancelled`; from a database that was opened for reading only `wrongKey` when
    ///   another process gave it another key meanwhile: open the database anew then and back it up again.
    @discardableResult
    public func backup(to path: String, progress: ProgressHandler? = nil) throws(DatabaseError)
        -> BackupReport
    {
        try checkOpen()
        try refuseInside(path)
        try DatabaseOpener(path: path, options: DatabaseOptions(), environment: core.environment)
            .makeDirectory()
        if !core.store.isReadOnly { _ = try core.refresh() }
        return try core.vault.exclusively { () throws(DatabaseError) in
            try DatabaseBackup(core: core, path: path, progress: progress).run()
        }
    }

    /// Refuses a path below the database's own directory, whatever links lead there.
    private func refuseInside(_ path: String) throws(DatabaseError) {
        let medium = core.environment.medium
        let isInside = try translating { () throws(FileError) -> Bool in
            guard let own = try medium.statusFollowingLinks(of: core.path)?.identity else { return false }
            // The file system resolves "..", so that links are followed before it goes up.
            var ancestor = try medium.statusFollowingLinks(of: path) == nil ? directoryPart(of: path) : path
            var last: FileIdentity?
            while let identity = try medium.statusFollowingLinks(of: ancestor)?.identity, identity != last {
                if identity == own { return true }
                last = identity
                ancestor += "/.."
            }
            return false
        }
        guard !isInside else {
            throw DatabaseError(
                .invalidName, "\(path) lies inside of the database \(core.path). Give a path outside of it.")
        }
    }
}

/// A backup under way, in an order in which every moment may be the last:
///
/// 1. Blobs are copied beside those that the earlier backup's documents name, and made durable. None of these is replaced that
///    they can read: the database may have another key by now, which they lack, while it has all that they have.
/// 2. The documents become those of a commit that was settled on before, so that all blobs that they name are there.
/// 3. Blobs that only the earlier backup's documents named are removed.
///
/// Nothing in this process removes blobs meanwhile. Another one may, after it has compacted the documents' file: then that
/// is another file by now, and the work begins anew with it. So it does where a damaged blob was stored again meanwhile, in
/// another encoding and so under another name.
private struct DatabaseBackup {
    let core: DatabaseCore
    let path: String
    let progress: ProgressHandler?

    func run() throws(DatabaseError) -> BackupReport {
        while true {
            if let report = try attempt() { return report }
            _ = try translating { () throws(StoreError) in try core.store.refresh() }
        }
    }

    /// - Returns: `nil` when another process has put another file in the documents' file's place, or a blob's file has gone.
    private func attempt() throws(DatabaseError) -> BackupReport? {
        let pending = try translating { () throws(StoreError) in
            try core.store.beginBackup(to: DatabaseOpener.dataPath(path))
        }
        try WritingProcesses(path: path, environment: core.environment).requireNone()
        let blobs = try mirror(pending)
        let total = blobs.missingBytes + pending.missingBytes
        let isWhole = try translating { () throws(BlobError) in
            var done: UInt64 = 0
            return try blobs.copyMissing { (bytes) throws(BlobError) in
                done += bytes
                guard progress?(WorkProgress(completed: done, total: total)) != false else {
                    throw BlobError(.cancelled, "The backup was stopped before its end, as asked.")
                }
            }
        }
        guard isWhole, try isCurrent(pending) else { return nil }
        try CopyMark(directory: path, medium: core.environment.medium).set()
        let report = try translating { () throws(StoreError) in
            try pending.run { documents in
                progress?(
                    WorkProgress(completed: blobs.missingBytes + documents.completed, total: total)) ?? true
            }
        }
        // Another backup to the same place may begin only then: its blobs would be taken for those of the earlier one.
        try withExtendedLifetime(pending) { () throws(DatabaseError) in
            try translating { () throws(BlobError) in try blobs.removeOthers() }
        }
        return report.adding(blobs)
    }

    private func isCurrent(_ pending: PendingBackup) throws(DatabaseError) -> Bool {
        try translating { () throws(StoreError) in try pending.isCurrent() }
    }

    private func mirror(_ pending: PendingBackup) throws(DatabaseError) -> BlobMirror {
        let copies = BlobStore(
            BlobVault.path(path), .plain, environment: core.environment, access: core.vault.blobs.access)
        // Documents that go on have no key that these here lack.
        return try translating { () throws(BlobError) in
            try BlobMirror(of: core.vault.blobs, in: copies, sparesUnreadable: pending.replacesEarlier)
        }
    }
}

extension BackupReport {
    /// The report of the documents and of the blobs.
    fileprivate func adding(_ blobs: BlobMirror) -> BackupReport {
        BackupReport(
            commit: commit, size: size + blobs.bytes, copiedBytes: copiedBytes + blobs.missingBytes,
            isIncremental: isIncremental)
    }
}

// MARK: - CopyMark

/// The empty file `copy` in a backup's directory: whoever opens the backup for writing begins another history.
///
/// Without it, a peer that has seen sequences of the original could take those of the restored copy for the same.
struct CopyMark {
    let directory: String
    let medium: any Medium

    private var path: String { directory.last == "/" ? directory + "copy" : "\(directory)/copy" }

    var exists: Bool {
        get throws(DatabaseError) {
            let status = try translating { () throws(FileError) in try medium.status(of: path) }
            return status?.kind == .file && status?.size == 0
        }
    }

    /// Makes the file, durably.
    func set() throws(DatabaseError) {
        try translating { () throws(FileError) in
            let isNew = try medium.status(of: path) == nil
            if isNew { try medium.open(path, .createNew).sync() }
            // Also where it was there: whoever made it may have ended before it was durable.
            try medium.syncName(path, isNew: isNew)
        }
    }

    /// Removes the file, durably.
    func remove() throws(DatabaseError) {
        try translating { () throws(FileError) in
            try medium.remove(path)
            try medium.syncDirectory(of: path)
        }
    }
}

extension DatabaseCore {
    /// Gives all collections new epochs, in one commit.
    func renewEpochs() throws(DatabaseError) {
        try write { (transaction) throws(DatabaseError) in
            for (name, trees) in try collections(in: store.snapshot()) {
                try transaction.writer(name, trees).record.renewEpoch(environment)
            }
        }
    }
}
