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
        let state = state
        let target = try BackupTarget(path, of: state.file, medium: environment.medium)
        let copy = BackupCopy(source: state.file, newest: state.record, environment: environment)
        if let (file, last) = try target.continuation(upTo: state.record) {
            return try copy.append(to: file, after: last, progress)
        }
        return try copy.make(at: path, progress)
    }
}
