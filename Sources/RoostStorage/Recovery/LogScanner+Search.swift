import RoostBytes
import RoostFile

extension LogScanner {
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
