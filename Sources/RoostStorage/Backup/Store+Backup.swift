import RoostFile

extension Store {
    /// Copies the store as of its newest commit to the file at `path`, while others read and write. The copy is a store
    /// that can be opened like any other, with the whole history.
    ///
    /// The first backup is made under a temporary name and appears when it is whole and on the medium. A later one to
    /// the same path copies only what was committed since, unless a compaction has made a new file meanwhile; should it
    /// be interrupted, even by a power failure, the backup is as it was before, or complete. Every commit that is copied
    /// is verified; what an earlier backup copied is not read again (see ``check(_:options:checking:progress:)``).
    ///
    /// - Parameters:
    ///   - path: the backup's file.
    ///   - progress: returns `false` to stop; what was there before stays.
    /// - Throws: ``StoreError/Code/alreadyExists`` when something else than a backup of this store is at `path`,
    ///   ``StoreError/Code/locked`` when somebody writes to the backup, ``StoreError/Code/damaged`` when this store's
    ///   file is.
    @discardableResult
    public func backup(to path: String, progress: ProgressHandler? = nil) throws(StoreError) -> BackupReport {
        try beginBackup(to: path).run(progress)
    }

    /// The first half of ``backup(to:progress:)``, for whoever has to copy something else before the store: settles which
    /// commit is going to be copied, and takes the backup's place without writing to it.
    ///
    /// - Throws: as ``backup(to:progress:)``.
    package func beginBackup(to path: String) throws(StoreError) -> PendingBackup {
        let state = state
        try state.checkOpen()
        let target = try BackupTarget(
            path, of: state.file, upTo: state.record, medium: environment.medium)
        return PendingBackup(
            path: path, target: target,
            copy: BackupCopy(source: state.file, newest: state.record, environment: environment),
            isFollowing: options.isReadOnly || writerFileLock != nil)
    }
}

/// A backup that nothing was copied of yet. Its place is locked for as long as this lives, also after ``run(_:)``: whoever has
/// to tidy up beside the store does so while no other backup to the same place can begin.
package struct PendingBackup {
    fileprivate let path: String
    fileprivate let target: BackupTarget
    fileprivate let copy: BackupCopy
    /// Whether the store is one that another process may be writing.
    fileprivate let isFollowing: Bool

    /// The number of bytes to be copied.
    package var missingBytes: UInt64 {
        guard case .earlier(_, let last) = target.destination else { return copy.newest.end }
        return copy.newest.end - last.end
    }

    /// Whether an earlier backup is there that does not go on, but gives its place to another file.
    package var replacesEarlier: Bool {
        guard case .new = target.destination else { return false }
        return target.isThere
    }

    /// Whether no other process has compacted the store since, which puts another file in the place of the one to be copied.
    ///
    /// - Throws: ``StoreError/Code/inputOutput``.
    package func isCurrent() throws(StoreError) -> Bool {
        guard isFollowing else { return true }
        return try fileCall { () throws(FileError) in
            try copy.environment.medium.status(of: copy.source.path)?.identity == copy.source.file.identity()
        }
    }

    /// Copies the store; what is at the path is the earlier backup, or this one, at every moment.
    ///
    /// - Throws: as ``Store/backup(to:progress:)``.
    package func run(_ progress: ProgressHandler?) throws(StoreError) -> BackupReport {
        switch target.destination {
        case .new(let file): try copy.make(at: path, file, progress)
        case .earlier(let file, let last): try copy.append(to: file, after: last, progress)
        }
    }
}
