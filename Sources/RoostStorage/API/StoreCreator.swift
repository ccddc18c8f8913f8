import RoostBytes
import RoostFile

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
        return output.seal(&record).buffer
    }

    private func random(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe bytes.withUnsafeMutableBytes { unsafe environment.randomness.fill($0) }
        return bytes
    }
}
