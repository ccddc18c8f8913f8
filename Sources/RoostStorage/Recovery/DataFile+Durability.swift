import RoostBytes
import RoostFile

extension DataFile {
    /// Makes everything up to the commit of `record`, the newest, durable, whoever wrote it.
    ///
    /// A failed sync says nothing of what is on the medium, and later ones need not make up for it. Who met one may have been
    /// killed before it took back what it could not sync. So what is not known to be there is written once more before the sync.
    func makeDurable(upTo record: CommitRecord) throws(FileError) {
        try writeAgain(from: record.syncedEnd, to: record.end)
        do throws(FileError) {
            try file.sync()
        } catch {
            try writeAgain(from: record.syncedEnd, to: record.end)
            try file.sync()
        }
        // The system may have let go of what could not be written: then that was not what the commits consist of.
        guard (try? LogScanner(file: self).lastCommit()) == record else {
            throw FileError(.inputOutput, operation: "sync", path: file.path)
        }
    }

    private func writeAgain(from start: UInt64, to end: UInt64) throws(FileError) {
        let window = ByteBuffer(capacity: Int(min(end - start, UInt64(LogScanner.largestWindow))))
        var position = start
        while position < end {
            window.resize(to: Int(min(end - position, UInt64(LogScanner.largestWindow))))
            let count = unsafe try file.readFully(into: window.mutableBytes, at: position)
            guard count > 0 else { return }
            window.resize(to: count)
            unsafe try file.writeFully(window.view.buffer, at: position)
            position += UInt64(count)
        }
    }
}
