import RoostFile

extension Store {
    /// Brings a store that was opened for reading only up to the newest commit of the process that writes it. Snapshots
    /// taken before stay as they are.
    ///
    /// Reads what was committed since, or, where the writer made a checkpoint meanwhile, its roots and the operations
    /// after it; opens the new file where a compaction has put one in the old one's place. A commit that is just being
    /// written is left for the next time. A store that writes by turns with other processes looks whether there is anything
    /// new, and if so waits for the file's lock and catches up as a transaction does. One that alone writes has nothing to do.
    ///
    /// - Returns: whether there was something new.
    /// - Throws: ``StoreError``, with the store as it was before.
    @discardableResult
    public func refresh() throws(StoreError) -> Bool {
        guard options.isReadOnly || writerFileLock != nil else { return false }
        if writerFileLock != nil, try !isPassed(state) { return false }
        acquireWriterLock()
        defer { releaseWriterLock() }
        guard writerFileLock == nil else {
            let before = state.record
            try acquireFile()
            defer { releaseFile() }
            return state.record != before
        }
        try state.checkOpen()
        guard let newer = try Follower(store: self).newerState() else { return false }
        newer.mapSyncedValues()
        published.publish(newer)
        return true
    }
}

/// Finds what another process has written since a reader last looked.
private struct Follower {
    let store: Store
    private let state: StoreState

    init(store: Store) {
        self.store = store
        state = store.state
    }

    private var opener: StoreOpener {
        StoreOpener(path: store.path, options: store.openingOptions, environment: store.environment)
    }

    func newerState() throws(StoreError) -> StoreState? {
        guard try store.isStillThere(state) else {
            return try opener.newestState(of: try opener.openFile(.readOnly))
        }
        var stream = CommitStream(file: state.file, after: state.record)
        var records: [CommitRecord] = []
        while let record = try stream.next() { records.append(record) }
        guard let newest = records.last else { return nil }
        guard newest.checkpoint == state.record.checkpoint, !state.file.isShortOfReplayedRegions else {
            return try reload(newest)
        }
        return try continued(with: records)
    }

    private func reload(_ newest: CommitRecord) throws(StoreError) -> StoreState {
        let file = state.file
        return try opener.state(
            at: newest, of: file.isShortOfReplayedRegions ? DataFile(anew: file, store.options) : file)
    }

    /// The state with the operations of `records` applied. Nodes that others may be reading are copied first, because
    /// the owner's number is a new one.
    private func continued(with records: [CommitRecord]) throws(StoreError) -> StoreState {
        let file = state.file
        let output = CommitBuffer(
            file: file, start: try file.nextReplayedRegion(), compression: 0, pool: nil)
        let replayer = Replayer(
            file: file, reductions: store.options.reductions, nodeSize: store.options.nodeSizeInRange)
        let next = try replayer.apply(
            records, to: state, output: output, owner: store.nextOwner())
        guard output.count > 0 else {
            output.release()
            file.giveBackReplayedRegion(output.start)
            return next
        }
        return next.keeping(ReplayedNodes(file: file, bytes: output.unwritten))
    }
}
