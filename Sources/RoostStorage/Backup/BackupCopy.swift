import RoostBytes
import RoostFile

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
