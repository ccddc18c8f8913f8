extension Store {
    /// Writes what lives into a new file that takes the place of the present one.
    ///
    /// Readers and writers go on meanwhile, but for a short pause at the end (see ``CompactionResult/pause``).
    /// Snapshots taken before keep the old file until they go. Older commits are gone afterwards: history begins with
    /// the commit that the copy was made of. A crash at any moment leaves the old file or the new one, and either has
    /// everything that was committed.
    ///
    /// - Parameters:
    ///   - options: its speed, its memory, and the form of what it writes.
    ///   - progress: called now and then, on the calling thread; returns `false` to cancel.
    /// - Throws: ``StoreError/Code/compacting`` when a compaction that somebody asked for is running,
    ///   ``StoreError/Code/nestedWrite`` within a ``write(_:)`` on the same thread,
    ///   ``StoreError/Code/cancelled`` after that, ``cancelCompaction()`` or ``close()``, and what reading and writing
    ///   may throw, a full medium among it. The store then goes on in its old file.
    @discardableResult
    public func compact(
        _ options: CompactionOptions = CompactionOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> CompactionResult {
        guard isWritable else { throw notWritable() }
        try checkNotWriting()
        try Store.checkRoom(path)
        return try compactor.compact(self, options, progress)
    }

    /// Compacts now if less than a part of the file lives, for who leaves much lying and knows that it was the last. Waits for a
    /// compaction that is running; does nothing where ``StoreOptions/compactsAutomatically`` is off, and to a small file.
    ///
    /// - Throws: as ``compact(_:progress:)``.
    package func compact(below share: Double) throws(StoreError) {
        guard isWritable else { throw notWritable() }
        try checkNotWriting()
        try compactor.compact(self, below: share)
    }

    /// How far a compaction is that is running, whoever asked for it; `nil` while there is none.
    package var compactionUnderWay: WorkUnderWay? { compactor.underWay }

    /// Makes a compaction that is running, on whatever thread, end soon; the store stays as it is.
    public func cancelCompaction() { compactor.cancel() }
}
