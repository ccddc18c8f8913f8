import RoostBytes
import RoostFile

extension LogScanner {
    /// Whether a record behind the commit of `record` says that more than that commit was on the medium.
    ///
    /// Such a record counts wherever it is found: bytes that were inserted or taken out before it move it from its place, and
    /// nothing else makes bytes with the right checksum for the place that they name.
    func hasLaterSynced(after record: CommitRecord) throws(StoreError) -> Bool {
        let size = try fileCall { () throws(FileError) in try file.file.size() }
        guard record.end < size else { return false }
        let window = ByteBuffer(capacity: Int(min(size - record.end, UInt64(LogScanner.largestWindow))))
        defer { extendLifetime(window) }
        var position = record.end
        while position + UInt64(CommitRecord.size) <= size {
            window.resize(to: Int(min(size - position, UInt64(LogScanner.largestWindow))))
            let count = try fileCall { () throws(FileError) in
                unsafe try file.file.readFully(into: window.mutableBytes, at: position)
            }
            window.resize(to: count)
            guard count >= CommitRecord.size else { return false }
            let last = count - CommitRecord.size
            var index = 0
            while index <= last {
                let word = window.view.load(UInt64.self, at: index)
                // Where a record begins there is no zero.
                guard word != 0 else {
                    index += 8
                    continue
                }
                if word == CommitRecord.magic,
                    saysSynced(window.view.slice(index, CommitRecord.size), beyond: record)
                {
                    return true
                }
                index += 1
            }
            position += UInt64(last + 1)
        }
        return false
    }

    /// Whether `bytes` are a record, for whatever place, by which more than the commit of `record` was on the medium.
    private func saysSynced(_ bytes: ByteView, beyond record: CommitRecord) -> Bool {
        let found = CommitRecord(
            decoding: bytes, at: bytes.load(UInt64.self, at: 24), salt: file.header.salt)
        guard let found = authentic(found, bytes), found.kind != .barrier else { return false }
        return found.syncedEnd > record.end
    }

    /// The last record that stands whole before `end`, whatever its commit and the records before it look like;
    /// for finding a way on where the chain of records is broken.
    func nearestRecord(before end: UInt64) throws(StoreError) -> CommitRecord? {
        let block = UInt64(Format.blockSize)
        var position = end / block * block
        let window = ByteBuffer(capacity: Format.blockSize)
        var length = block
        while position > Format.firstCommit {
            let start = max(Format.firstCommit, position - min(position, length))
            window.resize(to: Int(position - start))
            let count = (try? unsafe file.file.readFully(into: window.mutableBytes, at: start)) ?? 0
            window.resize(to: count)
            while position > start {
                if let record = candidate(endingAt: Int(position - start), in: window.view, from: start),
                    record.kind != .barrier
                {
                    return record
                }
                position -= block
            }
            length = min(length * 8, UInt64(LogScanner.largestWindow))
        }
        return nil
    }
}
