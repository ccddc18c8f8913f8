import RoostBytes
import RoostFile

/// The place of a backup and what is there already. Holds the lock that a writer of the backup would take.
struct BackupTarget {
    private let path: String
    private let source: DataFile
    private let medium: any Medium
    private let lock: any FileLock

    init(_ path: String, of source: DataFile, medium: any Medium) throws(StoreError) {
        self.path = path
        self.source = source
        self.medium = medium
        lock = try fileCall { () throws(FileError) in
            if let there = try medium.status(of: path)?.identity, there == (try source.file.identity()) {
                throw FileError(.alreadyExists, operation: "back up", path: path)
            }
            return try medium.lock(path + ".lock", holder: processDescription())
        }
    }

    /// The backup that is there and the commit to go on from; `nil` when the whole store must be copied.
    func continuation(upTo newest: CommitRecord) throws(StoreError) -> (DataFile, CommitRecord)? {
        guard try fileCall({ () throws(FileError) in try medium.status(of: path) }) != nil else { return nil }
        let file = try fileCall { () throws(FileError) in try medium.open(path, .readWrite) }
        guard let header = try header(of: file), header.storeID == source.header.storeID else {
            throw StoreError(
                .alreadyExists,
                "\(path) is there already and is no backup of \(source.path). Move it away, or choose another place."
            )
        }
        guard header == source.header else { return nil }
        let isUnsynced = try fileCall { () throws(FileError) in
            try CompactionFiles(path: path, medium: medium).isMarkedUnsynced()
        }
        guard !isUnsynced else { return nil }
        let data = DataFile(file: file, header: header, transform: source.codec.transform, cacheLimit: 0)
        guard let last = try commonCommit(data), last.offset <= newest.offset else { return nil }
        return (data, last)
    }

    private func header(of file: any File) throws(StoreError) -> FileHeader? {
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
    private func commonCommit(_ backup: DataFile) throws(StoreError) -> CommitRecord? {
        do throws(StoreError) {
            var record = try LogScanner(file: backup).lastCommit()
            while let current = record {
                if try LogScanner(file: source).record(at: current.offset) == current { return current }
                guard current.kind == .close else { return nil }
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
