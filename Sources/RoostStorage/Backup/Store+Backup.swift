import RoostBytes
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

// MARK: - BackupReport

/// What a backup did.
public struct BackupReport: Hashable, Sendable {
    /// The commit that the backup is a copy of.
    public let commit: Commit
    /// The size of the backup in bytes.
    public let size: UInt64
    /// Bytes that were copied: all of them, or, where an earlier backup was there, those since.
    public let copiedBytes: UInt64
    /// Whether an earlier backup was continued.
    public let isIncremental: Bool

    package init(commit: Commit, size: UInt64, copiedBytes: UInt64, isIncremental: Bool) {
        self.commit = commit
        self.size = size
        self.copiedBytes = copiedBytes
        self.isIncremental = isIncremental
    }
}

// MARK: - BackupCopy

/// Copies a store's commits, verifying each, into a new file or to the end of an earlier copy.
struct BackupCopy {
    let source: DataFile
    let newest: CommitRecord
    let environment: Environment

    /// Copies everything to the new file and gives it its name. It stays locked.
    func make(
        at path: String, _ new: NewFile, _ progress: ProgressHandler?
    ) throws(StoreError) -> BackupReport {
        let file = new.file
        let header = source.header.encoded()
        header.append(header.view.array)
        try fileCall { () throws(FileError) in unsafe try file.writeFully(header.view.buffer, at: 0) }
        try copy(after: nil, to: file, progress)
        try fileCall { () throws(FileError) in try file.sync() }
        try new.rename(to: path)
        try fileCall { () throws(FileError) in
            let files = CompactionFiles(path: path, medium: environment.medium)
            try files.syncName()
            try files.removeMark()
        }
        return report(copied: newest.end, isIncremental: false)
    }

    /// Appends the commits after `last`, the copy's newest, to it.
    ///
    /// The commits say of each other that they are synced, which is not so here until all are. So a barrier at the far
    /// end has recovery ignore whatever of them a power failure leaves; it goes when they are on the medium.
    func append(
        to copy: DataFile, after last: CommitRecord, _ progress: ProgressHandler?
    ) throws(StoreError) -> BackupReport {
        let file = copy.file
        // Whoever made the copy may have ended before its name was durable.
        try fileCall { () throws(FileError) in
            try CompactionFiles(path: file.path, medium: environment.medium).syncName()
        }
        guard last.offset < newest.offset else {
            // Whoever copied the last commits may have been killed before they were on the medium.
            try fileCall { () throws(FileError) in try file.sync() }
            return report(copied: 0, isIncremental: true)
        }
        do throws(StoreError) {
            let barrier = barrier(after: last)
            try fileCall { () throws(FileError) in
                try file.truncate(to: last.end)
                unsafe try file.writeFully(barrier.view.buffer, at: newest.end)
                try file.sync()
            }
            try self.copy(after: last, to: file, progress)
            try fileCall { () throws(FileError) in
                try file.sync()
                try file.truncate(to: newest.end)
                try file.sync()
            }
        } catch {
            try? file.truncate(to: last.end)
            throw error
        }
        return report(copied: newest.end - last.end, isIncremental: true)
    }

    /// The block that ends at the end of the copy to be, and its record.
    private func barrier(after last: CommitRecord) -> ByteBuffer {
        var record = CommitRecord(
            .barrier, after: last, syncedEnd: last.end, time: environment.clock.now())
        record.start = last.end
        record.offset = newest.end + UInt64(Format.blockSize - CommitRecord.size)
        let block = ByteBuffer(capacity: Format.blockSize)
        block.append(zeros: Format.blockSize - CommitRecord.size)
        record.encode(to: block, codec: source.codec)
        return block
    }

    private func copy(
        after last: CommitRecord?, to file: any File, _ progress: ProgressHandler?
    ) throws(StoreError) {
        var stream = CommitStream(file: source, after: last)
        let meter = ProgressMeter(total: newest.end - (last?.end ?? 0), progress)
        while stream.last?.offset != newest.offset {
            let start = stream.last?.end ?? Format.firstCommit
            let next = try stream.next { (bytes, offset) throws(StoreError) in
                try fileCall { () throws(FileError) in unsafe try file.writeFully(bytes.buffer, at: offset) }
                try meter.advance(UInt64(bytes.count))
            }
            guard next != nil else {
                throw source.missing("a commit that is not whole", at: start)
            }
        }
        try meter.tell()
    }

    private func report(copied: UInt64, isIncremental: Bool) -> BackupReport {
        BackupReport(
            commit: Commit(newest), size: newest.end, copiedBytes: copied, isIncremental: isIncremental)
    }
}

// MARK: - BackupTarget

/// The place of a backup and what is there already. No other process can write there for as long as this lives: it holds the
/// lock of the backup that is there and, where that is not continued, of the new one, which is made under a temporary name and
/// keeps its lock under its own.
final class BackupTarget: Sendable {
    /// Where the copied bytes go.
    enum Destination: Sendable {
        /// To the end of the earlier backup, whose newest commit is `last`.
        case earlier(DataFile, last: CommitRecord)
        case new(NewFile)
    }

    let destination: Destination
    /// The lock of the backup that is there.
    private let present: (any FileLock)?

    /// Whether an earlier backup is there.
    var isThere: Bool { present != nil }

    init(_ path: String, of source: DataFile, upTo newest: CommitRecord, medium: any Medium)
        throws(StoreError)
    {
        while true {
            guard try fileCall({ () throws(FileError) in try medium.status(of: path) }) != nil else {
                let made = try Self.makeFile(for: path, source, medium)
                // Another process may have come to the end of its backup meanwhile.
                if try fileCall({ () throws(FileError) in try medium.status(of: path) }) == nil {
                    present = nil
                    destination = .new(made)
                    return
                }
                made.discard()
                continue
            }
            let file = try fileCall { () throws(FileError) in try medium.open(path, .readWrite) }
            guard let header = try Self.header(of: file), header.storeID == source.header.storeID,
                try !source.file.isNamed(path, in: medium)
            else { throw Self.isNoBackup(path, of: source) }
            let lock = try fileCall { () throws(FileError) in try file.lock() }
            guard try file.isNamed(path, in: medium) else { continue }
            present = lock
            if let (data, last) = try Self.continuation(
                of: file, header, at: path, from: source, upTo: newest, medium)
            {
                destination = .earlier(data, last: last)
            } else {
                try LeftoverFile(Self.temporaryName(path), medium).removeSecondName(of: path)
                destination = .new(try Self.makeFile(for: path, source, medium))
            }
            return
        }
    }

    deinit {
        // Where the new backup was completed, it has its own name by now.
        if case .new(let new) = destination { new.discard() }
    }

    private static func temporaryName(_ path: String) -> String { path + ".new" }

    private static func makeFile(
        for path: String, _ source: DataFile, _ medium: any Medium
    ) throws(StoreError) -> NewFile {
        let access = try fileCall { () throws(FileError) in try source.file.access() }
        return try NewFile(temporaryName(path), medium, access)
    }

    private static func isNoBackup(_ path: String, of source: DataFile) -> StoreError {
        StoreError(
            .alreadyExists,
            "\(path) is there already and is no backup of \(source.path). Move it away, or choose another place."
        )
    }

    /// The backup that is there and the commit to go on from; `nil` when the whole store must be copied.
    private static func continuation(
        of file: any File, _ header: FileHeader, at path: String, from source: DataFile,
        upTo newest: CommitRecord, _ medium: any Medium
    ) throws(StoreError) -> (DataFile, CommitRecord)? {
        guard header == source.header else { return nil }
        let isUnsynced = try fileCall { () throws(FileError) in
            try CompactionFiles(path: path, medium: medium).isMarkedUnsynced()
        }
        guard !isUnsynced else { return nil }
        let data = DataFile(file: file, header: header, transform: source.codec.transform, cacheLimit: 0)
        guard let last = try commonCommit(data, source), last.offset <= newest.offset else { return nil }
        return (data, last)
    }

    private static func header(of file: any File) throws(StoreError) -> FileHeader? {
        let block = ByteBuffer(capacity: Format.blockSize)
        for copy in 0..<2 {
            block.resize(to: Format.blockSize)
            let count = try fileCall { () throws(FileError) in
                unsafe try file.readFully(into: block.mutableBytes, at: UInt64(copy * Format.blockSize))
            }
            block.resize(to: count)
            if let header = try? FileHeader(decoding: block.view, features: .max) { return header }
        }
        return nil
    }

    /// The backup's last commit, if the store has it too. Where the backup was opened for writing and closed without
    /// changes, the note of that does not matter.
    private static func commonCommit(
        _ backup: DataFile, _ source: DataFile
    ) throws(StoreError) -> CommitRecord? {
        do throws(StoreError) {
            var record = try LogScanner(file: backup).lastCommit()
            while let current = record {
                if try LogScanner(file: source).record(at: current.offset) == current { return current }
                guard current.kind == .cleanShutdown else { return nil }
                record = try LogScanner(file: backup).previous(of: current)
            }
            return nil
        } catch {
            // A damaged backup is replaced.
            guard error.code == .damaged else { throw error }
            return nil
        }
    }
}
