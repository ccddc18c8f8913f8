import RoostBytes
import RoostFile

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
