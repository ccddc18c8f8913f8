import RoostBytes
import RoostFile

/// Follows a file's commits forwards, verifying each: that it continues the one before and that its bytes are whole.
///
/// A commit that is just being written is not there yet: it is read again the next time.
struct CommitStream {
    private let file: DataFile
    /// The commit that the next one must continue; `nil` before the file's first.
    private(set) var last: CommitRecord?
    private let window = ByteBuffer(capacity: CommitStream.windowLength)

    private static let windowLength = 1 << 18

    init(file: DataFile, after last: CommitRecord?) {
        self.file = file
        self.last = last
    }

    /// The next whole commit, `nil` when there is none.
    ///
    /// - Parameter visit: given the commit's bytes, record included, in pieces and before they are verified.
    mutating func next(
        _ visit: (ByteView, UInt64) throws(StoreError) -> Void = { (_, _) throws(StoreError) in }
    ) throws(StoreError) -> CommitRecord? {
        let start = last?.end ?? Format.firstCommit
        var position = start
        var hash = Checksum(seed: file.header.salt)
        while true {
            guard try fill(at: position, isFirst: position == start) else { return nil }
            let bytes = window.view
            let block = Format.blockSize
            if position == start, bytes[4] == 0,
                record(in: bytes.slice(0, block), at: start, from: start) == nil
            {
                return nil
            }
            for offset in stride(from: 0, to: bytes.count, by: block) {
                let part = bytes.slice(offset, block)
                let place = position + UInt64(offset)
                guard let record = record(in: part, at: place, from: start) else {
                    hash.update(part)
                    continue
                }
                let rest = part.slice(0, block - CommitRecord.size)
                guard hash.finalize(rest) == record.contentChecksum else { return nil }
                try visit(bytes.slice(0, offset + block), position)
                last = record
                return record
            }
            try visit(bytes, position)
            position += UInt64(bytes.count)
        }
    }

    /// Reads whole blocks into the window; `false` at the file's end.
    private func fill(at position: UInt64, isFirst: Bool) throws(StoreError) -> Bool {
        // Most commits are small, and most calls find none.
        window.resize(to: isFirst ? 4 * Format.blockSize : CommitStream.windowLength)
        let count = try fileCall { () throws(FileError) in
            unsafe try file.file.readFully(into: window.mutableBytes, at: position)
        }
        window.resize(to: count / Format.blockSize * Format.blockSize)
        return window.count > 0
    }

    /// The record at the end of `block`, if it is that of the commit that begins at `start` and continues ``last``.
    private func record(in block: ByteView, at place: UInt64, from start: UInt64) -> CommitRecord? {
        guard
            let record = LogScanner(file: file).candidate(endingAt: Format.blockSize, in: block, from: place),
            record.kind != .barrier, record.start == start, record.follows(last)
        else { return nil }
        return record
    }
}
