import RoostFile

extension Store {
    /// Brings a store that was opened for reading only up to the newest commit of the process that writes it. Snapshots
    /// taken before stay as they are.
    ///
    /// Reads what was committed since, or, where the writer made a checkpoint meanwhile, its roots and the operations
    /// after it; opens the new file where a compaction has put one in the old one's place. A commit that is just being
    /// written is left for the next time. In a store that writes itself there is nothing to do.
    ///
    /// - Returns: whether there was something new.
    /// - Throws: ``StoreError``, with the store as it was before.
    @discardableResult
    public func refresh() throws(StoreError) -> Bool {
        guard options.readOnly else { return false }
        takeTurn()
        defer { passTurn() }
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
        StoreOpener(path: store.path, options: store.options, environment: store.environment)
    }

    func newerState() throws(StoreError) -> StoreState? {
        guard try isStillThere() else { return try opener.newestState(of: try opener.openFile(.readOnly)) }
        var stream = CommitStream(file: state.file, after: state.record)
        var records: [CommitRecord] = []
        while let record = try stream.next() { records.append(record) }
        guard let newest = records.last else { return nil }
        guard newest.checkpoint == state.record.checkpoint, !state.file.isShortOfReplayedRegions else {
            return try reload(newest)
        }
        return try continued(with: records)
    }

    /// Whether the path still leads to the file that is open, and the commit is in it. A writer that could not sync a
    /// commit, and came up again without it, leaves a file that went another way.
    private func isStillThere() throws(StoreError) -> Bool {
        let (named, held) = try fileCall { () throws(FileError) in
            (try store.environment.medium.status(of: store.path)?.identity, try state.file.file.identity())
        }
        guard named == held else { return false }
        return try LogScanner(file: state.file).record(at: state.record.offset) == state.record
    }

    private func reload(_ newest: CommitRecord) throws(StoreError) -> StoreState {
        var file = state.file
        if file.isShortOfReplayedRegions {
            file = DataFile(
                file: file.file, header: file.header, transform: file.codec.transform,
                cacheLimit: store.options.cacheSize, values: store.options.valueAccess)
        }
        return try opener.state(at: newest, of: file)
    }

    /// The state with the operations of `records` applied. Nodes that others may be reading are copied first, because
    /// the owner's number is a new one.
    private func continued(with records: [CommitRecord]) throws(StoreError) -> StoreState {
        let file = state.file
        let output = CommitBuffer(
            file: file, start: try file.nextReplayedRegion(), compression: 0, spares: nil)
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
