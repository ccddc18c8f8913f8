import RoostBytes
import RoostFile

extension Store {
    /// Opens the store in the file at `path`, making it if there is none (see ``StoreOptions``).
    ///
    /// Opening reads the end of the file and the operations since the last checkpoint, however large the file is.
    /// A torn end, as a crash leaves it, is cut off; everything acknowledged is before it, unless the medium lost it since:
    /// ``ending`` says how the file ended.
    ///
    /// - Throws: ``StoreError/Code/locked`` when another handle or process writes the store,
    ///   ``StoreError/Code/notFound``, ``StoreError/Code/notAStore``, ``StoreError/Code/unsupportedFormat``,
    ///   ``StoreError/Code/damaged``, ``StoreError/Code/wrongKey``.
    public static func open(_ path: String, options: StoreOptions = StoreOptions()) throws(StoreError)
        -> Store
    {
        try open(path, options: options, environment: .system)
    }

    /// As ``open(_:options:)``, on a medium, clock and randomness of the caller's choice.
    package static func open(
        _ path: String, options: StoreOptions, environment: Environment
    ) throws(StoreError) -> Store {
        try checkRoom(path)
        let opener = StoreOpener(path: path, options: options, environment: environment)
        return options.isReadOnly ? try opener.openForReading() : try opener.openForWriting()
    }
}

/// The steps of opening a store.
struct StoreOpener {
    let path: String
    let options: StoreOptions
    let environment: Environment
    /// Who may do what with a file that is made; `nil` for what the process's umask leaves.
    var access: FileAccess?
    /// The transform of the file whose content a file that is made takes over, if that has one.
    var previous: (any ChunkTransform)?

    private var medium: any Medium { environment.medium }
    private var reductions: ReductionRegistry { options.reductions }

    func openForReading() throws(StoreError) -> Store {
        let file = try openFile(.readOnly)
        let state = try newestState(of: file)
        state.mapSyncedValues()
        return Store(
            path: path, options: options, environment: environment, state: state,
            ending: try FileEnding(of: file, after: state.record)
        ) { _ in nil }
    }

    func openForWriting() throws(StoreError) -> Store {
        let (state, lock, syncedEnd, ending) = try openNewest()
        let takesTurns = options.writers == .takingTurns
        let store = Store(
            path: path, options: options, environment: environment, state: state, ending: ending
        ) { store in
            Store.Writer(
                lock: takesTurns ? nil : lock,
                queue: store.makeQueue(state, syncedEnd: syncedEnd, nameSync: nameSync))
        }
        if takesTurns { lock.release() }
        return store
    }

    /// Makes the file's name durable.
    var nameSync: CommitQueue.NameSync {
        let files = CompactionFiles(path: path, medium: medium)
        return { () throws(FileError) in try files.syncName() }
    }

    /// Opens the file for writing, and ends what a crash left undone.
    ///
    /// - Returns: the newest state, the file's lock, the end of what is known to be on the medium, and how the file ended.
    func openNewest() throws(StoreError) -> (
        StoreState, any FileLock, syncedEnd: UInt64, ending: FileEnding
    ) {
        let (file, lock, isNew) = try openLocked()
        let record = try lastRecord(in: file)
        let ending = isNew ? FileEnding(newFileOf: record.end) : try FileEnding(of: file, after: record)
        let syncedEnd = try secure(file, upTo: record)
        file.writtenEnd.store(record.end, ordering: .releasing)
        file.mapped?.extend(to: syncedEnd)
        if file.codec.isTransformed { file.beginHistory(at: record.end, environment.randomness) }
        let output = CommitBuffer(
            file: file, start: record.end, compression: options.compression, pool: nil)
        let replayed = try replayer(file).state(at: record, output: output, owner: 0)
        // They get into the file with the first commit: opening alone writes nothing.
        let state =
            output.count > 0 ? replayed.keeping(ReplayedNodes(file: file, bytes: output.unwritten)) : replayed
        if output.count == 0 { output.release() }
        return (state, lock, syncedEnd, ending)
    }

    /// Opens the file for writing, made if there is none and whole after an unfinished swap.
    ///
    /// Nothing is written or removed before the file is known to be a store's. The lock is the file's own, whatever name
    /// leads to it; a compaction locks the new file before that takes the name.
    ///
    /// - Returns: the file, its lock, and whether the file was made just now.
    private func openLocked() throws(StoreError) -> (DataFile, any FileLock, isNew: Bool) {
        var isNew = false
        while true {
            if options.createsIfMissing,
                try fileCall({ () throws(FileError) in try medium.status(of: path) }) == nil
            {
                guard try create() else { continue }
                isNew = true
            }
            let file = try fileCall { () throws(FileError) in try medium.open(path, .readWrite) }
            let header = try header(of: file)
            let lock = try fileCall { () throws(FileError) in
                options.writers == .takingTurns ? try file.lockInTurn() : try file.lock()
            }
            // Another file may have taken the name before the lock was had.
            guard try file.isNamed(path, in: medium) else { continue }
            let data = try dataFile(file, header)
            try checkWritable(header)
            let files = CompactionFiles(path: path, medium: medium)
            try removeLeftovers(files)
            if try files.nameAnew() { continue }
            return (data, lock, isNew)
        }
    }

    /// Makes the store. Where processes take turns, whoever makes it at the same time is waited for.
    ///
    /// - Returns: `false` when another process was making it, and may or may not have made it.
    private func create() throws(StoreError) -> Bool {
        let creator = StoreCreator(
            path: path, options: options, environment: environment, access: access, previous: previous)
        do throws(StoreError) {
            try creator.create()
            return true
        } catch {
            guard options.writers == .takingTurns, error.code == .locked else { throw error }
            let file = try? medium.open(creator.temporary, .readWrite)
            try? file?.lockInTurn().release()
            return false
        }
    }

    private func removeLeftovers(_ files: CompactionFiles) throws(StoreError) {
        let isShared = options.writers == .takingTurns
        do throws(StoreError) {
            try files.removeLeftovers(isShared: isShared)
        } catch {
            // A compaction of another process is no leftover.
            guard isShared, error.code == .locked else { throw error }
        }
    }

    /// Opens the file and reads its header, or the header's copy.
    func openFile(_ mode: OpenMode) throws(StoreError) -> DataFile {
        let file = try fileCall { () throws(FileError) in try medium.open(path, mode) }
        return try dataFile(file, try header(of: file))
    }

    private func header(of file: any File) throws(StoreError) -> FileHeader {
        let block = ByteBuffer(capacity: Format.blockSize)
        var refusal = FileHeader.Refusal.notAHeader
        for copy in 0..<2 {
            block.resize(to: Format.blockSize)
            let count = try fileCall { () throws(FileError) in
                unsafe try file.readFully(into: block.mutableBytes, at: UInt64(copy * Format.blockSize))
            }
            block.resize(to: count)
            do throws(FileHeader.Refusal) {
                return try FileHeader(decoding: block.view)
            } catch {
                if copy == 0 || refusal == .notAHeader { refusal = error }
            }
        }
        throw explain(refusal)
    }

    private func dataFile(_ file: any File, _ header: FileHeader) throws(StoreError) -> DataFile {
        do throws(FileHeader.Refusal) {
            return DataFile(
                file: file, header: header, transform: try transform(for: header),
                cacheLimit: options.cacheSize, values: options.valueAccess)
        } catch {
            throw explain(error)
        }
    }

    private func transform(for header: FileHeader) throws(FileHeader.Refusal) -> (any ChunkTransform)? {
        guard header.requiredFeatures & FileHeader.transformedFeature != 0 else {
            // Whoever gives a key relies on encryption, so a plain file must not pass for an encrypted one.
            guard options.transform == nil else { throw .notTransformed }
            return nil
        }
        guard let factory = options.transform,
            let transform = factory.open(parameters: header.transformParameters, fileID: header.fileID)
        else { throw .unknownFeatures(FileHeader.transformedFeature) }
        return transform
    }

    /// Refuses to write files with features that what is written would have to heed.
    private func checkWritable(_ header: FileHeader) throws(StoreError) {
        let unknown = header.readOnlyFeatures
        guard unknown == 0 else {
            throw StoreError(
                .unsupportedFormat,
                "\(path) uses features (\(unknown)) with which this Roost can read it but not write it. "
                    + "Open it read-only, or use a newer Roost.")
        }
    }

    private func explain(_ refusal: FileHeader.Refusal) -> StoreError {
        switch refusal {
        case .notAHeader:
            StoreError(.notAStore, "\(path) is not a Roost store.")
        case .damaged:
            .damaged("the file header and its copy", at: 0, in: path)
        case .newerVersion(let version):
            StoreError(
                .unsupportedFormat,
                "\(path) has format version \(version); this Roost reads version \(Format.version). Use a newer one."
            )
        case .notTransformed:
            StoreError(
                .wrongKey,
                "\(path) is not encrypted, but a key was given. Open it without, or encrypt it first.")
        case .unknownFeatures(FileHeader.transformedFeature):
            StoreError(.wrongKey, "\(path) is encrypted, and the key or passphrase given does not open it.")
        case .unknownFeatures(let features):
            StoreError(
                .unsupportedFormat, "\(path) uses features (\(features)) that this Roost does not know.")
        }
    }

    func lastRecord(in file: DataFile) throws(StoreError) -> CommitRecord {
        guard let record = try LogScanner(file: file).lastCommit() else {
            throw .damaged("no whole commit anywhere", at: Format.firstCommit, in: path)
        }
        return record
    }

    func replayer(_ file: DataFile) -> Replayer {
        Replayer(file: file, reductions: reductions, nodeSize: options.nodeSizeInRange)
    }

    /// The state after the newest commit, for a reader: what replaying makes stays in memory.
    func newestState(of file: DataFile) throws(StoreError) -> StoreState {
        try state(at: try lastRecord(in: file), of: file)
    }

    /// The state after the commit of `record`, for a reader.
    func state(at record: CommitRecord, of file: DataFile) throws(StoreError) -> StoreState {
        file.writtenEnd.store(
            min(file.writtenEnd.load(ordering: .acquiring), Self.replayedStart), ordering: .releasing)
        let output = CommitBuffer(
            file: file, start: try file.nextReplayedRegion(), compression: 0, pool: nil)
        let state = try replayer(file).state(at: record, output: output, owner: 0)
        guard output.count > 0 else {
            output.release()
            file.giveBackReplayedRegion(output.start)
            return state
        }
        return state.keeping(ReplayedNodes(file: file, bytes: output.unwritten))
    }

    /// Offsets from here on are in no file.
    static let replayedStart: UInt64 = 1 << 47

    /// Cuts off what a crash left after the last whole commit, and makes durable what comes before: a process that was
    /// killed leaves commits in the system's cache alone, where a power failure could still take them from under what
    /// is appended now. The same goes for the file's name, if its maker was killed as well; that of a file without a commit
    /// becomes durable with the first one.
    ///
    /// - Returns: the end of what is known to be on the medium.
    private func secure(_ file: DataFile, upTo record: CommitRecord) throws(StoreError) -> UInt64 {
        try fileCall { () throws(FileError) in
            if Failpoint.trustedCache.isActive { return record.end }
            let hasTail = try file.file.size() > record.end
            let isCleanShutdown = record.kind == .cleanShutdown && record.syncedEnd == record.start
            if isCleanShutdown, !hasTail { return record.syncedEnd }
            if hasTail, !Failpoint.uncutTail.isActive { try file.file.truncate(to: record.end) }
            try file.makeDurable(upTo: record)
            if record.previous != 0 { try nameSync() }
            return record.end
        }
    }
}

// MARK: - StoreCreator

/// Makes a new store file: whole under a temporary name first, so that a crash leaves either no store or an empty one.
/// The temporary file's lock keeps others from making the same store.
struct StoreCreator {
    let path: String
    let options: StoreOptions
    let environment: Environment
    /// Who may do what with the file; `nil` for what the process's umask leaves.
    let access: FileAccess?
    /// The transform of the file whose content the new one is to take over, if that has one.
    var previous: (any ChunkTransform)?

    /// The name under which the store is made.
    var temporary: String { path + ".new" }

    /// Makes an empty store, unless somebody else has just made one.
    func create() throws(StoreError) {
        let (file, new) = try makeFile(
            temporary, storeID: random(16), generation: 0, transform: options.transform, after: previous)
        defer { withExtendedLifetime(new) {} }
        guard try fileCall({ () throws(FileError) in try environment.medium.status(of: path) }) == nil else {
            return new.discard()
        }
        let commit = try firstCommit(file)
        try fileCall { () throws(FileError) in
            unsafe try file.file.writeFully(commit.view.buffer, at: Format.firstCommit)
            try file.file.sync()
        }
        try new.rename(to: path)
        try fileCall { () throws(FileError) in try environment.medium.syncName(path, isNew: true) }
    }

    /// A file with the header and its copy, and no commit yet; not synced.
    func makeFile(
        _ name: String, storeID: [UInt8], generation: UInt64, transform factory: (any ChunkTransformFactory)?,
        after previous: (any ChunkTransform)?
    ) throws(StoreError) -> (DataFile, NewFile) {
        let new = try NewFile(name, environment.medium, access)
        var header = FileHeader(
            storeID: storeID, fileID: random(16), salt: random(8).reduce(0) { $0 << 8 | UInt64($1) },
            created: environment.clock.now(), generation: generation)
        let made = factory?.create(fileID: header.fileID, after: previous)
        if let made {
            header.requiredFeatures |= FileHeader.transformedFeature
            header.transformParameters = made.parameters
        }
        let data = DataFile(
            file: new.file, header: header, transform: made?.transform, cacheLimit: options.cacheSize)
        // The salt is as random, and salvage finds it where the records are lost.
        if made != nil { data.codec.history.begin(at: Format.firstCommit, header.salt) }
        let block = header.encoded()
        let bytes = ByteBuffer(capacity: 2 * Format.blockSize)
        bytes.append(block.view)
        bytes.append(block.view)
        do throws(StoreError) {
            try fileCall { () throws(FileError) in unsafe try new.file.writeFully(bytes.view.buffer, at: 0) }
        } catch {
            new.discard()
            throw error
        }
        return (data, new)
    }

    /// An empty checkpoint.
    private func firstCommit(_ file: DataFile) throws(StoreError) -> ByteBuffer {
        let output = CommitBuffer(file: file, start: Format.firstCommit, compression: 0, pool: nil)
        defer { output.release() }
        let directory = file.complete(RootDirectory(nextTreeID: 1, trees: [])).encoded()
        var record = CommitRecord(
            .checkpoint, number: 1, syncedEnd: Format.firstCommit, time: environment.clock.now())
        record.directory = try output.append(.directory, directory.view)
        record.checkpoint = output.recordOffset(of: .checkpoint)
        record.replayAfter = record.checkpoint
        return output.end(with: &record).buffer
    }

    private func random(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe bytes.withUnsafeMutableBytes { unsafe environment.randomness.fill($0) }
        return bytes
    }
}
